// The Markdown of notes, for the editor: what @lezer/markdown knows, and wikilinks, tags, highlights,
// comments, block IDs and frontmatter. It only colours; the server's parser says what a note means.

import {
  defineLanguageFacet,
  EditorView,
  HighlightStyle,
  Language,
  LanguageSupport,
  parser,
  Strikethrough,
  styleTags,
  syntaxHighlighting,
  Table,
  Tag,
  tags,
  TaskList,
} from "../../../vendor/codemirror.js";
/** @import { BlockContext, InlineContext as Inline, Line } from "../../../vendor/codemirror.js" */

const own = {
  wikilink: Tag.define(),
  embed: Tag.define(),
  tag: Tag.define(),
  marked: Tag.define(),
  comment: Tag.define(),
  block: Tag.define(),
  front: Tag.define(),
  mark: Tag.define(),
  quoted: Tag.define(),
  task: Tag.define(),
  math: Tag.define(),
  html: Tag.define(),
};

const WORD = /[\p{L}\p{N}_/\p{Extended_Pictographic}\p{M}-]/u;
const LONGEST = 1000; // characters of a link, a highlight or a formula on one line

/** @param {Inline} cx @param {number} pos @param {string} close the text that ends it */
function until(cx, pos, close) {
  const text = cx.slice(pos, Math.min(cx.end, pos + LONGEST));
  const index = text.indexOf(close);
  return index < 0 || text.slice(0, index).includes("\n") ? -1 : pos + index;
}

/** What is between two marks. @param {string} name @param {number} first @param {string} open @param {string} close */
const between = (name, first, open, close) => ({
  name,
  before: "Link",
  /** @param {Inline} cx @param {number} next @param {number} pos */
  parse(cx, next, pos) {
    if (next !== first || cx.slice(pos, pos + open.length) !== open) return -1;
    const end = until(cx, pos + open.length, close);
    if (end <= pos + open.length) return -1;
    const marks = [cx.elt("OwnMark", pos, pos + open.length), cx.elt("OwnMark", end, end + close.length)];
    return cx.addElement(cx.elt(name, pos, end + close.length, marks));
  },
});

