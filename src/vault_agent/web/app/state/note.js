// The note that is read: rendered by the server, kept for a while, and followed as it changes. It follows the address
// once this module is loaded: with the first note, or a dialog that uses it.

import { effect, signal } from "../../vendor/preact.js";
import { ask, newestOnly } from "../wire.js";
import { address, go, identify, knowPath, showPath } from "./address.js";
import { nameOf, withoutEnding } from "./query.js";
import { results } from "./results.js";
import { forgetNote, noteMoved, rememberNote } from "./settings.js";
import { health, lately, mayWrite, revision, touched } from "./vault.js";

/**
 * @typedef {{
 *   id: string,
 *   path: string,
 *   title: string,
 *   type: string | null,
 *   tags: string[],
 *   date: string | null,
 *   html: string,
 *   source: string | null,
 *   pieces: number,
 *   outline: { level: number, text: string, id: string }[],
 *   properties: Wire.ShownProperty[],
 *   tag: string | null,
 *   hash: string | null,
 *   isBroken: boolean,
 * }} Note `isBroken`: its frontmatter could not be read
 */

/** Whether a file is a note. Of an attachment, only the text is shown. @param {{ path: string } | null} file */
export const isNote = (file) => !file || withoutEnding(file.path) !== file.path;

const KEPT = 30;
/** The note that was shown until it went. */
let lost = { id: "", hash: /** @type {string | null} */ (null) };
/** @type {Map<string, Note>} */
const cache = new Map();

export const note = signal(/** @type {Note | null} */ (null));
export const noteFault = signal(/** @type {Fault | null} */ (null));

/** The value of a property as it is shown: of a link, its name. @param {Wire.PropertyValue} value */
export const valueName = ({ text }) => text.replace(/\[\[(?:[^\]|]*\|)?([^\]]*)\]\]$/, "$1");

/** @param {Wire.ShownProperty[]} properties @param {...string} keys @returns {string[]} */
const valuesOf = (properties, ...keys) =>
  properties.filter(({ key }) => keys.includes(key)).flatMap(({ values }) => values.map(valueName));

