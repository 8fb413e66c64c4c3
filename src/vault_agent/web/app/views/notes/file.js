// The dialog that shows an attachment: a picture, sound or film as notes show them, a canvas, the table of a
// base, else a card.

import { html, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { TitledDialog } from "../../parts/dialog.js";
import { copy, Trouble } from "../../parts/say.js";
import { Later } from "../../parts/lazy.js";
import { useSheet } from "../../parts/sheet.js";
import { Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { lastOf } from "../../state/query.js";
import { mayWrite } from "../../state/vault.js";
import { showRendered } from "../../trust.js";
import { ask } from "../../wire.js";
import { closeOverlay, overlay } from "../frame/frame.js";
import { enhance } from "./enhance.js";

const DRAWN = /** @type {Record<string, { load: () => Promise<Record<string, unknown>>, name: string }>} */ ({
  canvas: { load: () => import("./canvas.js"), name: "Canvas" },
  base: { load: () => import("./base.js"), name: "Base" },
});

/** Characters that would end the address of an embed. @param {string} letter */
const escapeLetter = (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

/** @param {{ path: string }} props */
export function Overlay({ path }) {
  const styled = useSheet("prose.css");
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const name = lastOf(path);
  const drawn = DRAWN[/\.(canvas|base)$/i.exec(path)?.[1].toLowerCase() ?? ""];
  useEffect(() => {
    if (drawn) return;
    let stop = () => {};
    const show = async () => {
      const text = `![](</${path.replace(/[%<>\\]/g, escapeLetter)}>)`;
      const { data } = await ask("POST", "/render", { body: { text, path: "file.md" } });
      if (!box.current) return;
      showRendered(box.current, data.html);
      stop = enhance(box.current, { id: "", path, title: "" });
    };
    show().catch((error) => (fault.value = error));
    return () => stop();
  }, [path]);
  return html`<${TitledDialog}
    label=${plain(name, 120)}
    title=${html`<bdi>${plain(name, 120)}</bdi>`}
    cut
    className=${drawn ? "create large" : "create"}
    onClose=${closeOverlay}
  >
    <p class="will"><bdi>${plain(path, 300)}</bdi></p>
    ${fault.value && html`<${Trouble} fault=${fault.value} />`}
    ${
      drawn
        ? styled && html`<${Later} load=${drawn.load} name=${drawn.name} props=${{ path }} />`
        : html`<div class="prose shown-file" ref=${box} hidden=${!styled}></div>`
    }
    <div class="acts">
      <button class="quiet" onClick=${() => void copy(`![[${path}]]`)}><${Icon} name="copy" />Copy as embed</button>
      ${
        mayWrite.value &&
        html`<button class="quiet" onClick=${() => (overlay.value = { name: "move", path })}>
          <${Icon} name="edit" />
          Rename or move
        </button>`
      }
      ${
        mayWrite.value &&
        html`<button class="quiet" onClick=${() => (overlay.value = { name: "delete", path })}>
          <${Icon} name="x" />
          Delete
        </button>`
      }
    </div>
  <//>`;
}
