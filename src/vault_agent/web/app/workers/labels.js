// The names on the picture of the graph. None lies over another one, or over a node that is seen well.

import { cut, isolated } from "../state/query.js";
import { centres, drawnRadius } from "./picture.js";
/** @import { Scene, View } from "./picture.js" */

/** @typedef {[number, number, number, number]} Box  left, top, right, bottom */
/** @typedef {{ text: string, x: number, y: number, size: number, weight: number, box: Box }} Label */

const MOST = 46;
const CLUSTERS = 16;
const FEW = 80; // nodes that leave room for long names
const LEGIBLE = 3.2; // px: the radius from which a node has a name
const FIRST = 6; // notes that are named even over other nodes
const AIR = 3; // px between names
const LETTER = 12; // px: a name is no longer than half of what is in view

/** @param {Box} one @param {Box} other */
const over = (one, other) => other[0] < one[2] && one[0] < other[2] && other[1] < one[3] && one[1] < other[3];

/**
 * @param {OffscreenCanvasRenderingContext2D} to
 * @param {string} name
 * @param {number} size
 * @param {number} weight
 * @param {Record<string, string>} colours
 */
function halfOf(to, name, size, weight, colours) {
  to.font = `${weight} ${size}px ${colours.sans}`;
  return to.measureText(name).width / 2;
}

/** @param {number} x @param {number} y @param {number} half @param {number} size @returns {Box} */
const boxOf = (x, y, half, size) => [x - half - AIR, y - size * 0.7, x + half + AIR, y + size * 0.7];

/**
 * Find places for the names of the clusters and of the best connected notes. With a `focus` only its notes are named,
 * and not the chosen one, whose name is drawn with each frame.
 *
 * @param {OffscreenCanvasRenderingContext2D} to
 * @param {Scene} scene
 * @param {View} view
 * @param {Box} within what is in view
 * @param {Record<string, string>} colours
 * @param {{ chosen: number, near: Set<number> | null } | null} focus `near`: or else all
 * @returns {Label[]}
 */
export function placeLabels(to, scene, view, within, colours, focus = null) {
  /** @type {Label[]} */
  const labels = [];
  /** @type {Box[]} */
  const discs = [];
  let inView = 0;
  for (const node of scene.ranked) {
    if (!scene.mask[node]) continue;
    const [px, py] = [scene.x[node] * view.k + view.x, scene.y[node] * view.k + view.y];
    if (px < within[0] || py < within[1] || px > within[2] || py > within[3]) continue;
    inView += 1;
    const r = drawnRadius(scene.degree[node], view.k);
    if (r >= LEGIBLE) discs.push([px - r, py - r, px + r, py + r]);
  }
  /** @param {Box} box */
  const isClear = (box) => !labels.some((label) => over(box, label.box));
  /** @param {Box} box */
  const isOpen = (box) => !discs.some((disc) => over(box, disc));
  /**
   * Take the first place that is free, or else the first that hides no name.
   * @param {string} name
   * @param {[number, number][]} places
   * @param {number} size
   * @param {number} weight
   * @param {boolean} always
   */
  const put = (name, places, size, weight, always) => {
    const text = isolated(name);
    const half = halfOf(to, text, size, weight, colours);
    const boxes = places.map(([px, y]) => {
      const x = Math.max(within[0] + half + AIR, Math.min(px, within[2] - half - AIR));
      return { text, x, y, size, weight, box: boxOf(x, y, half, size) };
    });
    const chosen =
      boxes.find(({ box }) => isClear(box) && isOpen(box)) ?? (always ? boxes.find(({ box }) => isClear(box)) : null);
    if (chosen) labels.push(chosen);
    return Boolean(chosen);
  };
  /**
   * The places around a node: below, above, after, before.
   * @param {number} node
   * @param {number} half
   * @returns {[number, number][]}
   */
  const around = (node, half) => {
    const [px, py] = [scene.x[node] * view.k + view.x, scene.y[node] * view.k + view.y];
    const r = drawnRadius(scene.degree[node], view.k);
    return [
      [px, py + r + 9],
      [px, py - r - 9],
      [px + r + half + 5, py],
      [px - r - half - 5, py],
    ];
  };

  if (focus) put(cut(scene.titles[focus.chosen], 44), around(focus.chosen, 0).slice(0, 1), 12, 650, true);
  else if (scene.clusters) {
    const tops = topsOf(scene, view);
    for (const { group, name } of centres(scene, view).slice(0, CLUSTERS)) {
      const top = tops.get(group);
      if (!top || !name) continue;
      const places = [14, 26, 38, 50].map((up) => /** @type {[number, number]} */ ([top.px, top.py - top.r - up]));
      put(cut(name, 34), places, 13, 650, true);
    }
  }
  const most = Math.min(inView < FEW ? 44 : 30, (within[2] - within[0]) / LETTER);
  let nameCount = 0;
  for (const node of scene.ranked) {
    if (nameCount >= MOST) break;
    if (!scene.mask[node]) continue;
    if (focus ? node === focus.chosen || focus.near?.has(node) === false : scene.bright && !scene.bright[node])
      continue;
    const [px, py] = [scene.x[node] * view.k + view.x, scene.y[node] * view.k + view.y];
    if (px < within[0] || py < within[1] || px > within[2] || py > within[3]) continue;
    if (drawnRadius(scene.degree[node], view.k) < LEGIBLE && !scene.bright && !focus) break;
    const name = cut(scene.titles[node], most);
    const half = halfOf(to, isolated(name), 11, 500, colours);
    if (put(name, around(node, half), 11, 500, nameCount < FIRST)) nameCount += 1;
  }
  return focus ? labels.slice(1) : labels;
}

/** The highest note of each group, near which the name of the group stands. @param {Scene} scene @param {View} view */
function topsOf(scene, view) {
  const tops = new Map(/** @type {[number, { px: number, py: number, r: number }][]} */ ([]));
  for (let node = 0; node < scene.group.length; node += 1) {
    if (!scene.mask[node]) continue;
    const [px, py] = [scene.x[node] * view.k + view.x, scene.y[node] * view.k + view.y];
    if (py < (tops.get(scene.group[node])?.py ?? Infinity))
      tops.set(scene.group[node], { px, py, r: drawnRadius(scene.degree[node], view.k) });
  }
  return tops;
}

/**
 * @param {OffscreenCanvasRenderingContext2D} to
 * @param {Label} label
 * @param {string} colour
 * @param {Record<string, string>} colours
 */
export function write(to, { text, x, y, size, weight }, colour, colours) {
  to.font = `${weight} ${size}px ${colours.sans}`;
  to.textAlign = "center";
  to.textBaseline = "middle";
  to.lineJoin = "round";
  to.strokeStyle = colours.canvas;
  to.lineWidth = 3.5;
  to.strokeText(text, x, y);
  to.fillStyle = colour;
  to.fillText(text, x, y);
}

/**
 * Write a name below a node, if it hides none of `taken`.
 * @param {OffscreenCanvasRenderingContext2D} to
 * @param {Box[]} taken
 * @param {string} name
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {number} weight
 * @param {string} colour
 * @param {Record<string, string>} colours
 */
export function writeBelow(to, taken, name, x, y, size, weight, colour, colours) {
  const text = isolated(name);
  const box = boxOf(x, y, halfOf(to, text, size, weight, colours), size);
  if (taken.some((other) => over(box, other))) return false;
  taken.push(box);
  write(to, { text, x, y, size, weight, box }, colour, colours);
  return true;
}
