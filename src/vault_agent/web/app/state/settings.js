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
  language: "",
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
  const others = starred.peek().filter((each) => each.id !== id);
  starred.value = others.length < starred.peek().length ? others : [...others, { id, title, path, type }];
  writeOfVault("starred", starred.peek());
}

/** A starred note has another ID and path. @param {string} before @param {Kept} note */
export function starMoved(before, { id, title, path, type }) {
  starred.value = starred.peek().map((each) => (each.id === before ? { id, title, path, type } : each));
  writeOfVault("starred", starred.peek());
}

/** Put a note first among the recent ones. @param {Kept} note */
export function rememberNote(note) {
  recent.value = [note, ...recent.peek().filter((each) => each.id !== note.id)].slice(0, RECENT);
  writeOfVault("recent", recent.peek());
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
