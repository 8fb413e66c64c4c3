// Which dialog is open over the view.

import { signal } from "../../../vendor/preact.js";
import { composing } from "../../parts/commands.js";

/**
 * A note that was found, with the identity of its vault if several were asked.
 * @typedef {Wire.Suggestion & { vault?: string }} Hit
 */

/** Choose a note of some vaults for something else than to be read.
 * @typedef {{ among: string[], choose: (hit: Hit) => void }} Pick */

export const overlay = signal(
  /** @type {{ name: string, only?: string, pick?: Pick, title?: string, path?: string, folder?: string } | null} */ (
    null
  ),
);
/**
 * What a menu was asked for, and where. Files and folders have no ID.
 * @typedef {{ kind: "note" | "folder" | "file", id: string, path: string, at: DOMRect, origin: HTMLElement }} Context
 */
export const context = signal(/** @type {Context | null} */ (null));
let typed = "";
let entered = false;
export const closeOverlay = () => {
  takeTyped();
  overlay.value = null;
};

/** Close a dialog that has done its work, unless another one has been opened meanwhile. @param {string} name */
export const closeDone = (name) => overlay.peek()?.name === name && closeOverlay();

/** What was typed while the dialog was loaded, and whether Enter was pressed. It can be taken once. */
export function takeTyped() {
  const taken = { text: typed, entered };
  typed = "";
  entered = false;
  return taken;
}

/**
 * Keep what is typed while a dialog is loaded: it would run commands of the view, or go into a note.
 * @param {KeyboardEvent} event
 */
function keep(event) {
  if (
    !overlay.peek() ||
    document.querySelector("dialog[open]") ||
    composing(event) ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey
  )
    return;
  const failed = event.target instanceof Element && event.target.closest("[role=alert]"); // with a button to try again
  if (event.key === "Escape") closeOverlay();
  else if (failed) return;
  else if (event.key.length === 1) typed += event.key;
  else if (event.key === "Backspace") typed = typed.slice(0, -1);
  else if (event.key === "Enter") entered = true;
  else return;
  event.preventDefault();
  event.stopPropagation();
}
addEventListener("keydown", keep, true);
