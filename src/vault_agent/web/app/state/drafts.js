// Text that is not on disk yet, kept by the browser for this vault until it is.

import { signal } from "../../vendor/preact.js";
import { vaultId } from "../wire.js";
import { readOfVault, writeOfVault } from "./settings.js";

/**
 * @typedef {{ id: string, path: string, title: string, text: string, base: string, hash: string, at: number }} Draft
 */

const KEPT = 30 * 86_400_000; // ms

/** The drafts of this vault, the latest first. */
export const drafts = signal(/** @type {Draft[]} */ ([]));

/** Read which drafts the browser keeps: another page may have changed them. */
export function readDrafts() {
  const all = /** @type {Draft[]} */ (readOfVault("drafts", []));
  drafts.value = all.filter(({ at }) => Date.now() - at <= KEPT);
  return drafts.value;
}

/** @param {string} id @param {Draft[]} first @returns {boolean} whether the browser keeps them */
function replace(id, first) {
  const next = [...first, ...readDrafts().filter((draft) => draft.id !== id)];
  const isKept = writeOfVault("drafts", next);
  if (isKept) drafts.value = next;
  return isKept;
}

/** Keep a draft. Return whether that was possible: not in some private windows. @param {Draft} draft */
export const keepDraft = (draft) => replace(draft.id, [draft]);
/** @param {string} id */
export const dropDraft = (id) => void replace(id, []);
/** @param {string} id */
export const draftOf = (id) => readDrafts().find((draft) => draft.id === id);

/** Move the drafts of this vault from the database in which earlier programs kept them to the browser's storage. */
export async function takeOverDrafts() {
  const opening = indexedDB.open("vault-agent", 1);
  opening.onupgradeneeded = () => opening.transaction?.abort(); // there was no database
  opening.onsuccess = () => {
    const store = opening.result.transaction("drafts", "readwrite").objectStore("drafts");
    const prefix = `${vaultId.peek()}/`;
    const reading = store.getAll(IDBKeyRange.bound(prefix, `${prefix}~`));
    reading.onsuccess = () => {
      for (const draft of /** @type {Draft[]} */ (reading.result))
        if (draftOf(draft.id) || keepDraft(draft)) store.delete(`${prefix}${draft.id}`);
    };
  };
}

addEventListener("storage", readDrafts);
