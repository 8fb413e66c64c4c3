// The words of the search field, and the filters that they mean.

/** @typedef {{ type: string[], tag: string[], path: string[], after: string, before: string }} Filters */

const OPERATOR = /(^|\s)(tag|path|type|after|before):("([^"]*)"|\S+)(\s|$)/iu;
const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * Take the operators out of a text. While it is being typed the last word stays, because it may
 * not be complete.
 *
 * @param {string} text @param {{ typing?: boolean }} [how]
 * @returns {{ rest: string, found: Filters, any: boolean }}
 */
export function split(text, { typing = false } = {}) {
  /** @type {Filters} */
  const found = { type: [], tag: [], path: [], after: "", before: "" };
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
    if (field === "after" || field === "before") found[field] = value;
    else found[field].push(value);
    any = true;
    rest = `${rest.slice(0, start)}${lead && after ? " " : ""}${rest.slice(start + whole.length)}`;
    from = Math.max(0, start);
  }
  return { rest: any && !typing ? rest.trim() : any ? rest.trimStart() : rest, found, any };
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
