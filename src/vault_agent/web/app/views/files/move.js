// The dialog that renames or moves a file or a folder, and says first which links change with it.

import { html, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Asking, FolderField, NameField } from "../../parts/dialog.js";
import { useWork } from "../../parts/reply.js";
import { sentence, toast } from "../../parts/say.js";
import { move, planMove, newKey } from "../../state/files.js";
import { folderOf, nameOf, tidy, withoutEnding } from "../../state/query.js";
import { newestOnly } from "../../wire.js";
import { laterWords } from "../../words-later.js";
import { closeDone, closeOverlay } from "../frame/frame.js";
import { openMoved, takeBack } from "./after.js";
/** @import { Done } from "../../state/files.js" */

const PAUSE = 150; // ms after a key, when the move is tried

/** @param {{ path: string, folder?: string }} props `folder`: where it was dragged to */
export function Overlay({ path, folder: dragged }) {
  const t = laterWords.files;
  const ending = path.slice(withoutEnding(path).length); // of a note, which keeps it
  const name = useSignal(nameOf(path));
  const folder = useSignal(dragged ?? folderOf(path));
  const plan = useSignal(/** @type {Done | null} */ (null));
  const { busy, fault, run } = useWork();
  const key = useRef(newKey());
  const look = useRef(newestOnly((abort, /** @type {string} */ to) => planMove(path, to, abort)));
  const clean = tidy(folder.value);
  const to = `${clean && `${clean}/`}${name.value.trim()}${ending}`;
  const same = to === path || !name.value.trim();

  useEffect(() => {
    plan.value = null;
    fault.value = null;
    if (same) return look.current.stop();
    const timer = setTimeout(
      () =>
        look.current(to).then(
          (planned) => (plan.value = planned ?? null),
          (error) => (fault.value = error),
        ),
      PAUSE,
    );
    return () => clearTimeout(timer);
  }, [to]);

  const act = () =>
    run(async () => {
      if (!plan.value) return;
      const done = await move(path, to, plan.value.hash, key.current);
      closeDone("move");
      const moved = await openMoved(path, to, done);
      toast(`Moved to ${to}`, done.writeId ? "Undo" : undefined, () => void takeBack(done.writeId ?? "", moved));
    });
  const message = fault.value
    ? html`<span class="bad">${sentence(fault.value)}</span>`
    : same
      ? "Change the name or the folder."
      : html`
        New path: <bdi><code>${to}</code></bdi>
        ${plan.value && html`<span>${t.links(plan.value.links, plan.value.files)}</span>`}
      `;
  return html`<${Asking}
    title="Rename or move"
    act="Move"
    ready=${!same && !busy.value && Boolean(plan.value) && !fault.value}
    onAct=${act}
    onClose=${closeOverlay}
  >
    <${NameField}
      label="Name"
      value=${name.value}
      onText=${(/** @type {string} */ text) => (name.value = text)}
      autofocus
      maxlength="200"
      spellcheck=${false}
      aria-describedby="move-says"
    />
    <${FolderField} folder=${folder} />
    <p id="move-says" class="will" role="status">${message}</p>
  <//>`;
}
