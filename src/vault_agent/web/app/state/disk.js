// A note as it is on disk: read whole, and written whole.

import { ask } from "../wire.js";
/** @import { Outcome, Save } from "./saving.js" */

/**
 * A note that can be edited. `ending` is its line end.
 * @typedef {{ id: string, path: string, title: string, ending: string }} Open
 */

const PAUSES = new Set([
  "NOTE_BUSY",
  "SERVER_BUSY",
  "TOO_MANY_REQUESTS",
  "FILE_IN_USE",
  "DISK_FULL",
  "WRITE_CONFLICT",
  "INDEX_BUSY",
]);
const SLOW = 15; // seconds, where a person has to do something first
const LASTING = 15_000; // characters that a browser still sends when its page is closed

/** @param {string} text */
const lines = (text) => text.replace(/\r\n?/g, "\n");

/** Read a note. Lines end in LF, whatever they end in on disk. @param {string} id */
export async function readDisk(id) {
  const { data } = await ask("GET", `/notes/${id}`, { query: { allowLarge: true }, patience: 60_000 });
  /** @type {Open} */
  const open = { id, path: data.path, title: data.title, ending: data.content.includes("\r\n") ? "\r\n" : "\n" };
  return { open, text: lines(data.content), hash: data.contentHash };
}

/** @param {Open} open @param {string} text @param {string} hash */
const body = ({ id, ending }, text, hash) => ({
  noteId: id,
  mode: "overwrite",
  content: ending === "\n" ? text : text.replaceAll("\n", ending),
  expectedHash: hash,
});

/** @param {Open} open @param {Save} save @returns {Promise<Outcome>} */
export async function send(open, { text, hash, key }) {
  try {
    const { data } = await ask("POST", "/write/note", {
      body: { ...body(open, text, hash), idempotencyKey: key, waitMs: 0 },
      patience: 20_000,
      keepalive: text.length < LASTING,
    });
    return { kind: "saved", hash: data.hashAfter ?? hash };
  } catch (error) {
    const fault = /** @type {Fault} */ (error);
    if (fault.code === "HASH_MISMATCH") return { kind: "mismatch" };
    if (fault.status === 404) return { kind: "gone" };
    if (fault.code === "DISK_FULL") return { kind: "later", seconds: SLOW, fault };
    if (!fault.status || fault.status >= 500 || PAUSES.has(fault.code))
      return { kind: "later", seconds: /** @type {number | undefined} */ (fault.details?.retryAfter), fault };
    return { kind: "refused", fault };
  }
}

/**
 * Why a note may not be written, before anything is typed; or null.
 * @param {{ open: Open, text: string, hash: string }} disk
 */
export async function refusal({ open, text, hash }) {
  try {
    await ask("POST", "/write/note", { body: { ...body(open, text, hash), dryRun: true } });
  } catch (error) {
    const fault = /** @type {Fault} */ (error);
    if (
      fault.status >= 400 &&
      fault.status < 500 &&
      !PAUSES.has(fault.code) &&
      fault.code !== "HASH_MISMATCH" &&
      fault.status !== 404
    )
      return fault;
  }
  return null;
}
