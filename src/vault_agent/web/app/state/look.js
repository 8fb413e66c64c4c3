// The filter of the graph by a query, kept in this browser for each vault.

import { effect, signal } from "../../vendor/preact.js";
import { ask, newestOnly, vaultId } from "../wire.js";
import { filtersOf, splitQuery } from "./query.js";
import { readOfVault, writeOfVault } from "./settings.js";
/** @import { Graph } from "./graph.js" */
/** @import { Filters } from "./query.js" */

export const query = signal("");
effect(() => {
  if (vaultId.value) query.value = readOfVault("graph", { query: "" }).query;
});

/** @param {string} text */
export function setQuery(text) {
  query.value = text;
  writeOfVault("graph", { query: text });
}

/**
 * What a query finds among the nodes of a graph. `cut`: only the best results of its words are known.
 * @typedef {{ mask: Uint8Array, count: number, cut: boolean, fault: Fault | null }} Match
 */

/** What the query found, or null without one. While another is asked for, this stays. */
export const matched = signal(/** @type {Match | null} */ (null));

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
    for (const hit of /** @type {Wire.Answer} */ (data).results) ids.add(hit.noteId);
    cursor = data.hasMore && data.results.length && ids.size < MOST ? data.nextCursor : null;
  } while (cursor);
  return ids;
}

/**
 * The nodes that pass the filters of a query and have its words in the title or in the text.
 * @param {Graph} of @param {string} query @param {AbortSignal} signal @returns {Promise<Match>}
 */
async function findMatch({ ids, titles }, query, signal) {
  const { rest, filters: by } = splitQuery(query);
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
  ids.forEach((id, node) => {
    if (id === null || (inside && !inside.has(id))) return;
    const title = titles[node].toLocaleLowerCase();
    if (hits && !hits.has(id) && !parts?.every((part) => title.includes(part))) return;
    mask[node] = 1;
    count += 1;
  });
  return { mask, count, cut: Boolean(hits && hits.size >= MOST), fault: null };
}

/** Ask what a query finds in a graph. */
export const match = newestOnly(async (abort, /** @type {Graph} */ of, /** @type {string} */ text) => {
  if (!text) {
    matched.value = null;
    return;
  }
  try {
    const next = await findMatch(of, text, abort);
    if (!abort.aborted) matched.value = next;
  } catch (error) {
    if (abort.aborted) return;
    const mask = matched.peek()?.mask ?? new Uint8Array(of.ids.length).fill(1);
    matched.value = { mask, count: 0, cut: false, fault: /** @type {Fault} */ (error) };
  }
});
