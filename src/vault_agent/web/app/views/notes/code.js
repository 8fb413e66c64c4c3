// Colours for code: one small tokenizer for a dozen languages. It makes text nodes and spans.

const C = "//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)";
const HASH = "#[^\\n]*";
const STRINGS = "\"(?:\\\\.|[^\"\\\\\\n])*\"?|'(?:\\\\.|[^'\\\\\\n])*'?";
const NUMBER = "\\b(?:0x[\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:e[+-]?\\d+)?)\\b";

/** @type {Record<string, { comment: string, string?: string, keyword?: string, words: string }>} */
const LANGUAGES = {
  python: {
    comment: HASH,
    string: `"""[\\s\\S]*?(?:"""|$)|'''[\\s\\S]*?(?:'''|$)|${STRINGS}`,
    words:
      "and as assert async await break case class continue def del elif else except finally for from global if " +
      "import in is lambda match None nonlocal not or pass raise return True False try while with yield self",
  },
  javascript: {
    comment: C,
    string: `\`(?:\\\\.|[^\`\\\\])*\`?|${STRINGS}`,
    words:
      "async await break case catch class const continue debugger default delete do else export extends false " +
      "finally for from function if import in instanceof interface let new null of return static super switch " +
      "this throw true try type typeof undefined var void while yield",
  },
  java: {
    comment: C,
    words:
      "abstract boolean break byte case catch char class const continue default do double else enum extends " +
      "final finally float for if implements import instanceof int interface long new null package private " +
      "protected public return short static super switch this throw throws true false try void while var val " +
      "fun override string using namespace",
  },
  c: {
    comment: C,
    words:
      "auto bool break case char class const continue default delete do double else enum extern false float for " +
      "if include define inline int long namespace new nullptr private public return short signed sizeof static " +
      "struct switch template this true typedef union unsigned using virtual void while",
  },
  go: {
    comment: C,
    string: `\`[^\`]*\`?|${STRINGS}`,
    words:
      "break case chan const continue default defer else fallthrough for func go goto if import interface map " +
      "nil package range return select struct switch true false type var string int error bool",
  },
  rust: {
    comment: C,
    string: '"(?:\\\\.|[^"\\\\])*"?',
    words:
      "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match " +
      "mod move mut pub ref return self Self static struct super trait true type unsafe use where while Some " +
      "None Ok Err",
  },
  bash: {
    comment: "(?:^|(?<=\\s))#[^\\n]*",
    words:
      "if then else elif fi for while do done case esac function in return exit export local set unset echo cd " +
      "source sudo",
  },
  sql: {
    comment: "--[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)",
    words:
      "select from where and or not insert into values update set delete create table index view drop alter add " +
      "join left right inner outer on group by order having limit offset as distinct union all null is in like " +
      "between case when then else end primary key foreign references default",
  },
  css: {
    comment: "/\\*[\\s\\S]*?(?:\\*/|$)",
    words: "important media supports import from to root hover focus before after",
  },
  diff: {
    comment: "^(?:@@|diff |index |---|\\+\\+\\+)[^\\n]*",
    string: "^\\+[^\\n]*",
    keyword: "^-[^\\n]*",
    words: "",
  },
  json: { comment: "(?!)", words: "true false null" },
  yaml: { comment: HASH, words: "true false null yes no" },
  html: { comment: "<!--[\\s\\S]*?(?:-->|$)", words: "" },
  ruby: {
    comment: HASH,
    words:
      "alias and begin break case class def do else elsif end ensure false for if in module next nil not or " +
      "redo rescue retry return self super then true undef unless until when while yield",
  },
};
const NAMES = /** @type {Record<string, string>} */ ({
  py: "python",
  python3: "python",
  js: "javascript",
  jsx: "javascript",
  ts: "javascript",
  tsx: "javascript",
  typescript: "javascript",
  dataviewjs: "javascript",
  mjs: "javascript",
  cs: "java",
  csharp: "java",
  kotlin: "java",
  kt: "java",
  swift: "java",
  scala: "java",
  php: "java",
  cpp: "c",
  "c++": "c",
  h: "c",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  fish: "bash",
  dataview: "sql",
  scss: "css",
  less: "css",
  jsonc: "json",
  yml: "yaml",
  toml: "yaml",
  ini: "yaml",
  xml: "html",
  svg: "html",
  vue: "html",
  rb: "ruby",
  patch: "diff",
  golang: "go",
});
const MOST = 60_000; // characters
/** @type {Map<string, RegExp>} */
const patterns = new Map();

/** @param {string} language */
function patternOf(language) {
  const known = patterns.get(language);
  if (known) return known;
  const { comment, string, words, keyword: own } = LANGUAGES[language];
  const keyword =
    own ?? (language === "html" ? "</?[\\w-]+|/?>" : words ? `\\b(?:${words.split(" ").join("|")})\\b` : "(?!)");
  const called = language === "diff" ? "(?!)" : "\\b[A-Za-z_]\\w*(?=\\s*\\()";
  const key = language === "yaml" ? "^[ \\t-]*[\\w.-]+(?=\\s*[:=])" : language === "css" ? "[\\w-]+(?=\\s*:)" : "(?!)";
  const made = new RegExp(
    `(?<tc>${comment})|(?<ts>${string ?? STRINGS})|(?<tk>${keyword})|(?<tf>${key}|${called})|(?<tn>${NUMBER})`,
    language === "sql" ? "gmi" : "gm",
  );
  patterns.set(language, made);
  return made;
}

/** Colour the code of an element. @param {Element} element @param {string} text @param {string} name */
export function colour(element, text, name) {
  const language = NAMES[name.toLowerCase()] ?? name.toLowerCase();
  if (!Object.hasOwn(LANGUAGES, language) || text.length > MOST) return;
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(patternOf(language))) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
    if (!kind || !match[0]) continue;
    if (match.index > at) parts.push(text.slice(at, match.index));
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = match[0];
    parts.push(span);
    at = match.index + match[0].length;
  }
  element.replaceChildren(...parts, text.slice(at));
}
