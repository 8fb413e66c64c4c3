// The files of the vault: the tree of folders, what is in the open ones, and what changes them.

import { computed, effect, signal } from "../../vendor/preact.js";
import { onNews } from "../events.js";
import { ask, vaultId } from "../wire.js";
import { collator } from "../words.js";
import { folderOf, lastOf, nameOf } from "./query.js";
import { readOfVault, writeOfVault } from "./settings.js";
import { revision } from "./vault.js";

const PAGE = 200;

/** A line of the tree. `file` is an attachment, `rest` stands for the notes of a folder that are not asked for yet.
 * @typedef {{ kind: "folder" | "note" | "file" | "rest", key: string, path: string, name: string, depth: number,
 *   open: boolean, count: number, id: string, at: number, of: number }} Line */

/** @typedef {{ notes: Wire.ListedNote[], cursor: string | null, beside: Wire.FolderContents | null }} Contents */

const folders = signal(/** @type {Wire.FolderBranch[]} */ ([]));
/** What is in the folders that were opened, by path; "" is the vault itself. */
const contents = signal(/** @type {Record<string, Contents>} */ ({}));
const open = signal(/** @type {string[]} */ ([]));
export const fault = signal(/** @type {Fault | null} */ (null));
export const hasTree = signal(false);

effect(() => {
  if (vaultId.value) open.value = readOfVault("folders", []);
});

/**
 * The folders in a folder: those with notes, and those without.
 * @param {Wire.FolderBranch[]} counted
 * @param {string} path
 */
function foldersIn(counted, path) {
  const names = new Set(counted.map(({ folder }) => folder));
  const others = (contents.value[path]?.beside?.folders ?? []).filter((folder) => !names.has(folder));
  return [...counted, ...others.map((folder) => ({ folder, count: 0, total: 0, children: [] }))].sort((a, b) =>
    collator.compare(a.folder, b.folder),
  );
}

/** The lines of the tree, from the top. */
export const lines = computed(() => {
  /** @type {Line[]} */
  const rows = [];
  /** @param {string} path @param {Wire.FolderBranch[]} children @param {number} depth */
  const add = (path, children, depth) => {
    const { notes = [], cursor = null, beside = null } = contents.value[path] ?? {};
    const inside = foldersIn(children, path);
    const listed = new Set(notes.map((note) => note.path)); // attachments whose text is searched are notes here
    const files = (cursor ? [] : (beside?.attachments ?? []))
      .filter((file) => !listed.has(file.path))
      .sort((a, b) => collator.compare(a.name, b.name));
    const of = inside.length + notes.length + files.length + (cursor ? 1 : 0);
    let position = 0;
    /** @param {Partial<Line> & { kind: Line["kind"], key: string, path: string, name: string }} line */
    const push = (line) => rows.push({ depth, open: false, count: 0, id: "", at: (position += 1), of, ...line });
    for (const { folder, total, children: below } of inside) {
      const isOpen = open.value.includes(folder);
      push({
        kind: "folder",
        key: `${folder}/`,
        path: folder,
        name: lastOf(folder),
        open: isOpen,
        count: total,
      });
      if (isOpen) add(folder, below, depth + 1);
    }
    for (const { noteId, path: file } of notes)
      push({ kind: "note", key: noteId, path: file, name: nameOf(file), id: noteId });
    for (const { path: file, name } of files) push({ kind: "file", key: file, path: file, name });
    if (cursor) push({ kind: "rest", key: `${path}?`, path, name: "" });
  };
  add("", folders.value, 1);
  return rows;
});

/** Ask for the next notes of a folder, or for its first ones. @param {string} path @param {boolean} [anew] */
async function fetchNotes(path, anew = false) {
  const before = anew ? undefined : contents.peek()[path];
  if (before && !before.cursor) return;
  // After a change, as many as were shown.
  const wanted = anew ? (contents.peek()[path]?.notes.length ?? 0) : (before?.notes.length ?? 0) + 1;
  let notes = before?.notes ?? [];
  let cursor = before?.cursor ?? null;
  // A folder that has just gone has nothing beside its notes.
  const attachments = anew
    ? ask("GET", "/attachments", { query: { folder: path } }).then(
        ({ data }) => data,
        () => null,
      )
    : null;
  do {
    const { data } = await ask("GET", "/notes", {
      query: { path: path ? [path] : [], recursive: false, sort: "path", limit: PAGE, cursor },
    });
    notes = [...notes, ...data.notes];
    cursor = data.nextCursor;
  } while (cursor && notes.length < wanted);
  const beside = attachments ? await attachments : (before?.beside ?? null);
  contents.value = { ...contents.peek(), [path]: { notes, cursor, beside } };
}

/** The text of an attachment. @param {string} path */
export async function readText(path) {
  const address = /** @type {const} */ (`/attachments/${path.split("/").map(encodeURIComponent).join("/")}`);
  const { data } = await ask("GET", address, { query: { download: true }, raw: true });
  return new TextDecoder().decode(/** @type {any} */ (data));
}

