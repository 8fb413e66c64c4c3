// Icons, the shapes that say what a note is, and the controls that all views are made of. The sprite is in index.html.

import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
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
  return KINDS.find((kind) => kind === name) ?? "note";
}

/** The type as it is shown. @param {string | null | undefined} type */
export const typeName = (type) =>
  type ? (words.types[/** @type {Kind} */ (type.toLowerCase())] ?? type) : words.types.note;

/** @param {{ name: string, small?: boolean }} props */
export const Icon = ({ name, small }) =>
  html`<svg class=${small ? "i s" : "i"} aria-hidden="true"><use href=${`#i-${name}`} /></svg>`;

/**
 * The shape of a note's type. None where no note has a type.
 * @param {{ type: string | null | undefined, quiet?: boolean }} props
 */
export const NoteShape = (props) => (typed.value ? html`<${Shape} ...${props} />` : null);

/** @param {{ type: string | null | undefined, quiet?: boolean }} props */
export function Shape({ type, quiet }) {
  const kind = kindOf(type);
  const attributes = quiet ? { "aria-hidden": "true" } : { role: "img", "aria-label": typeName(type) };
  return html`<svg class=${`t t-${kind}`} ...${attributes}><use href=${`#t-${kind}`} /></svg>`;
}

/** @typedef {Record<string, unknown>} Attributes */

/**
 * A button with an icon, whose name is its tooltip too. Other attributes are those of the button.
 * @param {{ icon: string, label: string, small?: boolean, class?: string } & Attributes} props
 */
export const IconButton = ({ icon, label, small, class: more = "", ...attributes }) => html`<button
  class=${`icon ${more}`}
  aria-label=${label}
  title=${label}
  ...${attributes}
>
  <${Icon} name=${icon} small=${small} />
</button>`;

/** The mark of the entries of a menu that are chosen. */
export const Check = () => html`<svg class="i check" aria-hidden="true"><use href="#i-check" /></svg>`;

/**
 * An entry of a menu. One with `checked` has a mark, and is one of several unless it has another role.
 * @param {{ icon?: string, checked?: boolean, children?: unknown } & Attributes} props
 */
export const Entry = ({ icon, checked, children, ...attributes }) => html`<button
  class="entry"
  role=${checked === undefined ? "menuitem" : "menuitemradio"}
  aria-checked=${checked}
  ...${attributes}
>
  ${checked !== undefined && html`<${Check} />`}
  ${icon && html`<${Icon} name=${icon} />`}
  ${children}
</button>`;

/**
 * One of some values is chosen. What a choice shows may be an icon; then it has a name.
 * @template Value
 * @param {{
 *   label: string,
 *   value: Value,
 *   choices: readonly { value: Value, face: unknown, name?: string, disabled?: boolean }[],
 *   onChoose: (value: Value) => void,
 *   end?: boolean,
 * }} props
 */
export const Choices = ({ label, value: chosen, choices, onChoose, end = false }) => html`<span
  class=${end ? "tabs end" : "tabs"}
  role="radiogroup"
  aria-label=${label}
>
  ${choices.map(
    ({ value, face, name, disabled }) => html`<button
      key=${value}
      role="radio"
      aria-checked=${value === chosen}
      aria-label=${name}
      title=${name}
      disabled=${disabled}
      onClick=${() => onChoose(value)}
    >
      ${face}
    </button>`,
  )}
</span>`;

/** A switch with its name. @param {{ on: boolean, onClick: () => void, children: unknown }} props */
export const Switch = ({ on, onClick, children }) => html`<button
  class="opt"
  role="switch"
  aria-checked=${on}
  onClick=${onClick}
>
  ${children}
  <span class="switch"></span>
</button>`;

/**
 * A field to search in. Other attributes are those of the input; what is within stands after it.
 * @param {{ label: string, children?: unknown } & Attributes} props
 */
export const Field = ({ label, children, ...attributes }) => html`<label class="field">
  <${Icon} name="search" />
  <span class="visually-hidden">${label}</span>
  <input type="text" dir="auto" spellcheck=${false} autocomplete="off" ...${attributes} />
  ${children}
</label>`;

/**
 * One stop for Tab in a group of controls, which arrow keys walk. Return what the element of the group gets.
 * @param {string} controls a selector
 * @param {{ begin?: string }} [how] `begin`: a selector of the first stop
 */
export function useRoving(controls, { begin = "" } = {}) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const last = useRef(/** @type {HTMLElement | null} */ (null));
  const all = () => /** @type {HTMLElement[]} */ ([...(ref.current?.querySelectorAll(controls) ?? [])]);
  const stopAt = (/** @type {HTMLElement | undefined} */ stop) => {
    for (const control of all()) control.tabIndex = control === stop ? 0 : -1;
  };
  useLayoutEffect(() => {
    const stops = all();
    const first = begin ? stops.find((control) => control.matches(begin)) : undefined;
    stopAt(stops.find((control) => control === last.current) ?? first ?? stops[0]);
  });
  return {
    ref,
    onFocusIn: (/** @type {FocusEvent} */ { target }) => {
      const control = all().find((element) => element === target);
      if (control) stopAt((last.current = control));
    },
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      const stops = all();
      const index = stops.indexOf(/** @type {HTMLElement} */ (event.target));
      const to = {
        ArrowRight: index + 1,
        ArrowLeft: index - 1,
        Home: 0,
        End: stops.length - 1,
      }[event.key];
      if (index < 0 || to === undefined) return;
      event.preventDefault();
      stops[(to + stops.length) % stops.length]?.focus();
    },
  };
}
