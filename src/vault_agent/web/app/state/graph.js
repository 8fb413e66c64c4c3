// The whole graph: its columns, positions and groups, and which nodes pass the filters.

import { signal } from "../../vendor/preact.js";
import { ask, newestOnly } from "../wire.js";
import { carriedOver, linkedWith, parseLayout, sunflower } from "./places.js";
import { readOfVault, writeOfVault } from "./settings.js";

/**
 * @typedef {{
 *   revision: string,
 *   ids: (string | null)[],
 *   titles: string[],
 *   types: (string | null)[],
 *   folders: string[],
 *   days: (number | null)[],
 *   tags: string[][],
 *   degree: Uint32Array,
 *   group: Int32Array,
 *   folderGroup: Int32Array,
 *   edges: Uint32Array,
 *   x: Float32Array,
 *   y: Float32Array,
 *   names: { group: number, name: string }[],
 *   truncated: boolean,
 *   laid: boolean,
 *   orphans: number,
 *   unresolved: boolean,
 *   ranked: Uint32Array,
 *   tag: string | null,
 * }} Graph `edges`: the strongest first. `ranked`: the best connected first
 */

export const graph = signal(/** @type {Graph | null} */ (null));
export const graphFault = signal(/** @type {Fault | null} */ (null));
/** Grows when the groups of the graph are known. */
export const grouped = signal(0);
/** Where a person put nodes, by note. */
export const pins = signal(/** @type {Record<string, [number, number]>} */ ({}));

const NAMED = 40;
const AGAIN = 1500; // ms until positions that are being computed are asked for again
const TRIES = 40;

const PLACES = 2 ** 22; // more than there are links

/**
 * The places of the values, the highest first and of equal ones the first. Numbers are sorted in a
 * tenth of the time that a function takes which compares.
 * @param {number} length @param {(at: number) => number} value whole, below 2 ** 31
 */
function descending(length, value) {
  const keys = new Float64Array(length);
  for (let index = 0; index < length; index += 1) keys[index] = value(index) * PLACES + (PLACES - 1 - index);
  return Uint32Array.from(keys.sort(), (_, rank) => PLACES - 1 - (keys[length - 1 - rank] % PLACES));
}

/**
 * The links with the strongest first, so that the first ones stay when there are too many.
 * @param {Uint32Array} edges
 * @param {number[]} weights
 * @param {Uint32Array} degree
 */
function strongest(edges, weights, degree) {
  const order = descending(
    edges.length >> 1,
    (edge) =>
      Math.min(weights[edge] ?? 0, 0x7fff) * 0x10000 +
      Math.min(degree[edges[2 * edge]] + degree[edges[2 * edge + 1]], 0xffff),
  );
  const sorted = new Uint32Array(edges.length);
  order.forEach((edge, rank) => sorted.set([edges[2 * edge], edges[2 * edge + 1]], rank * 2));
  return sorted;
}

/** @param {Wire.WholeGraph} data @param {boolean} unresolved @param {string | null} tag @returns {Graph} */
function columns(data, unresolved, tag) {
  const { nodes } = data;
  const count = nodes.title.length;
  const edges = Uint32Array.from(data.edges.filter((node) => Number.isInteger(node) && node >= 0 && node < count));
  const degree = Uint32Array.from(nodes.in, (value, node) => value + nodes.out[node]);
  const group = new Int32Array(count).fill(-1);
  const folderGroup = Int32Array.from(nodes.folder, (folder) => folder ?? -1);
  return {
    revision: data.revision,
    ids: nodes.id,
    titles: nodes.title,
    types: nodes.type.map((/** @type {number | null} */ index) => (index === null ? null : data.types[index])),
    folders: nodes.folder.map((/** @type {number | null} */ index) => (index === null ? "" : data.folders[index])),
    days: nodes.day,
    tags: nodes.tags.map((/** @type {number[]} */ list) => list.map((index) => data.tags[index])),
    degree,
    group,
    folderGroup,
    edges: strongest(edges, data.weights, degree),
    ranked: descending(count, (node) => degree[node]),
    tag,
    ...sunflower(folderGroup, degree),
    names: [],
    truncated: data.truncated,
    laid: false,
    orphans: data.counts.orphans,
    unresolved,
  };
}

