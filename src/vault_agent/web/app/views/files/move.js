// The dialog that renames or moves a file or a folder, and says first which links change with it.

import { html, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Combo } from "../../parts/combo.js";
import { Dialog } from "../../parts/dialog.js";
import { sentence, toast } from "../../parts/say.js";
import { Heading } from "../../parts/heading.js";
import { composing } from "../../parts/commands.js";
import { move, planMove } from "../../state/files.js";
import { newKey } from "../../state/once.js";
import { folderOf, lastOf, nameOf } from "../../state/query.js";
import { foldersLike } from "../../state/folders.js";
import { newestOnly } from "../../wire.js";
import { later } from "../../later.js";
import { words } from "../../words.js";
import { closeDone, closeOverlay } from "../frame/overlay.js";
import { openMoved, undone } from "./after.js";

const PAUSE = 150; // ms after a key, when the move is tried

/** @param {{ path: string, folder?: string }} given `folder`: where it was dragged to */
export function Overlay({ path, folder: dragged }) {
  const t = later.files;
  const ending = /\.[^./]+$/.exec(lastOf(path))?.[0] ?? "";
  const note = /^\.(md|markdown)$/i.test(ending);
  const name = useSignal(nameOf(path));
  const folder = useSignal(dragged ?? folderOf(path));
  const plan = useSignal(/** @type {import("../../state/files.js").Done | null} */ (null));
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const busy = useSignal(false);
  const key = useRef(newKey());
  const look = useRef(newestOnly((abort, /** @type {string} */ to) => planMove(path, to, abort)));
  const clean = folder.value
    .split("/")
    .map((each) => each.trim())
    .filter(Boolean)
    .join("/");
  const to = `${clean && `${clean}/`}${name.value.trim()}${note ? ending : ""}`;
  const same = to === path || !name.value.trim();

  useEffect(() => {
    plan.value = null;
    fault.value = null;
    if (same) return look.current.stop();
    const timer = setTimeout(
      () =>
        look.current(to).then(
          (found) => (plan.value = found ?? null),
          (error) => (fault.value = error),
        ),
      PAUSE,
    );
    return () => clearTimeout(timer);
  }, [to]);

  /** @param {Event} event */
  const act = async (event) => {
    event.preventDefault();
    if (same || busy.value || fault.value || !plan.value) return;
    busy.value = true;
    try {
      const done = await move(path, to, plan.value.hash, key.current);
      closeDone("move");
      const moved = await openMoved(path, to, done);
      toast(t.moved(to), done.writeId ? t.undo : undefined, () => void undone(done.writeId ?? "", moved));
    } catch (error) {
      fault.value = /** @type {Fault} */ (error);
    }
    busy.value = false;
  };
  const said = fault.value
    ? html`<span class="bad">${sentence(fault.value)}</span>`
    : same
      ? t.change
      : html`
        ${t.becomes} <bdi><code>${to}</code></bdi>
        ${plan.value && html`<span>${t.links(plan.value.links, plan.value.files)}</span>`}
      `;
  return html`<${Dialog} label=${t.rename} className="create" onClose=${closeOverlay}>
    <form
      class="boxed"
      onSubmit=${act}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) =>
        event.key === "Enter" && composing(event) && event.preventDefault()}
    >
      <${Heading} title=${t.rename} onClose=${closeOverlay} />
      <label class="asked">
        <span>${t.name}</span>
        <input
          class="entry-field"
          type="text"
          dir="auto"
          autofocus
          maxlength="200"
          autocomplete="off"
          spellcheck=${false}
          value=${name.value}
          onInput=${(/** @type {Typed} */ event) => (name.value = event.target.value)}
          aria-describedby="move-says"
        />
      </label>
      <div class="asked">
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
      </div>
      <p id="move-says" class="will" role="status">${said}</p>
      <div class="acts">
        <button type="button" class="quiet" onClick=${closeOverlay}>${words.cancel}</button>
        <button class="primary" disabled=${same || busy.value || !plan.value}>${t.act}</button>
      </div>
    </form>
  <//>`;
}
