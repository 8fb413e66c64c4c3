// Why a result of the search is where it is. The server is asked for that only when somebody wants to know.

import { once, page, results } from "./results.js";
import { revision } from "./vault.js";
/** @import { Row } from "./results.js" */

/** The rows of the search that is shown, with explanations. */
let known = { search: "", rows: /** @type {Row[]} */ ([]), cursor: /** @type {string | null} */ (null), more: true };

/** Return the explained result that is a note, and its place from 1 on. None if the results have changed since.
 * @param {string} id @param {AbortSignal} abort @returns {Promise<{ hit: Wire.Hit, place: number } | null>} */
export async function explained(id, abort) {
  const { key, mode } = results.peek();
  const search = `${mode} ${revision.peek()} ${key}`;
  if (known.search !== search) known = { search, rows: [], cursor: null, more: true };
  const own = known;
  for (;;) {
    const at = own.rows.findIndex((row) => row.id === id);
    if (at >= 0) return { hit: /** @type {Wire.Hit} */ (own.rows[at].hit), place: at + 1 };
    if (!own.more) return null;
    const next = await page(own.cursor, mode, abort, 0, true);
    own.rows = once([...own.rows, ...next.rows]);
    own.more = next.more;
    own.cursor = next.cursor;
  }
}
