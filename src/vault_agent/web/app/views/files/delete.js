// The dialog that moves a file or a folder to the trash, and says first how many notes and links that concerns.

import { html, useEffect, useRef } from "../../../vendor/preact.js";
import { TitledDialog } from "../../parts/dialog.js";
import { useReply, useWork } from "../../parts/reply.js";
import { toast, Trouble } from "../../parts/say.js";
import { plain } from "../../parts/text.js";
import { address, go, pathOf } from "../../state/address.js";
import { lines, planRemoval, readTree, remove } from "../../state/files.js";
import { nameOf } from "../../state/query.js";
import { closeTab, tabs } from "../../state/tabs.js";
import { laterWords } from "../../words-later.js";
import { closeDone, closeOverlay } from "../frame/frame.js";
import { takeBack } from "./after.js";

/** @param {{ path: string }} props */
export function Overlay({ path }) {
  const t = laterWords.files;
  const { data: plan, fault } = useReply(() => planRemoval(path), [path]);
  const { busy, fault: failed, run } = useWork();
  const folder = useRef(lines.peek().find((line) => line.kind === "folder" && line.path === path)).current;
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => void (plan.value && button.current?.focus()), [plan.value]); // until then it is disabled
  const act = () =>
    run(async () => {
      const done = await remove(path, plan.value?.hashBefore ?? null);
      closeDone("delete");
      const gone = tabs.peek().filter((tab) => tab.id === done.noteId || tab.path.startsWith(`${path}/`));
      for (const { id } of gone) closeTab(id, { replace: true });
      const { note: open } = address.peek();
      if (open && (open === done.noteId || pathOf(open).startsWith(`${path}/`))) go({ note: "" }, { replace: true });
      if (folder) await readTree(); // an empty one is not in the index, which brings no news of it
      const undo = () => void takeBack(done.writeId ?? "").then(() => folder && readTree());
      toast(`${plain(nameOf(path), 60)} is in the trash`, "Undo", undo);
    });
  const links = plan.value?.brokenLinks ?? 0;
  const notes = folder?.count ?? 0;
  return html`<${TitledDialog} label="Delete" title="Delete" className="create" onClose=${closeOverlay}>
    <p>
      <bdi>${plain(path, 300)} moves to .trash.</bdi>
      ${notes > 0 && ` ${t.inside(notes)}`}
      ${links > 0 && ` ${t.broken(links)}`}
    </p>
    ${(fault.value ?? failed.value) && html`<${Trouble} fault=${fault.value ?? failed.value} />`}
    <div class="acts">
      <button class="quiet" onClick=${closeOverlay}>Cancel</button>
      <button ref=${button} class="primary danger" disabled=${busy.value || !plan.value} onClick=${act}>
        Delete
      </button>
    </div>
  <//>`;
}