const TAG = {
  name: "Hashtag",
  /** @param {Inline} cx @param {number} next @param {number} pos */
  parse(cx, next, pos) {
    if (next !== 35 || (pos > cx.offset && /[^\s([{,;]/.test(cx.slice(pos - 1, pos)))) return -1;
    const text = cx.slice(pos + 1, Math.min(cx.end, pos + 200));
    let length = 0;
    for (const char of text) {
      if (!WORD.test(char)) break;
      length += char.length;
    }
    if (!length || /^\d+$/.test(text.slice(0, length))) return -1;
    return cx.addElement(cx.elt("Hashtag", pos, pos + 1 + length));
  },
};

const BLOCK = {
  name: "BlockId",
  /** @param {Inline} cx @param {number} next @param {number} pos */
  parse(cx, next, pos) {
    if (next !== 94) return -1;
    const match = /^\^[A-Za-z0-9-]+(?=\s*(?:\n|$))/.exec(cx.slice(pos, Math.min(cx.end, pos + 100)));
    return match && (pos === cx.offset || /\s/.test(cx.slice(pos - 1, pos)))
      ? cx.addElement(cx.elt("BlockId", pos, pos + match[0].length))
      : -1;
  },
};

/** Brackets without an address are text: placeholders of templates, footnotes and asides. */
const BRACKETS = {
  name: "Brackets",
  before: "LinkEnd",
  /** @param {Inline} cx @param {number} next @param {number} pos */
  parse: (cx, next, pos) => (next === 93 && !/[([]/.test(cx.slice(pos + 1, pos + 2)) ? pos + 1 : -1),
};

const CALLOUT = {
  name: "CalloutMark",
  before: "Link",
  /** @param {Inline} cx @param {number} next @param {number} pos */
  parse(cx, next, pos) {
    if (next !== 91) return -1;
    const match = /^\[![\w-]+\][+-]?/.exec(cx.slice(pos, Math.min(cx.end, pos + 60)));
    return match ? cx.addElement(cx.elt("CalloutMark", pos, pos + match[0].length)) : -1;
  },
};

const FRONT = {
  name: "Frontmatter",
  before: "HorizontalRule",
  /** @param {BlockContext} cx @param {Line} line */
  parse(cx, line) {
    if (cx.lineStart !== 0 || !/^---[ \t]*$/.test(line.text)) return false;
    let end = line.text.length;
    while (cx.nextLine()) {
      end = cx.lineStart + line.text.length;
      if (/^(---|\.\.\.)[ \t]*$/.test(line.text)) {
        cx.nextLine();
        break;
      }
    }
    cx.addElement(cx.elt("Frontmatter", 0, end));
    return true;
  },
};

/** A footnote with all its paragraphs: those after the first are indented, and no code. */
const FOOTNOTE = {
  name: "Footnote",
  before: "IndentedCode",
  /** @param {BlockContext} cx @param {Line} line */
  parse(cx, line) {
    if (!/^\[\^[^\]\s]+\]:/.test(line.text)) return false;
    const start = cx.lineStart;
    let text = line.text;
    for (let gap = ""; cx.nextLine() && /^(\t| {2}|\s*$)/.test(line.text); ) {
      gap += `\n${line.text}`;
      if (!line.text.trim()) continue;
      text += gap;
      gap = "";
    }
    cx.addElement(cx.elt("Footnote", start, start + text.length, cx.parser.parseInline(text, start)));
    return true;
  },
};

const markdown = parser.configure([
  Table,
  TaskList,
  Strikethrough,
  {
    defineNodes: [
      { name: "Wikilink", style: own.wikilink },
      { name: "WikiEmbed", style: own.embed },
      { name: "Hashtag", style: own.tag },
      { name: "Highlight", style: { "Highlight/...": own.marked } },
      { name: "OwnComment", style: { "OwnComment/...": own.comment } },
      { name: "BlockId", style: own.block },
      { name: "OwnMark", style: own.mark },
      { name: "CalloutMark", style: own.mark },
      { name: "Formula", style: own.math },
      { name: "Frontmatter", block: true, style: own.front },
      { name: "Footnote", block: true },
    ],
    parseInline: [
      between("WikiEmbed", 33, "![[", "]]"),
      between("Wikilink", 91, "[[", "]]"),
      between("Highlight", 61, "==", "=="),
      between("OwnComment", 37, "%%", "%%"),
      between("Formula", 36, "$$", "$$"),
      CALLOUT,
      BRACKETS,
      TAG,
      BLOCK,
    ],
    parseBlock: [FRONT, FOOTNOTE],
    props: [
      styleTags({
        TaskMarker: own.task,
        "HTMLTag HTMLBlock": own.html,
        "Blockquote/...": own.quoted,
        "Task/...": own.task,
        "CodeMark CodeInfo": own.mark,
        "HeaderMark EmphasisMark QuoteMark ListMark LinkMark StrikethroughMark TableDelimiter": own.mark,
      }),
    ],
  },
]);

const facet = defineLanguageFacet({ commentTokens: { block: { open: "%%", close: "%%" } } });

// Classes, not styles: the tokens of the style sheets say how each looks.
const style = HighlightStyle.define([
  ...[1, 2, 3, 4, 5, 6].map((level) => ({
    tag: tags[/** @type {"heading1"} */ (`heading${level}`)],
    class: `md-h md-h${level}`,
  })),
  { tag: tags.strong, class: "md-strong" },
  { tag: tags.emphasis, class: "md-em" },
  { tag: tags.strikethrough, class: "md-del" },
  { tag: tags.link, class: "md-link" },
  { tag: tags.url, class: "md-url" },
  { tag: tags.monospace, class: "md-code" },
  { tag: tags.contentSeparator, class: "md-rule" },
  { tag: tags.processingInstruction, class: "md-mark" },
  { tag: tags.labelName, class: "md-mark" },
  { tag: tags.comment, class: "md-comment" },
  { tag: own.wikilink, class: "md-link" },
  { tag: own.embed, class: "md-link" },
  { tag: own.tag, class: "md-tag" },
  { tag: own.marked, class: "md-high" },
  { tag: own.comment, class: "md-comment" },
  { tag: own.block, class: "md-mark" },
  { tag: own.front, class: "md-front" },
  { tag: own.mark, class: "md-mark" },
  { tag: own.math, class: "md-code" },
  { tag: own.html, class: "md-html" },
]);

/** The extensions that colour notes. */
export const language = () => [
  new LanguageSupport(new Language(facet, markdown, [], "markdown")),
  syntaxHighlighting(style),
];

const nonce = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="va-nonce"]'))?.content ?? "";

export const nonced = () => (nonce ? EditorView.cspNonce.of(nonce) : []);
