// Folders of the vault, as a person begins to type one.

import { ask } from "../wire.js";

/** @param {string} text @param {AbortSignal} signal */
export async function foldersLike(text, signal) {
  const { data } = await ask("GET", "/suggest", { query: { q: text, kinds: "folder", limit: 8 }, signal });
  return data.suggestions.map((each) => ({ value: each.insert, label: each.insert }));
}