/** @param {string} id @param {Omit<Wire.RenderedNote, "assets">} data @param {string | null} tag @returns {Note} */
function fromReply(id, data, tag) {
  const { properties } = data;
  const row = results.peek().rows.find((result) => result.id === id);
  const tags = valuesOf(properties, "tags", "tag").map((name) => name.replace(/^#/, ""));
  return {
    id,
    path: data.path,
    title: data.title,
    type: valuesOf(properties, "type")[0] ?? null,
    tags: [...new Set([...tags, ...(row?.tags ?? [])])],
    date: valuesOf(properties, "updated", "date", "created")[0] ?? data.updated ?? row?.date ?? null,
    html: data.html,
    source: null,
    pieces: 1,
    outline: data.outline,
    properties,
    tag,
    hash: data.contentHash,
    isBroken: false,
  };
}

/**
 * Ask for a note, or know that the kept one is still right.
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Note>}
 */
export async function readNote(id, signal) {
  const cached = cache.get(id);
  try {
    const { data, tag, warnings } = await ask("GET", `/notes/${id}/html`, { signal, etag: cached?.tag });
    if (!data && cached) return keep(cached);
    const isBroken = warnings.some(({ code }) => code === "FRONTMATTER_PARSE_FAILED");
    return keep({ ...fromReply(data.noteId ?? id, data, tag), isBroken });
  } catch (error) {
    if (/** @type {Fault} */ (error).code !== "NOTE_TOO_LARGE_TO_RENDER") throw error;
    const { data } = await ask("GET", `/notes/${id}`, { signal, query: { piece: 0 }, patience: 60_000 });
    const { type, tags, updated, date, created } = data.metadata;
    const made = fromReply(data.id, { ...data, noteId: data.id, updated, html: "", outline: [], properties: [] }, null);
    return {
      ...made,
      type,
      tags: [...tags],
      date: updated ?? date ?? created ?? made.date,
      source: data.content,
      pieces: data.pieces ?? 1,
      tag: data.contentHash,
    };
  }
}

/**
 * The next piece of the source of a note that is too large to render.
 * @param {Note} read
 * @param {number} piece
 * @returns {Promise<string>}
 */
export async function readPiece(read, piece) {
  const { data } = await ask("GET", `/notes/${read.id}`, { query: { piece }, patience: 60_000 });
  if (data.contentHash !== read.tag) reopen(); // the file has changed: begin again
  return data.content;
}

/** @param {Note} read */
function keep(read) {
  knowPath(read.id, read.path);
  cache.delete(read.id);
  cache.set(read.id, read);
  if (cache.size > KEPT) cache.delete(/** @type {string} */ (cache.keys().next().value));
  return read;
}

/** Go to where a note was moved to, as the log of writes knows it. Return whether it does. @param {string} id */
async function followMove(id) {
  if (!mayWrite.peek()) return false;
  const reply = await ask("GET", "/writes", { query: { limit: 200 } }).catch(() => null);
  let [moved, path] = [id, ""];
  for (const { files } of [...(reply?.data.writes ?? [])].reverse())
    for (const file of files)
      if (file.before && identify(file.before) === moved) [moved, path] = [identify(file.path), file.path];
  if (moved === id) return false;
  noteMoved(id, { id: moved, title: nameOf(path), path, type: null });
  knowPath(moved, path);
  if (address.peek().note === id) go({ note: moved }, { replace: true });
  return true;
}

/**
 * Go to the note that has the text of one that is gone, if it is the only one of those that have just changed.
 * @param {string} id @param {string | null | undefined} hash of its file
 */
async function followText(id, hash) {
  if (address.peek().edit) return false; // the editor has what is typed, and looks itself
  const others = lately.filter((other) => other !== id);
  const notes = hash ? await Promise.all(others.map((other) => readNote(other).catch(() => null))) : [];
  const [match, ...more] = notes.filter((read) => read?.hash === hash);
  if (!match || more.length || address.peek().note !== id) return false;
  noteMoved(id, match);
  go({ note: match.id }, { replace: true });
  return true;
}

const open = newestOnly(async (abort, /** @type {string} */ id) => {
  noteFault.value = null;
  const cached = cache.get(id);
  if (cached && note.peek()?.id !== id) note.value = cached;
  try {
    const read = await readNote(id, abort);
    if (abort.aborted) return;
    if (note.peek()?.id !== id || note.peek()?.html !== read.html || note.peek()?.tag !== read.tag) note.value = read;
    if (address.peek().note === id) showPath();
    rememberNote({ id, title: read.title, path: read.path, type: read.type });
  } catch (error) {
    if (abort.aborted) return;
    noteFault.value = /** @type {Fault} */ (error);
    if (/** @type {Fault} */ (error).status === 404) {
      cache.delete(id);
      if (cached) lost = { id, hash: cached.hash };
      if (await followMove(id)) return;
      if (lost.id !== id)
        forgetNote(id); // also when the person has gone on meanwhile
      else if (await followText(id, lost.hash)) return;
      if (abort.aborted) return;
    }
    if (!cached || /** @type {Fault} */ (error).status === 404) note.value = null;
  }
});

/** Ask again for the note. */
export const reopen = async () => void (address.peek().note && (await open(address.peek().note)));

let shownId = "";
effect(() => {
  const { note: id } = address.value;
  if (!health.value || id === shownId) return;
  shownId = id;
  if (id) {
    void open(id);
  } else {
    open.stop();
    note.value = null;
    noteFault.value = null;
  }
});
effect(() => {
  if (!revision.value) return;
  const ids = touched.peek();
  const isGone = noteFault.peek()?.status === 404; // it may come back, or be found
  if (shownId && (isGone || ids === null || ids.includes(shownId))) void open(shownId);
});
