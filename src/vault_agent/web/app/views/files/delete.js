// The dialog that moves a note to the trash, and says first how many links lead to it.

import { html, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Dialog } from "../../parts/dialog.js";
import { toast, Trouble } from "../../parts/say.js";
import { Heading } from "../../parts/heading.js";
import { plain } from "../../parts/text.js";
import { address, go } from "../../state/address.js";
import { planRemoval, remove } from "../../state/files.js";
import { nameOf } from "../../state/query.js";
import { closeTab } from "../../state/tabs.js";
import { later } from "../../later.js";
import { words } from "../../words.js";
import { closeDone, closeOverlay } from "../frame/overlay.js";
import { undone } from "./after.js";

/** @param {{ path: string }} given */
export function Overlay({ path }) {
  const t = later.files;
  const plan = useSignal(/** @type {Wire.Written | null} */ (null));
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const busy = useSignal(false);
  useEffect(
    () =>
      void planRemoval(path).then(
        (found) => (plan.value = found),
        (error) => (fault.value = error),
      ),
    [path],
  );
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => void (plan.value && button.current?.focus()), [plan.value]); // until then it is disabled
  const act = async () => {
    busy.value = true;
    try {
      const done = await remove(path, plan.value?.hashBefore ?? null);
      closeDone("delete");
      if (done.noteId) closeTab(done.noteId, { replace: true });
      if (done.noteId && done.noteId === address.peek().note) go({ note: "" }, { replace: true });
      toast(t.deleted(plain(nameOf(path), 60)), t.undo, () => void undone(done.writeId ?? ""));
    } catch (error) {
      fault.value = /** @type {Fault} */ (error);
    }
    busy.value = false;
  };
  const links = plan.value?.brokenLinks ?? 0;
  return html`<${Dialog} label=${t.delete} className="create" onClose=${closeOverlay}>
    <div class="boxed">
      <${Heading} title=${t.delete} onClose=${closeOverlay} />
      <p><bdi>${t.trash(plain(path, 300))}</bdi>${links > 0 && ` ${t.broken(links)}`}</p>
      ${fault.value && html`<${Trouble} fault=${fault.value} />`}
      <div class="acts">
        <button class="quiet" onClick=${closeOverlay}>${words.cancel}</button>
        <button ref=${button} class="primary danger" disabled=${busy.value || !plan.value} onClick=${act}>
          ${t.delete}
        </button>
      </div>
    </div>
  <//>`;
}
