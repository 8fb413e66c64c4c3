// The last writes: who changed what, with a way back.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { TitledDialog } from "../../parts/dialog.js";
import { Trouble } from "../../parts/say.js";
import { plain } from "../../parts/text.js";
import { clock, revision } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { laterWords } from "../../words-later.js";
import { agoWords, fullDate, timeOf } from "../../words.js";
import { closeOverlay } from "../frame/frame.js";
import { takeBack } from "./after.js";

const PAGE = 50;

export function Overlay() {
  const t = laterWords.files;
  const writes = useSignal(/** @type {Wire.LogEntry[] | null} */ (null));
  const cursor = useSignal(/** @type {string | null} */ (null));
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const busy = useSignal("");
  const read = async (/** @type {boolean} */ next) => {
    try {
      const { data } = await ask("GET", "/writes", { query: { limit: PAGE, cursor: next ? cursor.peek() : null } });
      writes.value = [...(next ? (writes.peek() ?? []) : []), ...data.writes];
      cursor.value = data.nextCursor;
      fault.value = null;
    } catch (error) {
      fault.value = /** @type {Fault} */ (error);
    }
  };
  useEffect(() => void read(false), [revision.value]);
  void clock.value;
  const back = async (/** @type {string} */ id) => {
    busy.value = id;
    if (await takeBack(id)) await read(false);
    busy.value = "";
  };
  /** @param {Wire.LogEntry} write */
  const line = (write) => {
    const { writeId, files, fileCount, operation, state } = write;
    const what = t.operations[/** @type {"move"} */ (operation)] ?? operation;
    const who = write.agent || (write.client === "web" ? "" : write.client);
    const [file] = files;
    return html`<li class="line" key=${writeId}>
      <span class="grow">
        <b>${plain(what, 40)}</b> <bdi>${plain(file?.path, 200)}</bdi>
        ${fileCount > 1 && ` and ${fileCount - 1} more`}
        <small>
          ${who && html`<bdi>${plain(who, 60)}</bdi> · `}
          <time datetime=${write.time} title=${fullDate(write.time)}>
            ${agoWords((Date.now() - timeOf(write.time)) / 1000)}
          </time>
        </small>
      </span>
      ${
        state === "undone"
          ? html`<small>taken back</small>`
          : write.undoable &&
            html`<button class="quiet" disabled=${Boolean(busy.value)} onClick=${() => void back(writeId)}>
              Undo
            </button>`
      }
    </li>`;
  };
  return html`<${TitledDialog} label="Last changes" title="Last changes" onClose=${closeOverlay}>
    ${fault.value && html`<${Trouble} fault=${fault.value} again=${() => void read(false)} />`}
    ${writes.value?.length === 0 && html`<p>Nothing was written here yet.</p>`}
    ${writes.value && writes.value.length > 0 && html`<ul class="card">${writes.value.map(line)}</ul>`}
    ${cursor.value && html`<button class="quiet" onClick=${() => void read(true)}>More</button>`}
  <//>`;
}
