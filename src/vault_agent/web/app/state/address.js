// What the page shows is its address: Back, a bookmark and a second window show the same.

import { signal } from "../../vendor/preact.js";
import { vaultInAddress, ownVaultId } from "../wire.js";

/** @typedef {{ view: string, note: string, at: string, line: string, q: string, type: string[], tag: string[],
 *   path: string[], after: string, before: string, linked: string, tasks: string, sort: string,
 *   near: string, depth: string, edit: string, project: string[], session: string, vault: string }} Address */

export const LISTS = /** @type {const} */ (["type", "tag", "path", "project"]);
const TEXTS = /** @type {const} */ ([
  "at",
  "line",
  "q",
  "after",
  "before",
  "linked",
  "tasks",
  "sort",
  "near",
  "depth",
  "edit",
  "session",
  "vault",
]);
export const FILTERS = /** @type {const} */ (["type", "tag", "path", "after", "before", "linked", "tasks", "project"]);
const VIEWS = ["notes", "graph", "memory", "jobs", "settings"];

// The ID of a note is half of the SHA-256 (FIPS 180-4) of its path. The browser has that function only with a wait, and
// not over plain HTTP, but an address must be read at once.

const fractions = (/** @type {number} */ count, /** @type {(n: number) => number} */ root) =>
  Int32Array.from(Array.from({ length: count }, (_, index) => ((root(primes[index]) % 1) * 2 ** 32) | 0));
const primes = Array.from({ length: 312 }, (_, n) => n).filter(
  (n) => n > 1 && !Array.from({ length: n }, (_, d) => d).some((d) => d > 1 && n % d === 0),
);
const START = fractions(8, Math.sqrt);
const ROUNDS = fractions(64, Math.cbrt);

/** @param {number} value @param {number} by */
const rotate = (value, by) => (value >>> by) | (value << (32 - by));

/** @param {string} path @returns {string} 32 hexadecimal digits */
export function identify(path) {
  const bytes = new TextEncoder().encode(path);
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, bytes.length * 8);
  const hash = START.slice();
  const w = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let round = 0; round < 64; round += 1) {
      if (round < 16) {
        w[round] = view.getInt32(block + round * 4);
        continue;
      }
      const [x, y] = [w[round - 15], w[round - 2]];
      const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
      const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
      w[round] = w[round - 16] + s0 + w[round - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let round = 0; round < 64; round += 1) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const one = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[round] + w[round]) | 0;
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, index) => (hash[index] += value));
  }
  const id = [...hash.slice(0, 4)].map((value) => (value >>> 0).toString(16).padStart(8, "0")).join("");
  knowPath(id, path); // so that an address can name it
  return id;
}

/** The paths of notes that the page has seen, by their IDs. */
const paths = new Map(/** @type {[string, string][]} */ ([]));
/** The path of a note, or "" if the page has not seen it. @param {string} id */
export const pathOf = (id) => paths.get(id) ?? "";
/** @param {string} id @param {string} path */
export const knowPath = (id, path) => void paths.set(id, path);

/** How an address names a note: by its path without `.md`, or else by its ID. @param {string} id */
function addressName(id) {
  const path = paths.get(id);
  if (!path) return id;
  const bare = path.replace(/\.md$/, "");
  return (/\.[^/]*$/.test(bare) ? path : bare).split("/").map(encodeURIComponent).join("/");
}

/** The ID of the note that an address names. @param {string} name */
function idOf(name) {
  if (!name || /^[0-9a-f]{32}$/.test(name)) return name;
  try {
    const decoded = name.split("/").map(decodeURIComponent).join("/");
    const path = /\.[^/]*$/.test(decoded) ? decoded : `${decoded}.md`;
    return identify(path);
  } catch {
    return ""; // it is not an address of ours
  }
}

/** Read `#/view/note?query`. @param {string} hash @returns {Address} */
export function parseAddress(hash) {
  const [, view = "", note = "", query = ""] = /^#?\/?([\w-]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(hash) ?? [];
  const values = new URLSearchParams(query);
  const isView = VIEWS.includes(view);
  const target = /** @type {Address} */ ({
    view: isView ? view : "notes",
    note: isView ? idOf(note) : "",
  });
  for (const name of TEXTS) target[name] = values.get(name) ?? "";
  for (const name of LISTS) target[name] = values.getAll(name);
  if (target.view === "graph" && target.note) target.near = target.near === "all" ? "" : target.near || target.note;
  return target;
}

/** @param {Partial<Address>} target */
export function hrefOf(target) {
  const values = new URLSearchParams();
  for (const name of TEXTS) if (target[name]) values.set(name, target[name]);
  for (const name of LISTS) for (const value of target[name] ?? []) values.append(name, value);
  if (target.view === "graph" && target.note && !target.near) values.set("near", "all");
  const query = values.size ? `?${values}` : "";
  return `#/${target.view || "notes"}${target.note ? `/${addressName(target.note)}` : ""}${query}`;
}

export const address = signal(parseAddress(location.hash));
/** Why the address last changed: "go", "back" (or forward) or "start". */
export const arrival = signal("start");
/** What this entry of the history remembered of the note: `top` is the line of the file at the top of the view,
 * `beside` the px that the side panel had.
 * @typedef {{ scroll?: number, heading?: string, top?: number, beside?: number }} Kept */
export const remembered = signal(/** @type {Kept} */ (history.state ?? {}));

/** The address with changes. @param {Partial<Address>} changes */
export const changed = (changes) => hrefOf({ ...address.peek(), line: "", ...changes });

/** An address in a vault: of a note there, or its list. The server's own vault has no name in addresses.
 * @param {string} vault its identity @param {string} [note] */
export const addressIn = (vault, note = "") =>
  hrefOf({ view: "notes", note, vault: vault === ownVaultId() ? "" : vault });

/**
 * Go to an address. `replace` adds no entry to the history: for what is typed.
 * @param {Partial<Address>} changes @param {{ replace?: boolean, kept?: Kept }} [how] `kept` goes with the new entry
 */
export function go(changes, { replace = false, kept } = {}) {
  const next = { ...address.peek(), ...changes };
  if ("note" in changes || "at" in changes) [next.at, next.line] = [changes.at ?? "", changes.line ?? ""];
  if ("note" in changes && !("edit" in changes)) next.edit = "";
  const text = hrefOf(next);
  if (text === hrefOf(address.peek())) return;
  if (!replace) leaving();
  const state = kept ?? (replace ? history.state : {});
  if (replace) history.replaceState(state, "", text);
  else history.pushState(state, "", text);
  arrival.value = "go";
  remembered.value = kept ?? (replace ? remembered.peek() : {});
  show(next);
}

/** Show an address. Another vault begins the page anew. @param {Address} next */
function show(next) {
  if (next.vault === vaultInAddress) address.value = next;
  else location.reload();
}

/** Show the address with the path of its note, which is known now. */
export const showPath = () => history.replaceState(history.state, "", hrefOf(address.peek()));

/** Keep something with this entry of the history. @param {Kept} values */
export function remember(values) {
  history.replaceState({ ...history.state, ...values }, "");
}

/** What to do before the address changes, such as to remember the scroll. */
let leaving = () => {};
/** @param {() => void} run */
export const beforeLeaving = (run) => void (leaving = run);
addEventListener(
  "click",
  (event) => event.target instanceof Element && event.target.closest('a[href^="#"]') && leaving(),
  true,
);

addEventListener("popstate", () => {
  arrival.value = "back";
  remembered.value = history.state ?? {};
  show(parseAddress(location.hash));
});