/** Do something, and keep what went wrong to show it. @param {() => Promise<unknown>} work */
async function attempt(work) {
  try {
    await work();
    fault.value = null;
  } catch (error) {
    fault.value = /** @type {Fault} */ (error);
  }
}

/** Ask for the tree, and for what is shown of it. */
export const readTree = () =>
  attempt(async () => {
    const tree = ask("GET", "/folders").then(({ data }) => {
      folders.value = data.folders.filter((branch) => branch.folder !== "");
      hasTree.value = true;
    });
    await Promise.all([tree, ...["", ...open.peek()].map((path) => fetchNotes(path, true))]);
  });

/** @param {string} path */
export const fetchRest = (path) => attempt(() => fetchNotes(path));

/** Open or close a folder. @param {string} path @param {boolean} isOpen */
export function unfold(path, isOpen) {
  open.value = isOpen ? [...open.peek(), path] : open.peek().filter((folder) => folder !== path);
  writeOfVault("folders", open.peek());
  if (isOpen) void attempt(() => fetchNotes(path, true));
}

const REVEALED = 10; // pages of a folder that are asked for to show one note

/** Open the folders above a note. @param {string} path */
export async function reveal(path) {
  const above = folderOf(path)
    .split("/")
    .filter(Boolean)
    .map((_, index, all) => all.slice(0, index + 1).join("/"));
  const shut = above.filter((parent) => !open.peek().includes(parent));
  if (shut.length) open.value = [...open.peek(), ...shut];
  await attempt(async () => {
    await Promise.all(shut.map((parent) => fetchNotes(parent, true)));
    const folder = folderOf(path);
    for (let page = 1; page < REVEALED; page += 1) {
      const { notes = [], cursor = null } = contents.peek()[folder] ?? {};
      if (!cursor || notes.some((note) => note.path === path)) return;
      await fetchNotes(folder);
    }
  });
}

/** Follow the index while the tree is shown. Return a function that stops it. */
export const followTree = () =>
  effect(() => {
    void revision.value;
    void readTree();
  });

/**
 * What a write did. One that changes many files is a job, and this waits for its end.
 * @typedef {{
 *   writeId: string | null,
 *   path: string,
 *   noteId: string | null,
 *   files: number,
 *   links: number,
 *   hash: string | null,
 * }} Done `hash`: of the file before
 */

/** @param {Wire.Written | Wire.OneJob} data @returns {Promise<Done>} */
async function whenDone(data) {
  if (!("job" in data)) {
    return {
      writeId: data.writeId,
      path: data.path,
      noteId: data.noteId,
      files: data.fileCount,
      links: data.spans,
      hash: data.hashBefore,
    };
  }
  const job = await awaitJob(data.job.id);
  if (job.error) throw Object.assign(new Error(job.error.message), job.error);
  const { writeId = null, changed = 0, links = 0 } = job.summary ?? {};
  return { writeId, path: "", noteId: null, files: changed, links: links ?? 0, hash: null };
}

/** Wait for the end of a job. @param {string} id @returns {Promise<Wire.Job>} */
async function awaitJob(id) {
  let stop = () => {};
  const heard = new Promise((resolve) => {
    stop = onNews(({ type, data }) => type === "job" && data.id === id && data.finishedAt && resolve(data));
  });
  const { data } = await ask("GET", `/jobs/${id}`);
  const job = data.job.finishedAt ? data.job : await heard;
  stop();
  return job;
}

const PATIENCE = 60_000; // ms; a move reads every note that may link to it

/** Say what a move would change. @param {string} path @param {string} to @param {AbortSignal} abort */
export const planMove = async (path, to, abort) =>
  whenDone(
    (await ask("POST", "/write/move", { body: { path, to, dryRun: true }, signal: abort, patience: PATIENCE })).data,
  );

/**
 * Move a file or a folder.
 * @param {string} path
 * @param {string} to
 * @param {string | null} hash of the file as it was planned
 * @param {string} key
 */
export const move = async (path, to, hash, key) =>
  whenDone(
    (
      await ask("POST", "/write/move", {
        body: { path, to, expectedHash: hash, idempotencyKey: key },
        patience: PATIENCE,
      })
    ).data,
  );

/** Make a folder. @param {string} path @param {string} key */
export const makeFolder = async (path, key) =>
  (await ask("POST", "/write/folder", { body: { path, idempotencyKey: key } })).data;

/** Say how many links lead to a note. @param {string} path */
export const planRemoval = async (path) =>
  (await ask("POST", "/write/delete", { body: { path, dryRun: true, confirm: true }, patience: PATIENCE })).data;

/** Move a note to the trash. @param {string} path @param {string | null} hash of the note as it was planned */
export const remove = async (path, hash) =>
  (await ask("POST", "/write/delete", { body: { path, expectedHash: hash, confirm: true }, patience: PATIENCE })).data;

/** Take a write back. @param {string} writeId */
export const undo = async (writeId) =>
  whenDone((await ask("POST", "/write/undo", { body: { writeId }, patience: PATIENCE })).data);

/** A key by which the server knows a write that it has done already. */
export const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
