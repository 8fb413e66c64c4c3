// The dialog that makes a folder.

import { html, useLayoutEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Dialog } from "../../parts/dialog.js";
import { sentence } from "../../parts/fault.js";
import { toast } from "../../parts/say.js";
import { Icon } from "../../parts/sign.js";
import { makeFolder, readTree, unfold } from "../../state/files.js";
import { later } from "../../later.js";
import { words } from "../../words.js";
import { closeDone, closeOverlay, takeTyped } from "../frame/overlay.js";

/** @param {{ folder?: string }} given `folder`: where it is made */
export function Overlay({ folder = "" }) {
  const t = later.files;
  const path = useSignal(folder && `${folder}/`);
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const busy = useSignal(false);
  const key = useRef(crypto.randomUUID?.() ?? String(Math.random()).slice(2));
  useLayoutEffect(() => void (path.value += takeTyped().text), []);
  const clean = path.value
    .split("/")
    .map((each) => each.trim())
    .filter(Boolean)
    .join("/");
  /** @param {Event} event */
  const act = async (event) => {
    event.preventDefault();
    if (!clean || clean === folder || busy.value) return;
    busy.value = true;
    try {
      await makeFolder(clean, key.current);
      closeDone("folder");
      if (folder) unfold(folder, true);
      await readTree();
      toast(t.made(clean));
    } catch (error) {
      fault.value = /** @type {Fault} */ (error);
    }
    busy.value = false;
  };
  return html`<${Dialog} label=${t.newFolder} className="create" onClose=${closeOverlay}>
    <form class="boxed" onSubmit=${act}>
      <div class="heading">
        <h1>${t.newFolder}</h1>
        <button type="button" class="icon end" aria-label=${words.close} onClick=${closeOverlay}>
          <${Icon} name="x" />
        </button>
      </div>
      <label class="asked">
        <span>${t.folderName}</span>
        <input
          class="entry-field"
          type="text"
          dir="auto"
          autofocus
          maxlength="400"
          autocomplete="off"
          spellcheck=${false}
          value=${path.value}
          onInput=${(/** @type {Typed} */ event) => (path.value = event.target.value)}
        />
      </label>
      ${
        fault.value &&
        html`<div class="say bad" role="alert"><${Icon} name="warn" /><span>${sentence(fault.value)}</span></div>`
      }
      <div class="acts">
        <button type="button" class="quiet" onClick=${closeOverlay}>${words.cancel}</button>
        <button class="primary" disabled=${!clean || clean === folder || busy.value}>${t.make}</button>
      </div>
    </form>
  <//>`;
}
