// Days and times as names of files and notes have them, in the time of this place, and the notes of days.

import { ask } from "../wire.js";
import { DAY, folderOf, nameOf } from "./query.js";
const two = (/** @type {number} */ number) => String(number).padStart(2, "0");

/** A day, such as 2026-11-23. @param {Date} date */
export const dayName = (date) =>
  `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

/** A time of day to the second, such as 093005. @param {Date} date */
export const clockName = (date) => [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join("");

const MOST = 200;

/** The daily notes whose names begin so, by name. @param {string[]} starts such as 2026-11 */
export async function dailyNotes(...starts) {
  const path = starts.map((start) => `**/${start}-*`);
  const { data } = await ask("GET", "/notes", { query: { path, sort: "path", limit: MOST } });
  const days = new Map(/** @type {[string, { id: string, folder: string }][]} */ ([]));
  for (const { noteId, path } of data.notes)
    if (DAY.test(nameOf(path))) days.set(nameOf(path), { id: noteId, folder: folderOf(path) });
  return days;
}

/** The path of a new daily note, without its ending: beside the others of that year. @param {string} name */
export async function newDay(name) {
  const others = await dailyNotes(name.slice(0, 4)).catch(() => new Map());
  const last = [...others.keys()].sort().at(-1);
  const folder = last === undefined ? "" : others.get(last).folder;
  return folder ? `${folder}/${name}` : name;
}
