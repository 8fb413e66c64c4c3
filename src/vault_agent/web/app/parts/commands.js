// Commands: what the palette lists, and what keys do. A view adds its own while it is shown. What is composed is never
// a command, and keys are named as the keyboard shows them. One module, because the first view needs all of it.

import { computed, html, signal, useEffect } from "../../vendor/preact.js";
import { settings } from "../state/settings.js";

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
function pressed(event) {
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
function takesText(target) {
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
    .map((key) => NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key))
    .join(apple ? "" : " ");

/** @param {{ keys: string }} props */
export const Key = ({ keys }) => html`<kbd>${keyName(keys)}</kbd>`;

/**
 * @typedef {{ id: string, name: string, icon?: string, keys?: string[], run: () => void, hidden?: boolean }} Command
 */

const groups = signal(/** @type {Command[][]} */ ([]));
/** Every command there is now. Of two with the same `id` the newer counts. */
export const commands = computed(() => {
  const byId = new Map();
  for (const command of groups.value.flat()) byId.set(command.id, command);
  return [...byId.values()];
});

/** Add commands. Return a function that takes them away. @param {Command[]} added */
export function add(added) {
  groups.value = [...groups.peek(), added];
  return () => void (groups.value = groups.peek().filter((group) => group !== added));
}

/** Add commands while a part is shown. @param {() => Command[]} make @param {unknown[]} dependencies */
export function useCommands(make, dependencies) {
  useEffect(() => add(make()), dependencies);
}

/** @param {string} keys */
const needsNoModifier = (keys) => keys.length === 1 || !/^((Mod|Alt)\+|F\d)/.test(keys);

/** Run the command of a key press, unless something composes or takes the text. @param {KeyboardEvent} event */
export function onKey(event) {
  if (event.defaultPrevented || composing(event)) return;
  const name = pressed(event);
  const single = needsNoModifier(name);
  if (single && (takesText(event.target) || !settings.peek().letters || event.ctrlKey || event.metaKey || event.altKey))
    return;
  if (single && document.querySelector("dialog[open], .menu")) return;
  if (single && name.length > 1) return;
  const command = commands.peek().findLast(({ keys }) => keys?.includes(name));
  if (!command) return;
  event.preventDefault();
  command.run();
}
