// The dialog that makes a folder.

import { html, useEffect, useLayoutEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Asking, NameField } from "../../parts/asking.js";
import { toast, Trouble } from "../../parts/say.js";
import { makeFolder, readTree, unfold } from "../../state/files.js";
import { newKey } from "../../state/once.js";
import { later } from "../../later.js";
import { closeDone, closeOverlay, takeTyped } from "../frame/overlay.js";

/** @param {{ folder?: string }} given `folder`: where it is made */
export function Overlay({ folder = "" }) {
  const t = later.files;
  const path = useSignal(folder && `${folder}/`);
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const busy = useSignal(false);
  const key = useRef(newKey());
  const clean = path.value
    .split("/")
    .map((each) => each.trim())
    .filter(Boolean)
    .join("/");
  const ready = Boolean(clean) && clean !== folder && !busy.value;
  const entered = useRef(false); // while the dialog was loaded
  useLayoutEffect(() => {
    const ahead = takeTyped();
    path.value += ahead.text;
    entered.current = ahead.entered && /[^\s/]/.test(ahead.text);
  }, []);
  useEffect(() => {
    if (entered.current && ready) void act();
    entered.current &&= !ready;
  }, [ready]);
  const act = async () => {
    busy.value = true;
    try {
      const made = await makeFolder(clean, key.current);
      closeDone("folder");
      if (folder) unfold(folder, true);
      await readTree();
      toast(made.changed ? t.made(clean) : t.exists(clean));
    } catch (error) {
      fault.value = /** @type {Fault} */ (error);
    }
    busy.value = false;
  };
  return html`<${Asking}
    title=${t.newFolder}
    act=${t.make}
    ready=${ready}
    onAct=${act}
    onClose=${closeOverlay}
  >
    <${NameField}
      label=${t.folderName}
      value=${path.value}
      onText=${(/** @type {string} */ text) => (path.value = text)}
      autofocus
      maxlength="400"
      spellcheck=${false}
    />
    ${fault.value && html`<${Trouble} fault=${fault.value} />`}
  <//>`;
}
