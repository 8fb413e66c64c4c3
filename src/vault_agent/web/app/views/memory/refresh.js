// What would be recalled now, and how it differs. It counts only when a person says so.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { TitledDialog } from "../../parts/dialog.js";
import { Trouble } from "../../parts/say.js";
import { difference, refreshed } from "../../state/memory.js";
import { later } from "../../later.js";
import { words } from "../../words.js";
import { GotNote } from "./notes.js";

const t = later.memory;

/** @param {{ id: string, onClose: () => void, onDone: () => void }} given */
export function Refresh({ id, onClose, onDone }) {
  const found = useSignal(/** @type {Wire.SessionRefresh | null} */ (null));
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const ask = () =>
    refreshed(id, false).then(
      (data) => ((found.value = data), (fault.value = null)),
      (error) => (fault.value = error),
    );
  useEffect(() => void ask(), [id]);
  const apply = () => refreshed(id, true).then(onDone, (error) => (fault.value = error));
  const parts = found.value && difference(found.value.before, found.value.after);
  const same = parts && !parts.come.length && !parts.go.length && !parts.changed.length;
  /** @param {Wire.DeliveredNote[]} notes @param {string} sign @param {string} title */
  const list = (notes, sign, title) =>
    notes.length > 0 &&
    html`<section>
      <h2>${title}</h2>
      <ul class="card got-list">
        ${notes.map((each) => html`<${GotNote} key=${`${each.vault} ${each.noteId}`} note=${each} sign=${sign} />`)}
      </ul>
    </section>`;
  return html`<${TitledDialog} label=${t.refresh} title=${t.refreshTitle} className="memory" onClose=${onClose}>
    ${fault.value && html`<${Trouble} fault=${fault.value} again=${ask} />`}
    ${!found.value && !fault.value && html`<p role="status">${t.asking}</p>`}
    ${
      parts &&
      html`
        <p>${same ? t.noDifference : t.difference(parts.come.length, parts.go.length, parts.changed.length)}</p>
        ${list(parts.come, "plus", t.come)}
        ${list(parts.go, "minus", t.go)}
        ${list(parts.changed, "edit", t.changedTitle)}
        ${list(parts.stay, "check", t.stay)}
        <div class="head">
          <span class="acts end">
            <button class="quiet" onClick=${onClose}>${same ? words.close : words.cancel}</button>
            ${!same && html`<button class="primary" onClick=${apply}>${t.apply}</button>`}
          </span>
        </div>
      `
    }
  <//>`;
}
