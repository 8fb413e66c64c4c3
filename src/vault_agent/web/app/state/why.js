// Why a result of the search is where it is. The server is asked for that only when somebody wants to know.

import { ask } from "../wire.js";
import { question, results } from "./results.js";
import { revision } from "./vault.js";

/** @typedef {{ hits: Wire.Hit[], cursor: string | null, more: boolean }} Explained */

/** What was explained of the search that is shown: each note once, as in the list. */
let known = /** @type {Explained & { search: string }} */ ({ search: "", hits: [], cursor: null, more: true });

/** Return the result that is a note, and its place from 1 on. None if the results have changed since.
 * @param {string} id @param {AbortSignal} abort @returns {Promise<{ hit: Wire.Hit, place: number } | null>} */
export async function explained(id, abort) {
  const { key, mode } = results.peek();
  const search = `${mode} ${revision.peek()} ${key}`;
  if (known.search !== search) known = { search, hits: [], cursor: null, more: true };
  const own = known;
  for (;;) {
    const at = own.hits.findIndex((hit) => hit.noteId === id);
    if (at >= 0) return { hit: own.hits[at], place: at + 1 };
    if (!own.more) return null;
    const body = { ...question(), mode, explain: true, ...(own.cursor && { cursor: own.cursor }) };
    const { data } = await ask("POST", "/search", { body, signal: abort });
    for (const hit of /** @type {Wire.Answer} */ (data).results)
      if (!own.hits.some((each) => each.noteId === hit.noteId)) own.hits.push(hit);
    own.more = data.hasMore;
    own.cursor = data.nextCursor;
  }
}
