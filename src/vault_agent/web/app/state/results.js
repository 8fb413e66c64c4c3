// The list of notes: all of them by pages, or the results of a search.

import { computed, effect, signal } from "../../vendor/preact.js";
import { ask, newestOnly } from "../wire.js";
import { timeOf } from "../words.js";
import { address, knowPath } from "./address.js";
import { filtersOf, inUnits, splitQuery, telling, tellingRanges } from "./query.js";
import { embeds, health, revision } from "./vault.js";

/**
 * @typedef {{
 *   id: string,
 *   path: string,
 *   title: string,
 *   type: string | null,
 *   tags: string[],
 *   date: string | null,
 *   text: string,
 *   ranges: [number, number][],
 *   connections: number | null,
 *   heading: string | null,
 *   at?: string,
 *   line?: string,
 *   hit?: Wire.Hit,
 * }} Row
 */

const PAGE = 100;
const BEST = 50;
const ADDRESS = 5000; // characters of paths in an address
const WORDS = 60; // that are marked
const SETTLED = 250; // ms after the last key, when the order by meaning replaces the one by words

const NOTHING = {
  rows: /** @type {Row[]} */ ([]),
  total: /** @type {number | null} */ (null),
  more: false,
  cursor: /** @type {string | null} */ (null),
  time: 0,
  mode: "",
  byMeaning: false, // no note has a word of the query
  indexedAt: /** @type {string | null} */ (null),
  key: "",
};
export const results = signal(NOTHING);
export const busy = signal(false);
export const fault = signal(/** @type {Fault | null} */ (null));
/** The row that the keys walk: its note. */
export const chosen = signal("");
/** The note of the row under the pointer. */
export const hovered = signal("");

/** What is asked for, apart from pages. */
export const criteria = computed(() => {
  const { q, type, tag, path, project, after, before, linked, tasks, sort } = address.value;
  const { rest, filters } = splitQuery(q);
  return {
    text: rest.trim(),
    type: [...type, ...filters.type],
    tag: [...tag, ...filters.tag],
    path: [...path, ...filters.path],
    project: [...project, ...filters.project],
    after: filters.after || after,
    before: filters.before || before,
    linked,
    tasks,
    sort,
  };
});
const key = computed(() => JSON.stringify(criteria.value));
export const searching = computed(() => criteria.value.text !== "");
export const filtered = computed(() => {
  const { type, tag, path, project, after, before, linked, tasks } = criteria.value;
  return Boolean(type.length || tag.length || path.length || project.length || after || before || linked || tasks);
});

/** The words by which the results were found, one a line: those that the server has marked in their texts. */
export const foundWords = computed(() => {
  if (!searching.value) return "";
  const words = /** @type {Set<string>} */ (new Set());
  for (const { text, ranges } of results.value.rows)
    for (const [start, end] of inUnits(text, ranges)) words.add(text.slice(start, end).toLowerCase());
  return telling([...words])
    .sort((one, other) => other.length - one.length)
    .slice(0, WORDS)
    .join("\n");
});

/** @param {Wire.ListedNote} note @returns {Row} */
const fromList = (note) => ({
  id: note.noteId,
  path: note.path,
  title: note.title,
  type: note.type,
  tags: note.tags,
  date: note.updated,
  text: note.excerpt,
  ranges: [],
  connections: note.connections,
  heading: null,
});

/** @param {Wire.Hit} result @returns {Row} */
const fromSearch = (result) => ({
  id: result.noteId,
  path: result.path,
  title: result.title,
  type: result.metadata.type,
  tags: result.metadata.tags,
  date: result.metadata.updated ?? result.metadata.date ?? result.metadata.created,
  text: result.snippet,
  ranges: tellingRanges(result.snippet, result.matches),
  connections: null,
  heading: result.heading && result.heading !== result.title ? result.heading : null,
  at: result.page ? `n-h-page-${result.page}` : "",
  line: result.page ? "" : String(result.line ?? ""),
  hit: result,
});

/** Each note once, at its best place. @param {Row[]} rows */
export function once(rows) {
  const seen = new Set();
  return rows.filter((row) => !seen.has(row.id) && seen.add(row.id));
}

/**
 * @param {string | null} cursor
 * @param {string | undefined} mode
 * @param {AbortSignal} signal
 * @param {number} [limit]
 * @param {boolean} [explain]
 * @returns {Promise<Omit<typeof NOTHING, "key">>}
 */
