// A base as Obsidian writes it: its views, with their columns, and which notes they have. Pure. A statement of a filter
// compares one property, tag, folder or date, as Obsidian's own menus write it. Any other is named and left out.

import { folderOf, nameOf } from "./query.js";

/** @typedef {{ path: string, tags: string[], updated: string, values: Record<string, unknown> }} BaseNote */
/** @typedef {(note: BaseNote) => any} Reader */
/**
 * @typedef {{
 *   name: string,
 *   columns: { name: string, read: Reader, isFile: boolean }[],
 *   passes: (note: BaseNote) => boolean,
 *   order: (one: BaseNote, other: BaseNote) => number,
 *   limit: number,
 *   query: { path?: string[], tag: string[] },
 *   unread: string[],
 * }} BaseView `query`: filters that a list of notes has too; `unread`: what was left out
 */

const INDENT = /^ */;
const ENTRY = /^("[^"]*"|'[^']*'|[^\s'"#[\]{}&*!|>%@`-][^#]*?|-[^\s#][^#]*?):(?:\s+(.*))?$/u;

/** @param {string} text of a value @returns {unknown} */
function scalar(text) {
  if (/^"/.test(text)) return JSON.parse(text);
  if (/^'.*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (/^\[.*\]$/.test(text))
    return text
      .slice(1, -1)
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean)
      .map(scalar);
  if (/^[&*|>{[%@`]|^!(?=\s|$)/.test(text)) throw new Error("beyond what is read of YAML");
  if (/^(true|false)$/.test(text)) return text === "true";
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text.replace(/\s+#.*$/, "");
}

/**
 * Read maps, lists and single values, of which each has a line of its own.
 * @param {string} source @returns {any}
 */
function readYaml(source) {
  const lines = source.split(/\r?\n/).filter((line) => !/^\s*(#|$|---$)/.test(line));
  const depth = () => (lines.length ? /** @type {RegExpExecArray} */ (INDENT.exec(lines[0]))[0].length : -1);
  /** @param {number} indent */
  const block = (indent) => {
    const isList = /^ *-(\s|$)/.test(lines[0] ?? "");
    /** @type {any} */
    const result = isList ? [] : {};
    while (depth() === indent && /^-(\s|$)/.test(lines[0].slice(indent)) === isList) {
      const line = lines.shift()?.slice(indent).trimEnd() ?? "";
      if (isList) {
        const rest = line.slice(1).trimStart();
        if (ENTRY.test(rest)) lines.unshift(" ".repeat(indent + line.length - rest.length) + rest);
        result.push(rest && !ENTRY.test(rest) ? scalar(rest) : below(indent));
        continue;
      }
      const [, key, value = ""] = ENTRY.exec(line) ?? [];
      if (key === undefined) throw new Error("no entry of a map");
      result[String(scalar(key))] = value ? scalar(value.trim()) : below(indent, true);
    }
    return result;
  };
  /** What is indented below a line. @param {number} indent @param {boolean} [ofMap] whose lists need no indent */
  const below = (indent, ofMap = false) => {
    const isInside = depth() > indent || (ofMap && depth() === indent && /^ *-(\s|$)/.test(lines[0]));
    return isInside ? block(depth()) : null;
  };
  const data = lines.length ? block(depth()) : {};
  if (lines.length) throw new Error("a line that belongs to nothing");
  return data;
}

/** A link stands for its note. @param {unknown} value @returns {any} */
const simple = (value) =>
  typeof value === "string" ? value.replace(/^\[\[([^\]|#]*).*\]\]$/s, "$1").trim() : (value ?? "");
/** @param {unknown} value */
const listOf = (value) => [value ?? []].flat().map(simple);
/** @param {Date} date */
const dayOf = (date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);

/** @type {Record<string, (value: unknown, other: any) => boolean>} */
const COMPARED = {
  "==": (value, other) => simple(value) === other,
  "!=": (value, other) => simple(value) !== other,
  "<": (value, other) => simple(value) !== "" && simple(value) < other,
  ">": (value, other) => simple(value) !== "" && simple(value) > other,
  "<=": (value, other) => simple(value) !== "" && simple(value) <= other,
  ">=": (value, other) => simple(value) !== "" && simple(value) >= other,
};
/** @param {unknown} value @param {any} part */
const holds = (value, part) =>
  Array.isArray(value) ? listOf(value).includes(part) : simple(value) !== "" && String(value).includes(String(part));
/** @type {Record<string, (value: unknown, others: any[]) => boolean>} */
const METHODS = {
  contains: (value, [part]) => holds(value, part),
  containsAny: (value, parts) => parts.some((part) => holds(value, part)),
  containsAll: (value, parts) => parts.every((part) => holds(value, part)),
  startsWith: (value, [start]) => String(simple(value)).startsWith(start),
  endsWith: (value, [end]) => String(simple(value)).endsWith(end),
  isEmpty: (value) => !listOf(value).some((part) => part !== ""),
};
/** @type {Record<string, (note: BaseNote, others: any[]) => boolean>} */
const OF_FILE = {
  inFolder: ({ path }, [folder]) => path.startsWith(`${String(folder).replace(/\/+$/, "")}/`),
  hasTag: ({ tags }, names) =>
    names.some((name) => {
      const tag = String(name).replace(/^#/, "").toLowerCase();
      return tags.some((own) => `${own.toLowerCase()}/`.startsWith(`${tag}/`));
    }),
};
/** @type {Record<string, Reader>} */
const FIELDS = {
  name: ({ path }) => nameOf(path),
  basename: ({ path }) => nameOf(path),
  path: ({ path }) => path,
  folder: ({ path }) => folderOf(path),
  ext: ({ path }) => path.slice(path.lastIndexOf(".") + 1),
  tags: ({ tags }) => tags,
  mtime: ({ updated }) => updated,
};

/** What a name in a base stands for. @param {string} name @returns {Reader | null} */
function fieldOf(name) {
  const [, place = "note", key] = /^(?:(file|note|formula)\.)?(.*)$/s.exec(name) ?? [];
  if (place === "file") return Object.hasOwn(FIELDS, key) ? FIELDS[key] : null;
  return place === "note" ? ({ values, tags }) => (key === "tags" ? tags : values[key]) : null;
}

const TIMES = /** @type {Record<string, number>} */ ({ d: 1, w: 7, M: 30, y: 365 });
const DAY = String.raw`today\(\)(?: ?[-+] ?"\d+[dwMy]")?`;
const VALUE = String.raw`"(?:[^"\\]|\\.)*"|'[^']*'|-?\d+(?:\.\d+)?|true|false|(?:link|date)\("[^"]*"\)|${DAY}`;
const NAME = String.raw`[\p{L}_][\p{L}\p{N}_]*`;
const STATEMENT = new RegExp(
  String.raw`^(!?)((?:file\.|note\.)?${NAME}|note\["[^"]+"\]|file)` +
    String.raw`(?:\.(\w+)\(((?:${VALUE})(?:, ?(?:${VALUE}))*)?\)| ?([=!<>]=|[<>]) ?(${VALUE}))$`,
  "u",
);

/** @param {string} text as a statement has it */
function constantOf(text) {
  const [, named, ahead, days, unit] =
    /^(?:(?:link|date)\((".*")\)|today\(\)(?: ?([-+]) ?"(\d+)(.)")?)$/.exec(text) ?? [];
  if (named) return simple(scalar(named));
  if (!text.startsWith("today")) return scalar(text);
  return dayOf(new Date(Date.now() + Number(`${ahead ?? ""}${days ?? 0}`) * (TIMES[unit] ?? 0) * 86_400_000));
}

/** Read a statement of a filter, or return null. @param {string} text @returns {Reader | null} */
export function readStatement(text) {
  const [, not, name, method, args = "", compared, other] = STATEMENT.exec(text.slice(0, 1000).trim()) ?? [];
  if (!name) return null;
  const read = fieldOf(name.replace(/^note\["(.*)"\]$/, "note.$1"));
  const values = [...args.matchAll(new RegExp(VALUE, "gu"))].map(([value]) => constantOf(value));
  /** @type {Reader | null} */
  let test = null;
  if (name === "file" && Object.hasOwn(OF_FILE, method ?? "")) test = (note) => OF_FILE[method](note, values);
  else if (read && compared) test = (note) => COMPARED[compared](read(note), constantOf(other));
  else if (read && Object.hasOwn(METHODS, method ?? "")) test = (note) => METHODS[method](read(note), values);
  return test && not ? (note) => !test(note) : test;
}

/**
 * Read filters: a statement, or `and`, `or`, `not` with a list. What cannot be read goes to `unread`, and what it
 * decides is left out with it: the table may have too many notes, and none is missing.
 * @param {any} filters @param {string[]} unread @returns {Reader | null}
 */
function readFilters(filters, unread) {
  if (typeof filters === "string") {
    const test = readStatement(filters);
    if (!test) unread.push(filters);
    return test;
  }
  const [how = "and", list = []] = Object.entries(filters ?? {})[0] ?? [];
  const parts = [list ?? []].flat().map((/** @type {any} */ part) => readFilters(part, unread));
  const tests = /** @type {Reader[]} */ (parts.filter(Boolean));
  if (how === "and") return (note) => tests.every((test) => test(note));
  if (tests.length < parts.length) return null;
  return (note) => tests.some((test) => test(note)) === (how === "or");
}

/** What a list of notes can filter by itself: the statements that all must be true. @param {any[]} all */
function queryOf(all) {
  const statements = all.flatMap((filters) => (typeof filters === "string" ? filters : (filters?.and ?? [])));
  const namedBy = (/** @type {RegExp} */ form) => statements.flatMap((text) => form.exec(String(text))?.[1] ?? []);
  const [path] = namedBy(/^file\.inFolder\("([^"*?[\]]+)"\)$/);
  return { ...(path && { path: [path] }), tag: namedBy(/^file\.hasTag\("#?([^"]+)"\)$/) };
}

/** Read a base. Return null if it cannot be read. @param {string} source @returns {BaseView[] | null} */
export function parseBase(source) {
  try {
    const base = readYaml(source);
    if (Array.isArray(base)) return null;
    const views = Array.isArray(base.views) && base.views.length ? base.views : [{}];
    return views.map((/** @type {any} */ view) => {
      /** @type {string[]} */
      const unread = [];
      const filters = [base.filters, view.filters];
      const parts = filters.map((part) => readFilters(part, unread));
      const read = (/** @type {string} */ name) => fieldOf(name) ?? void unread.push(name);
      const columns = listOf(view.order ?? ["file.name"]).flatMap((name) => ({
        name: String(
          base.properties?.[name]?.displayName ??
            base.properties?.[`note.${name}`]?.displayName ??
            name.replace(/^(file|note)\./, ""),
        ),
        read: read(name),
        isFile: name === "file.name",
      }));
      const sorts = [view.groupBy ?? [], view.sort ?? []].flat().map((sort) => ({
        read: read(String(sort.property ?? sort)),
        sign: sort.direction === "DESC" ? -1 : 1,
      }));
      return {
        name: String(view.name ?? ""),
        columns: columns.filter((column) => column.read),
        passes: (/** @type {BaseNote} */ note) => parts.every((test) => !test || test(note)),
        order: (/** @type {BaseNote} */ one, /** @type {BaseNote} */ other) => {
          for (const { read, sign } of sorts) {
            const [a, b] = [String(simple(read?.(one))), String(simple(read?.(other)))];
            if (a !== b) return sign * a.localeCompare(b, undefined, { numeric: true });
          }
          return 0;
        },
        limit: Number(view.limit) || Infinity,
        query: queryOf(filters),
        unread,
      };
    });
  } catch {
    return null;
  }
}
