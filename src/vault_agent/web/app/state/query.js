// The words of the search field, the filters that they mean, and places in texts.

/** @typedef {{ type: string[], tag: string[], path: string[], project: string[],
 *   after: string, before: string }} Filters */

/** The folder of a file, or "". @param {string} path */
export const folderOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
/** The last part of a path. @param {string} path */
export const lastOf = (path) => path.slice(path.lastIndexOf("/") + 1);
/** A path without the ending of a note. @param {string} path */
export const withoutEnding = (path) => path.replace(/\.(md|markdown)$/i, "");
/** The name of a file as it is shown: a note's without its ending. @param {string} path */
export const nameOf = (path) => withoutEnding(lastOf(path));
/** A folder without the spaces and slashes that are typed around its parts. @param {string} folder */
export const tidy = (folder) =>
  folder
    .split("/")
    .map((part) => part.trim())
    .filter(Boolean)
    .join("/");

const OPERATOR = /(^|\s)(tag|path|type|project|after|before):("([^"]*)"|\S+)(\s|$)/iu;
/** A day, such as 2026-11-23. */
export const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * Take the operators out of a text. While it is being typed the last word stays, because it may
 * not be complete.
 *
 * @param {string} text @param {{ typing?: boolean }} [how]
 * @returns {{ rest: string, filters: Filters, any: boolean }}
 */
export function splitQuery(text, { typing = false } = {}) {
  /** @type {Filters} */
  const filters = { type: [], tag: [], path: [], project: [], after: "", before: "" };
  let rest = text;
  let any = false;
  let from = 0;
  for (;;) {
    const match = OPERATOR.exec(rest.slice(from));
    if (!match) break;
    const [whole, lead, name, raw, quoted, after] = match;
    const start = from + match.index;
    const value = (quoted ?? raw).trim().replace(/^#/, "");
    const field = /** @type {keyof Filters} */ (name.toLowerCase());
    const dated = field === "after" || field === "before";
    if ((typing && !after) || !value || (dated && !DAY.test(value))) {
      from = start + whole.length - after.length;
      if (!after) break;
      continue;
    }
    if (field === "after" || field === "before") filters[field] = value;
    else filters[field].push(value);
    any = true;
    rest = `${rest.slice(0, start)}${lead && after ? " " : ""}${rest.slice(start + whole.length)}`;
    from = Math.max(0, start);
  }
  return { rest: any && !typing ? rest.trim() : any ? rest.trimStart() : rest, filters, any };
}

/** A filter as it is typed. @param {string} name @param {string} value */
export const asWord = (name, value) => `${name}:${/\s/u.test(value) ? `"${value}"` : value}`;

/** Ranges in characters, as the server counts them, in the units that strings have here.
 * @param {string} text @param {readonly (readonly [number, number])[]} ranges @returns {[number, number][]} */
export function inUnits(text, ranges) {
  if (!ranges?.length) return [];
  if (!/[\uD800-\uDBFF]/.test(text)) return ranges.map(([start, end]) => [start, end]);
  const starts = /** @type {number[]} */ ([]);
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  starts.push(at);
  return ranges.map(([start, end]) => [starts[start] ?? at, starts[end] ?? at]);
}

// What is read as one character, such as a joined emoji, a flag or a letter with its marks, is never cut in two.
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const SIMPLE = /^[\u0000-\u02ff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]*$/;

/**
 * The start and the end of what is read as one character and has the unit `at`.
 * @param {string} text
 * @param {number} at
 * @returns {[number, number]}
 */
function characterAt(text, at) {
  const { index, segment } = segmenter.segment(text).containing(at) ?? { index: at, segment: "" };
  return [index, index + segment.length];
}

/** A text that is cut to a number of units, with a sign that it is. @param {string} text @param {number} most */
export const cut = (text, most) =>
  text.length > most ? `${text.slice(0, characterAt(text, most)[0]).trimEnd()}…` : text;

/** A name for a canvas, in its own direction: its first letter says which. @param {string} name */
export const isolated = (name) => `\u2068${name}\u2069`;

/**
 * Ranges in units, widened to what is read as one character.
 * @param {string} text
 * @param {[number, number][]} ranges
 * @returns {[number, number][]}
 */
export function widened(text, ranges) {
  if (!ranges.length || SIMPLE.test(text)) return ranges;
  return ranges.map(([start, end]) =>
    end > start ? [characterAt(text, start)[0], characterAt(text, end - 1)[1]] : [start, end],
  );
}

const COMMON = new Set(
  `a an and are as at be but by can do does for from has have how i if in is it its my no not of on or so that the
  their there they this to was we what when where which who why will with you your`.split(/\s+/),
);
/** Without words that stand in every text, unless there are no others. @param {string[]} words */
export function telling(words) {
  const rare = words.filter((word) => !COMMON.has(word.toLowerCase()));
  return rare.length ? rare : words;
}

/** Ranges of a text without those of words that stand in every text, unless there are no others.
 * @param {string} text @param {[number, number][]} ranges */
export function tellingRanges(text, ranges) {
  const words = inUnits(text, ranges).map(([start, end]) => text.slice(start, end));
  const told = new Set(telling(words));
  return ranges.filter((_, index) => told.has(words[index]));
}

/**
 * The words of a query that are marked: a single character is one only where words have no spaces.
 * @param {string} query
 */
export const markedWords = (query) =>
  telling(query.match(/[\p{L}\p{N}]{2,}|[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/gu) ?? []).slice(0, 12);

/** Filters as requests name them. @param {Filters} by @returns {Record<string, unknown>} */
export const filtersOf = ({ type, tag, path, after, before }) => ({
  types: type,
  tags: tag,
  paths: path,
  ...(after && { after }),
  ...(before && { before }),
});
