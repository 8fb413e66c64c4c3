// The open notes of this vault in this browser. A note opens in the tab that is shown, or beside it.

import { effect, signal } from "../../vendor/preact.js";
import { vaultId } from "../wire.js";
import { address, go, parseAddress } from "./address.js";
import { note } from "./note.js";
import { readOfVault, writeOfVault } from "./settings.js";
/** @import { Kept as Tab } from "./settings.js" */

const MOST = 30;
/** One tab is as none: the page is as it is without them. */
export const tabs = signal(/** @type {Tab[]} */ ([]));
/** The note of the tab that is shown, or was shown last. */
let current = "";
/** Whether the next note opens in a tab of its own. */
let beside = false;

/** @param {Tab[]} next */
function keep(next) {
  tabs.value = next;
  writeOfVault("tabs", next.length > 1 ? next : []);
}

/** Show a note in the tab that has it, in a new one, or in the one that is shown. @param {string} id */
function show(id) {
  const list = tabs.peek();
  const index = list.findIndex((tab) => tab.id === current);
  const own = beside || (index < 0 && list.length > 1);
  current = id;
  beside = false;
  if (list.some((tab) => tab.id === id)) return;
  const made = { id, title: "", path: "", type: null };
  const before = index < 0 ? list : list.slice(0, own ? index + 1 : index);
  const after = index < 0 ? [] : list.slice(index + 1);
  keep(list.length < 2 && !own ? [made] : [...before, made, ...after].slice(-MOST));
}

effect(() => {
  if (vaultId.value) tabs.value = readOfVault("tabs", []);
});
effect(() => {
  const { note: id } = address.value;
  if (vaultId.value && id && id !== current) show(id);
});
effect(() => {
  const read = note.value;
  const tab = tabs.value.find(({ id }) => id === read?.id);
  if (!read || !tab || (tab.title === read.title && tab.path === read.path)) return;
  const { id, title, path, type } = read;
  keep(tabs.peek().map((other) => (other === tab ? { id, title, path, type } : other)));
});

/**
 * Close the tab of a note. If it is shown, the next one is.
 * @param {string} id
 * @param {Parameters<typeof go>[1]} [how]
 */
export function closeTab(id, how) {
  const index = tabs.peek().findIndex((tab) => tab.id === id);
  if (index < 0) return;
  keep(tabs.peek().filter((tab) => tab.id !== id));
  if (id !== address.peek().note) return;
  const next = tabs.peek()[index] ?? tabs.peek().at(-1);
  current = next?.id ?? "";
  go({ note: current }, how);
}

/** Show the tab so many places further. @param {number} step */
export function stepTab(step) {
  const list = tabs.peek();
  const index = list.findIndex((tab) => tab.id === current);
  if (list.length) go({ view: "notes", note: list[(Math.max(0, index) + step + list.length) % list.length].id });
}

/**
 * Open the note of a link in a tab of its own. Return whether the link leads to a note here.
 * @param {HTMLAnchorElement} link
 */
export function openBeside(link) {
  const to = parseAddress(link.hash);
  if (!to.note || to.view !== "notes" || to.vault !== address.peek().vault) return false;
  beside = to.note !== current;
  go({ view: "notes", note: to.note, at: to.at, near: "", depth: "" });
  return true;
}
