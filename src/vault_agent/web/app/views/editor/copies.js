// Notes that are made of a text which cannot stay where it was.

import { editing, goOn, wholeText } from "../../state/editing.js";
import { clockName, dayName } from "../../state/stamp.js";
import { makeCopy } from "../../state/templates.js";
import { later } from "../../later.js";

/** A path that is not taken, most likely. @param {string} path */
export function copyPath(path) {
  const now = new Date();
  return path.replace(/\.[^./]*$|$/, ` (${later.edit.conflict.suffix} ${dayName(now)} ${clockName(now)}).md`);
}

/** Write the text of a note that is gone to a new one. */
export async function saveAsNew() {
  const open = editing.peek();
  if (!open) return null;
  const text = wholeText();
  const made = await makeCopy(open.path, text).catch((error) =>
    error.code === "NOTE_EXISTS" ? makeCopy(copyPath(open.path), text) : Promise.reject(error),
  );
  goOn({ id: made.noteId, path: made.path }, made.hashAfter, text);
  return made;
}
