// Text that is not on disk yet, kept by the browser for this vault until it is.

import { signal } from "../../vendor/preact.js";
import { vaultId } from "../wire.js";

/**
 * @typedef {{ id: string, path: string, title: string, text: string, base: string, hash: string, at: number }} Draft
 */

const [NAME, STORE] = ["vault-agent", "drafts"];
const KEPT = 30 * 86_400_000; // ms
/** @type {Promise<IDBDatabase | null> | null} */
let opening = null;
/** Whether the browser keeps drafts: not in some private windows. */
export let kept = true;

/** @returns {Promise<IDBDatabase | null>} */
function opened() {
  opening ??= new Promise((done) => {
    const failed = () => {
      kept = false;
      done(null);
    };
    try {
      const asked = indexedDB.open(NAME, 1);
      asked.onupgradeneeded = () => asked.result.createObjectStore(STORE);
      asked.onsuccess = () => done(asked.result);
      asked.onerror = failed;
      asked.onblocked = failed;
    } catch {
      failed();
    }
  });
  return opening;
}

/** @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest} act @returns {Promise<any>} */
async function run(mode, act) {
  const database = await opened();
  if (!database) return undefined;
  return new Promise((done) => {
    const failed = () => {
      if (mode === "readwrite") kept = false;
      done(undefined);
    };
    try {
      const asked = act(database.transaction(STORE, mode).objectStore(STORE));
      asked.onsuccess = () => {
        if (mode === "readwrite") kept = true;
        done(asked.result);
      };
      asked.onerror = failed;
    } catch {
      failed();
    }
  });
}

/** @param {string} id */
const keyOf = (id) => `${vaultId.peek()}/${id}`;

/** Keep a draft. Resolves to whether that was possible. @param {Draft} draft */
export async function keepDraft(draft) {
  await run("readwrite", (store) => store.put(draft, keyOf(draft.id)));
  if (!drafts.peek().some(({ id }) => id === draft.id)) await readDrafts();
  return kept;
}

/** @param {string} id @returns {Promise<Draft | undefined>} */
export async function draftOf(id) {
  const found = await run("readonly", (store) => store.get(keyOf(id)));
  if (found && Date.now() - found.at > KEPT) return void dropDraft(id);
  return found;
}

/** @param {string} id */
export async function dropDraft(id) {
  await run("readwrite", (store) => store.delete(keyOf(id)));
  await readDrafts();
}

/** The drafts of this vault, the latest first. */
export const drafts = signal(/** @type {Draft[]} */ ([]));

/** Ask the browser which drafts it keeps. */
export async function readDrafts() {
  const all = await run("readonly", (store) => store.getAll(IDBKeyRange.bound(keyOf(""), keyOf("~"))));
  drafts.value = /** @type {Draft[]} */ (all ?? [])
    .filter(({ at }) => Date.now() - at <= KEPT)
    .sort((one, other) => other.at - one.at);
}
