// The dialog that makes a folder.

import { html, useLayoutEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Asking, NameField } from "../../parts/dialog.js";
import { useWork } from "../../parts/reply.js";
import { toast, Trouble } from "../../parts/say.js";
import { makeFolder, readTree, unfold, newKey } from "../../state/files.js";
import { tidy } from "../../state/query.js";
import { closeDone, closeOverlay, takeTyped } from "../frame/frame.js";

/** @param {{ folder?: string }} props `folder`: where it is made */
export function Overlay({ folder = "" }) {
  const path = useSignal(folder && `${folder}/`);
  const { busy, fault, run } = useWork();
  const key = useRef(newKey());
  const clean = tidy(path.value);
  const act = () =>
    run(async () => {
      const wanted = tidy(path.peek());
      const made = await makeFolder(wanted, key.current);
      closeDone("folder");
      if (folder) unfold(folder, true);
      await readTree();
      toast(made.changed ? `Created the folder ${wanted}` : `The folder ${wanted} exists already`);
    });
  useLayoutEffect(() => {
    const ahead = takeTyped();
    path.value += ahead.text;
    if (ahead.entered && tidy(ahead.text)) void act();
  }, []);
  return html`<${Asking}
    title="New folder"
    act="Make"
    ready=${Boolean(clean) && clean !== folder && !busy.value}
    onAct=${act}
    onClose=${closeOverlay}
  >
    <${NameField}
      label="Its name, or a path"
      value=${path.value}
      onText=${(/** @type {string} */ text) => (path.value = text)}
      autofocus
      maxlength="400"
      spellcheck=${false}
    />
    ${fault.value && html`<${Trouble} fault=${fault.value} />`}
  <//>`;
}
