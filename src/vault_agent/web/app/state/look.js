// How the graph is shown in this browser, kept for each vault: its filter and its groups.

import { effect, signal } from "../../vendor/preact.js";
import { ask, newestOnly, vaultId } from "../wire.js";
import { filtersOf, split } from "./query.js";
import { readOfVault, writeOfVault } from "./settings.js";
/** @import { Graph } from "./graph.js" */
/** @import { Filters } from "./query.js" */

/**
 * Notes of one colour: those that a query finds. `colour` is the number of a token.
 * @typedef {{ query: string, colour: number }} Group
 */
/** @typedef {{ query: string, groups: Group[] }} Look */

/** @type {Look} */
export const USUAL = { query: "", groups: [] };
export const look = signal(USUAL);
effect(() => {
  if (vaultId.value) look.value = { ...USUAL, ...readOfVault("graph", {}) };
});

/** @param {Partial<Look>} changes */
export function setLook(changes) {
  look.value = { ...look.peek(), ...changes };
  writeOfVault("graph", look.peek());
}

/**
 * What a query finds among the nodes of a graph. `cut`: only the best results of its words are known.
 * @typedef {{
 *   ids: Graph["ids"],
 *   mask: Uint8Array,
 *   count: number,
 *   cut: boolean,
 *   fault: Fault | null,
 * }} Match
 */

/** What each query found. */
export const matches = signal(/** @type {Map<string, Match>} */ (new Map()));

const PAGE = 50;
const MOST = 200; // results of a search

/** The notes that pass filters, as the server understands them. @param {Filters} by @param {AbortSignal} signal */
async function passing(by, signal) {
  if (!by.project.length) {
    const { data } = await ask("GET", "/graph", { query: filtersOf(by), signal, patience: 30_000 });
    return new Set(/** @type {Wire.WholeGraph} */ (data).nodes.id);
  }
  const ids = new Set(/** @type {(string | null)[]} */ ([])); // the graph knows no projects, but lists do
  let cursor = /** @type {string | null} */ (null);
  do {
    const { data } = await ask("GET", "/notes", { query: { ...by, limit: MOST, cursor }, signal });
    for (const { noteId } of data.notes) ids.add(noteId);
    cursor = data.nextCursor;
  } while (cursor);
  return ids;
}

/**
 * The notes with all words of a text, as far as the server lists them.
 * @param {string} text
 * @param {Filters} by
 * @param {AbortSignal} signal
 */
async function having(text, by, signal) {
  const ids = new Set(/** @type {string[]} */ ([]));
  let cursor = /** @type {string | null} */ (null);
  do {
    const filters = { ...filtersOf(by), projects: by.project };
    const body = { query: text, match: "all", limit: PAGE, filters, ...(cursor && { cursor }) };
    const { data } = await ask("POST", "/search", { body, signal });
    for (const each of /** @type {Wire.Answer} */ (data).results) ids.add(each.noteId);
    cursor = data.hasMore && data.results.length && ids.size < MOST ? data.nextCursor : null;
  } while (cursor);
  return ids;
}

/**
 * The nodes that pass the filters of a query and have its words in the title or in the text.
 * @param {Graph} of @param {string} query @param {AbortSignal} signal @returns {Promise<Match>}
 */
async function found({ ids, titles }, query, signal) {
  const { rest, found: by } = split(query);
  const text = rest.trim();
  const filtered = Boolean(
    by.type.length || by.tag.length || by.path.length || by.project.length || by.after || by.before,
  );
  const [inside, hits] = await Promise.all([
    filtered ? passing(by, signal) : null,
    text ? having(text.slice(0, 1000), by, signal) : null,
  ]);
  // A part of a word is found in titles only. What the server takes for more than words is left to it.
  const parts = /["[(]|(^|\s)-/.test(text) ? null : text.toLocaleLowerCase().split(/\s+/);
  const mask = new Uint8Array(ids.length);
  let count = 0;
  ids.forEach((id, at) => {
    if (id === null || (inside && !inside.has(id))) return;
    const title = titles[at].toLocaleLowerCase();
    if (hits && !hits.has(id) && !parts?.every((part) => title.includes(part))) return;
    mask[at] = 1;
    count += 1;
  });
  return { ids, mask, count, cut: Boolean(hits && hits.size >= MOST), fault: null };
}

/** Ask what queries find in a graph, one after another; what is known of it already is kept. */
export const match = newestOnly(async (abort, /** @type {Graph} */ of, /** @type {string[]} */ queries) => {
  const known = [...matches.peek()].filter(([query, { ids }]) => queries.includes(query) && ids === of.ids);
  matches.value = new Map(known);
  for (const query of new Set(queries)) {
    if (matches.peek().has(query)) continue;
    /** @type {Match} */
    let next;
    try {
      next = await found(of, query, abort);
    } catch (error) {
      if (abort.aborted) return;
      const fault = /** @type {Fault} */ (error);
      next = { ids: of.ids, mask: new Uint8Array(of.ids.length), count: 0, cut: false, fault };
    }
    if (abort.aborted) return;
    matches.value = new Map(matches.peek()).set(query, next);
  }
});
