// Commands: what the palette lists, and what keys do. A view adds its own while it is shown.

import { computed, signal, useEffect } from "../../vendor/preact.js";
import { settings } from "../state/settings.js";
import { composing, pressed, takesText } from "./keys.js";

/**
 * @typedef {{ id: string, name: string, icon?: string, keys?: string[], run: () => void, hidden?: boolean }} Command
 */

const groups = signal(/** @type {Command[][]} */ ([]));
/** Every command there is now. Of two with the same name the newer counts. */
export const commands = computed(() => {
  const known = new Map();
  for (const each of groups.value.flat()) known.set(each.id, each);
  return [...known.values()];
});

/** Add commands. Return a function that takes them away. @param {Command[]} added */
export function add(added) {
  groups.value = [...groups.peek(), added];
  return () => void (groups.value = groups.peek().filter((each) => each !== added));
}

/** Add commands while a part is shown. @param {() => Command[]} make @param {unknown[]} given */
export function useCommands(make, given) {
  useEffect(() => add(make()), given);
}

/** @param {string} keys */
const isSingle = (keys) => keys.length === 1 || !/^((Mod|Alt)\+|F\d)/.test(keys);

/** Run the command of a key press, unless something composes or takes the text. @param {KeyboardEvent} event */
export function onKey(event) {
  if (event.defaultPrevented || composing(event)) return;
  const name = pressed(event);
  const single = isSingle(name);
  if (single && (takesText(event.target) || !settings.peek().letters || event.ctrlKey || event.metaKey || event.altKey))
    return;
  if (single && document.querySelector("dialog[open], .menu")) return;
  if (single && name.length > 1) return;
  const found = commands.peek().findLast((each) => each.keys?.includes(name));
  if (!found) return;
  event.preventDefault();
  found.run();
}
