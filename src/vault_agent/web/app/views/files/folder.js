// The dialog that makes a folder.

import { html, useLayoutEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Dialog } from "../../parts/dialog.js";
import { toast, Trouble } from "../../parts/say.js";
import { Heading } from "../../parts/heading.js";
import { makeFolder, readTree, unfold } from "../../state/files.js";
import { newKey } from "../../state/once.js";
import { later } from "../../later.js";
import { words } from "../../words.js";
import { closeDone, closeOverlay, takeTyped } from "../frame/overlay.js";

/** @param {{ folder?: string }} given `folder`: where it is made */
export function Overlay({ folder = "" }) {
  const t = later.files;
  const path = useSignal(folder && `${folder}/`);
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const busy = useSignal(false);
  const key = useRef(newKey());
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
      <${Heading} title=${t.newFolder} onClose=${closeOverlay} />
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
      ${fault.value && html`<${Trouble} fault=${fault.value} />`}
      <div class="acts">
        <button type="button" class="quiet" onClick=${closeOverlay}>${words.cancel}</button>
        <button class="primary" disabled=${!clean || clean === folder || busy.value}>${t.make}</button>
      </div>
    </form>
  <//>`;
}