export async function page(cursor, mode, signal, limit = PAGE, explain = false) {
  const { text, type, tag, path, project, after, before, linked, tasks, sort } = criteria.peek();
  if (!text) {
    const query = { sort: sort || "updated", limit, type, tag, path, project, after, before, linked, tasks, cursor };
    const { data, time } = await ask("GET", "/notes", { query, signal });
    return {
      rows: data.notes.map(fromList),
      total: data.total,
      more: data.hasMore,
      cursor: data.nextCursor,
      time,
      mode: "",
      byMeaning: false,
      indexedAt: null,
    };
  }
  const filters = { ...filtersOf(criteria.peek()), projects: project };
  const body = { query: text.slice(0, 1000), limit: BEST, mode, filters, explain, ...(cursor && { cursor }) };
  const { data, time } = await ask("POST", "/search", { body, signal });
  const answer = /** @type {Wire.Answer} */ (data); // not the compact ones
  return {
    rows: answer.results.map(fromSearch),
    total: null,
    more: data.hasMore,
    cursor: data.nextCursor,
    time,
    mode: data.usedMode,
    byMeaning: Boolean(answer.unknown?.length) && answer.results.every((hit) => hit.reason === "embedding_match"),
    indexedAt: data.indexedAt ?? null,
  };
}

/** Keep rows that a person looks at where they are. @param {Row[]} before @param {Row[]} after */
function keepInPlace(before, after) {
  const rows = [...after];
  for (const id of new Set([hovered.peek(), chosen.peek()])) {
    const oldPlace = before.findIndex((row) => row.id === id);
    const newPlace = rows.findIndex((row) => row.id === id);
    if (oldPlace >= 0 && newPlace >= 0 && oldPlace < rows.length) rows.splice(oldPlace, 0, ...rows.splice(newPlace, 1));
  }
  return rows;
}

/** The results of a search as a person wants them: the best first, or the newest. @param {Row[]} rows */
const ordered = (rows) =>
  searching.peek() && criteria.peek().sort === "updated"
    ? [...rows].sort((one, other) => (timeOf(other.date) || 0) - (timeOf(one.date) || 0))
    : rows;

const load = newestOnly(async (abort, /** @type {{ quiet?: boolean }} */ { quiet = false } = {}) => {
  const wanted = key.peek();
  busy.value = !quiet;
  try {
    const first = await page(null, searching.peek() ? "lexical" : undefined, abort);
    if (abort.aborted) return;
    show(wanted, first, quiet);
    if (!searching.peek()) return;
    busy.value = embeds.peek();
    await new Promise((done) => setTimeout(done, SETTLED));
    if (abort.aborted) return;
    if (embeds.peek()) {
      const better = await page(null, "hybrid", abort);
      if (abort.aborted) return;
      show(wanted, better, true);
    }
    await connect(abort);
  } catch (error) {
    if (abort.aborted) return;
    fault.value = /** @type {Fault} */ (error);
  } finally {
    if (!abort.aborted) busy.value = false;
  }
});

/** Complete the rows of a search by what lists say of notes. @param {AbortSignal} signal */
async function connect(signal) {
  let left = ADDRESS;
  const path = results
    .peek()
    .rows.flatMap((row) => ((left -= encodeURIComponent(row.path).length) > 0 ? row.path : []));
  const reply = path.length && (await ask("GET", "/notes", { query: { path, limit: BEST }, signal }).catch(() => null));
  if (!reply || signal.aborted) return;
  const listed = new Map(reply.data.notes.map((note) => [note.noteId, note]));
  const rows = results.peek().rows.map((row) => {
    const note = listed.get(row.id);
    return note ? { ...row, date: row.date ?? note.updated, connections: note.connections } : row;
  });
  results.value = { ...results.peek(), rows: ordered(rows) };
}

/** @param {string} wanted @param {Awaited<ReturnType<typeof page>>} next @param {boolean} still */
function show(wanted, next, still) {
  const old = results.peek();
  const rows = ordered(once(next.rows));
  for (const { id, path } of rows) knowPath(id, path);
  fault.value = null;
  results.value = { ...next, key: wanted, rows: still && old.key === wanted ? keepInPlace(old.rows, rows) : rows };
}

const append = newestOnly(async (abort) => {
  const old = results.peek();
  try {
    const next = await page(old.cursor, old.mode || undefined, abort, 200);
    if (abort.aborted || results.peek() !== old) return;
    for (const { id, path } of next.rows) knowPath(id, path);
    results.value = { ...old, rows: ordered(once([...old.rows, ...next.rows])), more: next.more, cursor: next.cursor };
  } catch (error) {
    if (/** @type {Fault} */ (error).code === "CURSOR_EXPIRED") await load({ quiet: true });
    else fault.value = /** @type {Fault} */ (error);
  } finally {
    appending = false;
  }
});
let appending = false;

/** Fetch the next page, if there is one. */
export function fetchMore() {
  const current = results.peek();
  if (appending || !current.more || current.key !== key.peek() || fault.peek()) return;
  appending = true;
  void append();
}

/** Ask again for what is shown. */
export const reload = () => void load();

let shownRevision = 0;
/** Follow a new revision of the index, unless more than the first page is shown. */
export function refresh() {
  if (shownRevision === revision.peek()) return;
  if (results.peek().rows.length > PAGE) return;
  shownRevision = revision.peek();
  void load({ quiet: true });
}

/** Begin to follow the address. */
export function followAddress() {
  effect(() => {
    void key.value;
    if (searching.peek() && !health.value) return; // which says how to search
    appending = false;
    append.stop();
    void load();
  });
  effect(() => {
    if (revision.value) refresh();
  });
}
