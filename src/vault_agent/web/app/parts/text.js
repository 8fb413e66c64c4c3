// Texts that come from notes: always text nodes, never HTML.

import { html } from "../../vendor/preact.js";
import { cut, inUnits, markedWords, nameOf, widened } from "../state/query.js";

const CONTROLS = /[\u0000-\u001F\u007F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu;

/** A name without line ends and direction marks, cut to a length. @param {string | null | undefined} text */
export function plain(text, most = 300) {
  const clean = (text ?? "").slice(0, most * 2).replace(CONTROLS, " ");
  return cut(clean, most);
}

const SIGNS = /[^\p{L}\p{N}]+/gu;

/** The name of a note's file, or "" if it says the same as the title. @param {string} path @param {string} title */
export function otherName(path, title) {
  const name = plain(nameOf(path), 80);
  const same = (/** @type {string} */ text) => text.normalize().toLocaleLowerCase().replace(SIGNS, "");
  return same(name) === same(title) ? "" : name;
}

/**
 * A text with some ranges marked. The ranges are in characters.
 * @param {{ text: string, ranges?: readonly (readonly [number, number])[], as?: string }} props
 */
export function Marked({ text, ranges = [], as = "mark" }) {
  const parts = [];
  let at = 0;
  for (const [start, end] of widened(text, inUnits(text, ranges))) {
    if (start < at || end <= start) continue;
    parts.push(text.slice(at, start), html`<${as}>${text.slice(start, end)}<//>`);
    at = end;
  }
  parts.push(text.slice(at));
  return html`${parts}`;
}

/** Return the ranges of the words of a query in a name, in characters.
 * @param {string} text @param {string} query @returns {[number, number][]} */
export function hitsOf(text, query) {
  const sought = markedWords(query);
  if (!sought.length) return [];
  const pattern = new RegExp(sought.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"), "giu");
  const units = [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);
  return /** @type {[number, number][]} */ (
    units.map(([start, end]) => [characters(text, start), characters(text, end)])
  );
}

/** @param {string} text @param {number} unit */
const characters = (text, unit) => [...text.slice(0, unit)].length;
