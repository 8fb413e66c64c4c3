// Vim's keys in the editor. They are loaded only if the settings switch them on.

import { Compartment, EditorView, Prec } from "../../../vendor/codemirror.js";
import { later } from "../../later.js";

/** What `:w` and `:q` do in each text. @type {WeakMap<EditorView, (name: "save" | "done") => void>} */
const hosts = new WeakMap();
const keys = new Compartment();
let defined = false;

/** The place of Vim's keys among the extensions: before all others. */
export const vimPlace = () => Prec.highest(keys.of([]));

/** Switch Vim's keys on in a text. @param {EditorView} view @param {(name: "save" | "done") => void} onKey */
export async function useVim(view, onKey) {
  const { Vim, vim } = await import("../../../vendor/vim.js");
  hosts.set(view, onKey);
  if (!defined) {
    defined = true;
    const asks =
      (/** @type {"save" | "done"} */ name) =>
      (/** @type {{ cm6: EditorView }} */ { cm6 }) =>
        hosts.get(cm6)?.(name);
    Vim.defineEx("write", "w", asks("save"));
    for (const [name, short] of [
      ["quit", "q"],
      ["wq", "wq"],
      ["xit", "x"],
    ])
      Vim.defineEx(name, short, asks("done"));
  }
  view.dispatch({ effects: keys.reconfigure(vim({ status: true })) });
  view.setTabFocusMode(true); // only where text is typed, Tab is a key of the text
  const { cm } = /** @type {any} */ (view);
  cm.on("vim-mode-change", (/** @type {{ mode: string }} */ { mode }) => view.setTabFocusMode(mode !== "insert"));
  cm.on("dialog", () => cm.state.dialog?.querySelector("input")?.setAttribute("aria-label", later.edit.vimCommand));
}
