// A dialog that asks for names and then does something.

import { html } from "../../vendor/preact.js";
import { later } from "../later.js";
import { words } from "../words.js";
import { Combo } from "./combo.js";
import { composing } from "./commands.js";
import { Dialog, Heading } from "./dialog.js";
import { ask } from "../wire.js";

/**
 * @param {{
 *   title: string,
 *   act: string,
 *   ready: boolean,
 *   onAct: () => Promise<void>,
 *   onClose: () => void,
 *   children?: unknown,
 * }} given `act`: the button that does it, once it is `ready`
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
      <button type="button" class="quiet" onClick=${onClose}>${words.cancel}</button>
      <button class="primary" disabled=${!ready}>${act}</button>
    </div>
  </form>
<//>`;

/**
 * A field for a name. Other attributes are those of the field.
 * @param {{ label: unknown, value: string, onText: (text: string) => void } & Record<string, unknown>} given
 */
export const NameField = ({ label, value, onText, ...given }) => html`<label class="asked">
  <span>${label}</span>
  <input
    class="entry-field"
    type="text"
    dir="auto"
    autocomplete="off"
    value=${value}
    onInput=${(/** @type {Typed} */ event) => onText(event.target.value)}
    ...${given}
  />
</label>`;

/** A field for a folder, with those that there are. @param {{ folder: { value: string } }} given */
export const FolderField = ({ folder }) => html`<div class="asked">
  <span>${later.edit.create.folder}</span>
  <${Combo}
    label=${later.edit.create.folder}
    value=${folder.value}
    placeholder=${later.edit.create.root}
    shown
    keep
    look=${foldersLike}
    onText=${(/** @type {string} */ text) => (folder.value = text)}
    onTake=${(/** @type {string} */ text) => (folder.value = text)}
  />
</div>`;

/** @param {string} text @param {AbortSignal} signal */
async function foldersLike(text, signal) {
  const { data } = await ask("GET", "/suggest", { query: { q: text, kinds: "folder", limit: 8 }, signal });
  return data.suggestions.map((each) => ({ value: each.insert, label: each.insert }));
}
