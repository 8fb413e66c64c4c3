// Dialogs: with a heading, or to ask for names and then do something.

import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { composing } from "./commands.js";
import { IconButton } from "./controls.js";
import { Combo } from "./combo.js";
import { ask } from "../wire.js";

/**
 * A modal dialog.
 * @param {{
 *   label: string,
 *   className?: string,
 *   returns?: () => boolean,
 *   onClose: () => void,
 *   children?: unknown,
 * }} props `returns`: whether the focus goes back to where it was
 */
export function Dialog({ label, className = "", returns = () => true, onClose, children }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      // When it is gone: while it is open, nothing else can have the focus.
      queueMicrotask(() => {
        if (returns() && document.activeElement === document.body && before instanceof HTMLElement)
          before.focus({ preventScroll: true });
      });
    };
  }, []);
  return html`<dialog
    ref=${ref}
    class=${`sheet ${className}`}
    aria-label=${label}
    onCancel=${(/** @type {Event} */ event) => {
      event.preventDefault();
      onClose();
    }}
    onClose=${onClose}
    onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape" && composing(event)) event.preventDefault();
    }}
    onMouseDown=${(/** @type {MouseEvent} */ event) => {
      if (event.target === ref.current) onClose();
    }}
  >
    ${children}
  </dialog>`;
}

/** @param {{ title: unknown, onClose: () => void, cut?: boolean }} props `cut`: on one line */
export const Heading = ({ title, onClose, cut = false }) => html`<div class="heading">
  <h1 class=${cut ? "cut" : undefined}>${title}</h1>
  <${IconButton} icon="x" class="end" label="Close" type="button" onClick=${onClose} />
</div>`;

/**
 * A dialog with a heading. Other attributes are those of `Dialog`.
 * @param {{ title: unknown, label: string, cut?: boolean, onClose: () => void, children?: unknown }
 *   & Record<string, unknown>} props
 */
export const TitledDialog = ({ title, cut, children, ...attributes }) => html`<${Dialog} ...${attributes}>
  <div class="boxed">
    <${Heading} title=${title} cut=${cut} onClose=${attributes.onClose} />
    ${children}
  </div>
<//>`;

/**
 * @param {{
 *   title: string,
 *   act: string,
 *   ready: boolean,
 *   onAct: () => Promise<void>,
 *   onClose: () => void,
 *   children?: unknown,
 * }} props `act`: the button that does it, once it is `ready`
 */
export const Asking = ({ title, act, ready, onAct, onClose, children }) => html`<${Dialog}
  label=${title}
  className="create"
  onClose=${onClose}
>
  <form
    class="boxed"
    onSubmit=${(/** @type {Event} */ event) => {
      event.preventDefault();
      if (ready) void onAct();
    }}
    onKeyDown=${(/** @type {KeyboardEvent} */ event) =>
      event.key === "Enter" && composing(event) && event.preventDefault()}
  >
    <${Heading} title=${title} onClose=${onClose} />
    ${children}
    <div class="acts">
      <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
      <button class="primary" disabled=${!ready}>${act}</button>
    </div>
  </form>
<//>`;

/**
 * A field for a name. Other attributes are those of the field.
 * @param {{ label: unknown, value: string, onText: (text: string) => void } & Record<string, unknown>} props
 */
export const NameField = ({ label, value, onText, ...attributes }) => html`<label class="asked">
  <span>${label}</span>
  <input
    class="entry-field"
    type="text"
    dir="auto"
    autocomplete="off"
    value=${value}
    onInput=${(/** @type {Typed} */ event) => onText(event.target.value)}
    ...${attributes}
  />
</label>`;

/** A field for a folder, with those that there are. @param {{ folder: { value: string } }} props */
export const FolderField = ({ folder }) => html`<div class="asked">
  <span>Folder</span>
  <${Combo}
    label="Folder"
    value=${folder.value}
    placeholder="Vault root"
    wide
    keep
    look=${foldersLike}
    onText=${(/** @type {string} */ text) => (folder.value = text)}
    onTake=${(/** @type {string} */ text) => (folder.value = text)}
  />
</div>`;

/** @param {string} text @param {AbortSignal} signal */
async function foldersLike(text, signal) {
  const { data } = await ask("GET", "/suggest", { query: { q: text, kinds: "folder", limit: 8 }, signal });
  return data.suggestions.map((folder) => ({ value: folder.insert, label: folder.insert }));
}
