// What the page shows is its address: Back, a bookmark and a second window show the same.

import { signal } from "../../vendor/preact.js";
import { place, serverId } from "../wire.js";

/** @typedef {{ view: string, note: string, at: string, line: string, q: string, type: string[], tag: string[],
 *   path: string[], after: string, before: string, linked: string, tasks: string, sort: string,
 *   near: string, depth: string, edit: string, project: string[], session: string, vault: string }} Address */

export const LISTS = /** @type {const} */ (["type", "tag", "path", "project"]);
const TEXTS = /** @type {const} */ ([
  "at",
  "line",
  "q",
  "after",
  "before",
  "linked",
  "tasks",
  "sort",
  "near",
  "depth",
  "edit",
  "session",
  "vault",
]);
export const FILTERS = /** @type {const} */ (["type", "tag", "path", "after", "before", "linked", "tasks", "project"]);
export const VIEWS = ["notes", "graph", "memory", "jobs", "settings"];

/** Read `#/view/note?query`. @param {string} hash @returns {Address} */
export function parsed(hash) {
  const [, view = "", note = "", query = ""] = /^#?\/?([\w-]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(hash) ?? [];
  const values = new URLSearchParams(query);
  const found = /** @type {Address} */ ({
    view: VIEWS.includes(view) ? view : "notes",
    note: /^[0-9a-f]{32}$/.test(note) ? note : "",
  });
  for (const name of TEXTS) found[name] = values.get(name) ?? "";
  for (const name of LISTS) found[name] = values.getAll(name);
  if (found.view === "graph" && found.note) found.near = found.near === "all" ? "" : found.near || found.note;
  return found;
}

/** @param {Partial<Address>} given */
export function written(given) {
  const values = new URLSearchParams();
  for (const name of TEXTS) if (given[name]) values.set(name, given[name]);
  for (const name of LISTS) for (const each of given[name] ?? []) values.append(name, each);
  if (given.view === "graph" && given.note && !given.near) values.set("near", "all");
  const query = values.size ? `?${values}` : "";
  return `#/${given.view || "notes"}${given.note ? `/${given.note}` : ""}${query}`;
}

export const address = signal(parsed(location.hash));
/** Why the address last changed: "go", "back" (or forward) or "start". */
export const arrival = signal("start");
/** What this entry of the history remembered of the note: `top` is the line of the file at the top of the view. @typedef {{ scroll?: number, heading?: string, top?: number }} Kept */
export const remembered = signal(/** @type {Kept} */ (history.state ?? {}));

/** The address with changes. @param {Partial<Address>} changes */
export const changed = (changes) => written({ ...address.peek(), line: "", ...changes });

/** An address in a vault: of a note there, or its list. The server's own vault has no name in addresses.
 * @param {string} vault its identity @param {string} [note] */
export const addressIn = (vault, note = "") =>
  written({ view: "notes", note, vault: vault === serverId() ? "" : vault });

/**
 * Go to an address. `replace` adds no entry to the history: for what is typed.
 * @param {Partial<Address>} changes @param {{ replace?: boolean, kept?: Kept }} [how] `kept` goes with the new entry
 */
export function go(changes, { replace = false, kept } = {}) {
  const next = { ...address.peek(), ...changes };
  if ("note" in changes || "at" in changes) [next.at, next.line] = [changes.at ?? "", changes.line ?? ""];
  if ("note" in changes && !("edit" in changes)) next.edit = "";
  const text = written(next);
  if (text === written(address.peek())) return;
  if (!replace) leaving();
  const state = kept ?? (replace ? history.state : {});
  if (replace) history.replaceState(state, "", text);
  else history.pushState(state, "", text);
  arrival.value = "go";
  remembered.value = kept ?? (replace ? remembered.peek() : {});
  show(next);
}

/** Show an address. Another vault begins the page anew. @param {Address} next */
function show(next) {
  if (next.vault === place) address.value = next;
  else location.reload();
}

/** Keep something with this entry of the history. @param {Kept} values */
export function remember(values) {
  history.replaceState({ ...history.state, ...values }, "");
}

/** What to do before the address changes, such as to remember the scroll. */
let leaving = () => {};
/** @param {() => void} run */
export const beforeLeaving = (run) => void (leaving = run);
addEventListener(
  "click",
  (event) => event.target instanceof Element && event.target.closest('a[href^="#"]') && leaving(),
  true,
);

addEventListener("popstate", () => {
  arrival.value = "back";
  remembered.value = history.state ?? {};
  show(parsed(location.hash));
});
