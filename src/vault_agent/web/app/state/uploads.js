// Files that are added to the vault from the page.

import { ask } from "../wire.js";
import { folderOf, lastOf } from "./query.js";
import { clockName, dayName } from "./days.js";
import { fileName } from "./templates.js";

export const LARGEST = 50 * 1024 * 1024; // bytes
const FOLDER = "attachments";
const TRIES = 50;
const TYPES = /** @type {Record<string, string>} */ ({
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "image/avif": "avif",
  "application/pdf": "pdf",
});
const SHOWN = /\.(png|jpe?g|gif|webp|avif|svg|mp3|ogg|wav|m4a|mp4|webm|pdf)$/i;

/** A name for a file, safe on every system; one without a name has the time. @param {File} file */
export function nameForUpload(file) {
  const [, stem = "", end = ""] = /^(.*?)(\.[A-Za-z0-9]{1,8})?$/s.exec(file.name) ?? [];
  const extension = end || (TYPES[file.type] ? `.${TYPES[file.type]}` : "");
  const pasted = !stem || /^image$/i.test(stem);
  const now = new Date();
  const time = `${dayName(now).replaceAll("-", "")}${clockName(now)}`;
  return `${fileName(pasted ? `Pasted image ${time}` : stem) || "File"}${extension.toLowerCase()}`;
}

/**
 * Add a file beside a note, in `attachments`. A name that is taken gets a number. Return the link to it.
 * @param {File} file @param {{ id: string, path: string }} note
 */
export async function upload(file, note) {
  const name = nameForUpload(file);
  const folder = [folderOf(note.path), FOLDER].filter(Boolean).join("/");
  const [, stem, end] = /** @type {RegExpExecArray} */ (/^(.*?)(\.[^.]*)?$/.exec(name));
  for (let number = 1; ; number += 1) {
    const path = `${folder}/${stem}${number > 1 ? ` ${number}` : ""}${end ?? ""}`;
    try {
      await ask("POST", "/write/attachment", { query: { path }, bytes: file, patience: 300_000 });
      const short = lastOf(path);
      const { data } = await ask("GET", "/suggest", {
        query: { q: short, kinds: "attachment", from: note.id, limit: 50 },
      });
      // The new file may not be suggested yet. Its name is enough if no other file has it.
      const isAmbiguous = data.suggestions.some(
        (other) =>
          other.path !== path &&
          other.path?.toLowerCase().endsWith(`/${short}`.toLowerCase().slice(other.path.includes("/") ? 0 : 1)),
      );
      const target = data.suggestions.find((hit) => hit.path === path)?.insert ?? (isAmbiguous ? path : short);
      return `${SHOWN.test(path) ? "!" : ""}[[${target}]]`;
    } catch (error) {
      const { code } = /** @type {Fault} */ (error);
      if ((code !== "NOTE_EXISTS" && code !== "NAME_COLLISION") || number >= TRIES) throw error;
    }
  }
}
