// Follows one job until it ends.

import { parsed } from "../../events.js";
import { openStream } from "../../wire.js";

/**
 * Call `hear` with each state of a job. Return a function that stops it.
 * @param {string} id
 * @param {(job: Wire.Job) => void} hear
 */
export function follow(id, hear) {
  const abort = new AbortController();
  const read = async () => {
    let text = "";
    const reader = (await openStream(`/jobs/${id}/events`, null, abort.signal)).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      const last = parts.map(parsed).findLast((event) => event.type === "job");
      if (last && !abort.signal.aborted) hear(/** @type {Wire.Job} */ (last.data));
    }
  };
  read().catch(() => undefined); // the list of jobs says how it ended
  return () => abort.abort();
}
