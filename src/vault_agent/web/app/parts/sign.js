// Icons, and the shapes that say what a note is. The sprite is in index.html.

import { html } from "../../vendor/preact.js";
import { typed } from "../state/vault.js";
import { words } from "../words.js";

export const KINDS = /** @type {const} */ (["journal", "decision", "module", "note", "pattern", "bug", "snippet"]);
/** @typedef {typeof KINDS[number]} Kind */

/**
 * The kind that is drawn for a note's type. Any other type is a note.
 * @param {string | null | undefined} type
 * @returns {Kind}
 */
export function kindOf(type) {
  const name = (type ?? "").toLowerCase();
  return KINDS.find((each) => each === name) ?? "note";
}

/** The type as it is shown. @param {string | null | undefined} type */
export const typeName = (type) =>
  type ? (words.types[/** @type {Kind} */ (type.toLowerCase())] ?? type) : words.types.note;

/** @param {{ name: string, small?: boolean }} given */
export const Icon = ({ name, small }) =>
  html`<svg class=${small ? "i s" : "i"} aria-hidden="true"><use href=${`#i-${name}`} /></svg>`;

/**
 * The shape of a note's type. None where no note has a type.
 * @param {{ type: string | null | undefined, quiet?: boolean }} given
 */
export const NoteShape = (given) => (typed.value ? html`<${Shape} ...${given} />` : null);

/** @param {{ type: string | null | undefined, quiet?: boolean }} given */
export function Shape({ type, quiet }) {
  const kind = kindOf(type);
  const said = quiet ? { "aria-hidden": "true" } : { role: "img", "aria-label": typeName(type) };
  return html`<svg class=${`t t-${kind}`} ...${said}><use href=${`#t-${kind}`} /></svg>`;
}
