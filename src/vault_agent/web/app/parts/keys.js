// Keys: what is composed is never a command, and shortcuts are named as the keyboard shows them.

import { html } from "../../vendor/preact.js";

export const apple = /Mac|iP(hone|ad)/.test(navigator.platform);
let composed = 0;
addEventListener("compositionend", () => (composed = performance.now()), true);

/**
 * Whether a key belongs to an input method. Safari sends `compositionend` before the keydown of
 * Enter, so an Enter just after it belongs to it too.
 * @param {KeyboardEvent} event
 */
export function composing(event) {
  return event.isComposing || event.keyCode === 229 || (event.key === "Enter" && performance.now() - composed < 30);
}

/** The name of a key press such as "Mod+Shift+f", "Alt+n" or "?". @param {KeyboardEvent} event */
export function pressed(event) {
  const mod = apple ? event.metaKey : event.ctrlKey;
  const key =
    event.key.length === 1
      ? event.altKey && /^Key[A-Z]$/.test(event.code)
        ? event.code.slice(3).toLowerCase()
        : event.key.toLowerCase()
      : event.key;
  const shift = event.shiftKey && (event.key.length > 1 || mod);
  return `${mod ? "Mod+" : ""}${event.altKey ? "Alt+" : ""}${shift ? "Shift+" : ""}${key}`;
}

/** Whether an element takes text. @param {EventTarget | null} target */
export function takesText(target) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
      (target instanceof HTMLInputElement && !/^(checkbox|radio|button|range)$/.test(target.type)))
  );
}

const NAMES = /** @type {Record<string, string>} */ (
  apple
    ? { Mod: "⌘", Alt: "⌥", Shift: "⇧", Enter: "↩", ArrowLeft: "←", ArrowRight: "→" }
    : { Mod: "Ctrl", Enter: "↵", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" }
);

/** @param {string} keys */
export const keyName = (keys) =>
  keys
    .split("+")
    .map((each) => NAMES[each] ?? (each.length === 1 ? each.toUpperCase() : each))
    .join(apple ? "" : " ");

/** @param {{ keys: string }} given */
export const Key = ({ keys }) => html`<kbd>${keyName(keys)}</kbd>`;
