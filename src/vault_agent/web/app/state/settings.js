// What this browser remembers: the look, and what was opened last. Nothing of it is sent.

import { effect, signal } from "../../vendor/preact.js";
import { vaultId } from "../wire.js";

const DEFAULTS = {
  theme: /** @type {"system" | "light" | "dark"} */ ("system"),
  size: "",
  width: "",
  face: "",
  motion: "",
  breaks: "",
  density: "",
  letters: true,
  side: true,
  list: true,
  files: false,
  listWidth: 0, // px, or as wide as usual
  sideWidth: 0,
};

/** @template T @param {string} name @param {T} otherwise @returns {T} */
function read(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {string} name @param {unknown} value @returns {boolean} whether it was kept */
function write(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export const settings = signal({ ...DEFAULTS, ...read("va.settings", {}) });

/** @param {Partial<typeof DEFAULTS>} changes */
export function set(changes) {
  settings.value = { ...settings.peek(), ...changes };
  write("va.settings", settings.peek());
}

/** What is kept for this vault only. @template T @param {string} name @param {T} otherwise @returns {T} */
export const readOfVault = (name, otherwise) => read(`va.${vaultId.peek()}.${name}`, otherwise);
/** @param {string} name @param {unknown} value */
export const writeOfVault = (name, value) => write(`va.${vaultId.peek()}.${name}`, value);

/** A note that is kept in mind. @typedef {{ id: string, title: string, path: string, type: string | null }} Kept */

const RECENT = 30;
export const recent = signal(/** @type {Kept[]} */ ([]));
export const starred = signal(/** @type {Kept[]} */ ([]));
effect(() => {
  if (!vaultId.value) return;
  recent.value = readOfVault("recent", []);
  starred.value = readOfVault("starred", []);
});

/** Star a note, or take its star away. @param {Kept} note */
export function star({ id, title, path, type }) {
  const others = starred.peek().filter((note) => note.id !== id);
  starred.value = others.length < starred.peek().length ? others : [...others, { id, title, path, type }];
  writeOfVault("starred", starred.peek());
}

/** @param {Kept[]} latest @param {Kept[]} stars */
function keepNotes(latest, stars) {
  recent.value = latest.slice(0, RECENT);
  starred.value = stars;
  writeOfVault("recent", recent.peek());
  writeOfVault("starred", stars);
}

/** A note has another ID, path or title: what is kept of it follows. @param {string} before @param {Kept} note */
export function noteMoved(before, { id, title, path, type }) {
  const follow = (/** @type {Kept[]} */ notes) =>
    notes.some((note) => note.id === before)
      ? notes
          .filter((note) => note.id === before || note.id !== id)
          .map((note) => (note.id === before ? { id, title, path, type } : note))
      : notes;
  keepNotes(follow(recent.peek()), follow(starred.peek()));
}

/** A note is gone: nothing leads to it any more. @param {string} id */
export const forgetNote = (id) =>
  keepNotes(
    recent.peek().filter((note) => note.id !== id),
    starred.peek().filter((note) => note.id !== id),
  );

/** Put a note first among the recent ones. @param {Kept} note */
export function rememberNote(note) {
  noteMoved(note.id, note);
  keepNotes([note, ...recent.peek().filter((other) => other.id !== note.id)], starred.peek());
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
/** Whether the dark look is shown. */
export const dark = signal(prefersDark.matches);

function applyLook() {
  const { theme, size, width, face, motion, breaks } = settings.value;
  const root = document.documentElement.dataset;
  dark.value = theme === "dark" || (theme !== "light" && prefersDark.matches);
  root.theme = dark.peek() ? "dark" : "light";
  for (const [name, value] of Object.entries({ size, width, face, motion, breaks })) {
    if (value) root[name] = value;
    else delete root[name];
  }
}
effect(applyLook);
prefersDark.addEventListener("change", applyLook);
addEventListener("storage", (event) => {
  if (event.key === "va.settings") settings.value = { ...DEFAULTS, ...read("va.settings", {}) };
});
