// Tasks are ticked while reading, where notes may be edited.

import { sentence, toast } from "../../parts/say.js";
import { reopen } from "../../state/note.js";
import { mayWrite } from "../../state/vault.js";
import { ask } from "../../wire.js";

let isBusy = false;

/**
 * Name the boxes of tasks, and let those be ticked that are written in the note itself.
 * @param {HTMLElement} prose
 * @param {{ id: string, hash?: string | null }} note `hash` of the file, if the text is that of the file
 */
export function tasks(prose, { id, hash }) {
  const boxes = [.../** @type {NodeListOf<HTMLInputElement>} */ (prose.querySelectorAll("input"))];
  for (const box of boxes) {
    box.setAttribute("aria-label", box.checked ? "Done" : "Not done");
    const line = Number(/** @type {HTMLElement | null} */ (box.closest("li"))?.dataset.line);
    if (!line || !hash || !mayWrite.value) continue; // an embedded text has no lines
    box.disabled = false;
    box.dataset.box = String(line);
    box.addEventListener("click", (event) => {
      event.preventDefault(); // it is shown as it is on the disk
      if (!isBusy) void tick(box, { noteId: id, line, expectedHash: hash });
    });
  }
}

/** @param {HTMLInputElement} box @param {{ noteId: string, line: number, expectedHash: string }} task */
async function tick(box, task) {
  isBusy = true;
  box.ariaBusy = "true";
  try {
    const status = box.hasAttribute("checked") ? "open" : "done";
    const { data } = await ask("POST", "/write/tasks/set", { body: { ...task, status, onlyThisLine: true } });
    await reopen();
    const moved = data.line ?? task.line;
    if (document.activeElement === document.body)
      /** @type {HTMLElement | null} */ (document.querySelector(`.prose [data-box="${moved}"]`))?.focus();
  } catch (error) {
    toast(
      /** @type {Fault} */ (error).code === "HASH_MISMATCH"
        ? "The note was changed elsewhere. Nothing was ticked."
        : sentence(error),
    );
    void reopen();
  }
  isBusy = false;
}