const load = newestOnly(async (abort, /** @type {boolean} */ unresolved) => {
  try {
    const positions = positionsOf(abort); // asked for beside the graph, not after it
    const old = graph.peek();
    const etag = old?.unresolved === unresolved ? old.tag : null;
    const { data, tag } = await ask("GET", "/graph", {
      query: { unresolved },
      signal: abort,
      patience: 30_000,
      etag,
    });
    const next = data || !old ? columns(/** @type {Wire.WholeGraph} */ (data), unresolved, tag) : { ...old };
    if (abort.aborted) return;
    if (data && old?.laid) {
      Object.assign(next, carriedOver(next.ids, next.edges, placesOf(old), next));
    }
    pins.value = readOfVault("pins", {});
    graphFault.value = null;
    if (data || !old?.laid) {
      await place(next, unresolved, positions, abort);
      if (abort.aborted) return;
      graph.value = next;
    }
    // The groups may take seconds of the first time, so the picture does not wait for them.
    if (!next.names.length) void name(next, abort).catch(() => undefined);
    for (let tries = 0; !graph.peek()?.laid && tries < TRIES && !abort.aborted; tries += 1) {
      await new Promise((done) => setTimeout(done, AGAIN));
      const copy = { .../** @type {Graph} */ (graph.peek()) };
      if (abort.aborted) return;
      await place(copy, unresolved, positionsOf(abort), abort);
      if (copy.laid && !abort.aborted) graph.value = copy;
    }
  } catch (error) {
    if (!abort.aborted) graphFault.value = /** @type {Fault} */ (error);
  }
});

/** Where notes are, by their IDs. @param {Graph} of */
function placesOf({ ids, x, y }) {
  const places = new Map(/** @type {[string, [number, number]][]} */ ([]));
  ids.forEach((id, node) => id && places.set(id, [x[node], y[node]]));
  return places;
}

/** Ask for positions. @param {AbortSignal} signal */
function positionsOf(signal) {
  const positions = ask("GET", "/graph/layout", { raw: true, signal, patience: 30_000 });
  positions.catch(() => undefined); // `place` looks at it, if the graph comes
  return positions;
}

/**
 * Take the positions of the server, if it has them.
 * @param {Graph} into
 * @param {boolean} unresolved
 * @param {ReturnType<typeof positionsOf>} positions
 * @param {AbortSignal} signal
 */
async function place(into, unresolved, positions, signal) {
  try {
    const { data } = await positions;
    const notes = into.ids.filter((id) => id !== null).length;
    const layout = parseLayout(data, notes);
    if (!layout) return;
    into.x.set(layout.x);
    into.y.set(layout.y);
    if (unresolved) Object.assign(into, carriedOver(into.ids, into.edges, placesOf(into), into));
    into.laid = true;
  } catch (error) {
    if (signal.aborted) throw error; // else: the picture without it
    if (/** @type {Fault} */ (error).code !== "LAYOUT_PENDING") into.laid = true;
  }
}

/** @param {Graph} into @param {AbortSignal} signal */
async function name(into, signal) {
  try {
    const { data } = await ask("GET", "/graph/communities", {
      query: { limit: NAMED, members: true },
      signal,
      patience: 60_000,
    });
    if (data.revision !== into.revision) return;
    into.group.set(/** @type {number[]} */ (data.members).slice(0, into.group.length));
    const names = data.communities.map(({ id, label }) => ({ group: id, name: label }));
    into.names = names;
    const current = graph.peek(); // perhaps the same graph with better positions
    if (current?.revision === into.revision) current.names = names;
    grouped.value += 1;
  } catch (error) {
    if (signal.aborted) throw error;
  }
}

/** Ask for the graph. @param {{ unresolved: boolean }} how */
export const loadGraph = ({ unresolved }) => void load(unresolved);

/** Keep where a person put a node, or let it go. @param {string} id @param {[number, number] | null} place */
export function pin(id, place) {
  const next = { ...pins.peek() };
  if (place) next[id] = [Math.round(place[0] * 100) / 100, Math.round(place[1] * 100) / 100];
  else delete next[id];
  pins.value = next;
  writeOfVault("pins", next);
}

/** The neighbours of a node, best connected first. @param {Graph} of @param {number} from */
export function neighbours(of, from) {
  return [...linkedWith(of.edges, from)].sort((a, b) => of.degree[b] - of.degree[a]);
}

/**
 * @typedef {{
 *   hidden: string[],
 *   orphans: boolean,
 *   first: number,
 *   last: number,
 *   folder: string,
 *   tag: string,
 * }} Filter
 */

/** Which nodes pass, as 1 and 0. @param {Graph} of @param {Filter} by @param {(type: string | null) => string} kind */
export function passing(of, by, kind) {
  const mask = new Uint8Array(of.ids.length);
  for (let node = 0; node < mask.length; node += 1) {
    const id = of.ids[node];
    const day = of.days[node];
    if (by.hidden.includes(id === null ? "missing" : kind(of.types[node]))) continue;
    if (!by.orphans && !of.degree[node]) continue;
    if (day !== null && (day < by.first || day > by.last)) continue;
    if (by.folder && of.folders[node] !== by.folder && !of.folders[node].startsWith(`${by.folder}/`)) continue;
    if (by.tag && !of.tags[node].some((tag) => tag === by.tag || tag.startsWith(`${by.tag}/`))) continue;
    mask[node] = 1;
  }
  return mask;
}
