// Draws the graph at rest into a picture, in slices, so that panning never waits for it.

import { GROUPS, radius, shape } from "../parts/shapes.js";

/**
 * @typedef {{
 *   x: Float32Array,
 *   y: Float32Array,
 *   kind: Uint8Array,
 *   kinds: readonly string[],
 *   degree: Uint32Array,
 *   edges: Uint32Array,
 *   group: Int32Array,
 *   mask: Uint8Array,
 *   bright: Uint8Array | null,
 *   ranked: Uint32Array,
 *   titles: string[],
 *   names: { group: number, name: string }[],
 *   clusters: boolean,
 *   grouped: boolean,
 * }} Scene
 */
/** @typedef {{ k: number, x: number, y: number }} View  screen = world * k + (x, y) */

export const EDGES_OUT = 20_000; // links drawn while zoomed out
const CHUNK = 1500;
const WIDE = 420; // px
const SOFT = 0.13; // what does not match
const BESIDE = 0.4; // what is not linked with the chosen note

/** How much smaller nodes are drawn where there are many. */
let crowd = 1;
/** @param {number} nodes */
export const expect = (nodes) => (crowd = Math.min(1, Math.max(0.5, Math.sqrt(1800 / nodes))));

/** The radius of a node on the screen. @param {number} degree @param {number} k */
export const drawnRadius = (degree, k) =>
  Math.max(
    1.2,
    radius(degree) *
      Math.min(1.5, Math.max(0.45, 0.55 + k * 0.28) * (k < 1 ? crowd : crowd + (1 - crowd) * Math.min(1, k - 1))),
  );

/** Shapes drawn once for each kind, colour and size. */
class Atlas {
  /** @param {Record<string, string>} colours @param {number} ratio */
  constructor(colours, ratio) {
    this.colours = colours;
    this.ratio = ratio;
    /** @type {Map<string, OffscreenCanvas>} */
    this.images = new Map();
  }

  /** @param {string} kind @param {string} colour @param {number} r */
  get(kind, colour, r) {
    const size = Math.max(3, Math.round(r * this.ratio * 2)) / 2;
    const key = `${kind} ${colour} ${size}`;
    let image = this.images.get(key);
    if (!image) {
      const side = Math.ceil(size * 3) + 4;
      image = new OffscreenCanvas(side, side);
      const to = /** @type {OffscreenCanvasRenderingContext2D} */ (image.getContext("2d"));
      to.beginPath();
      shape(to, kind, side / 2, side / 2, size);
      to.fillStyle = this.colours[colour];
      to.fill("evenodd");
      if (size > 4 * this.ratio) {
        to.strokeStyle = this.colours.canvas;
        to.lineWidth = this.ratio;
        to.stroke();
      }
      this.images.set(key, image);
    }
    return image;
  }
}

/** @type {Atlas | null} */
let atlas = null;
/** @param {Record<string, string>} colours @param {number} ratio */
export function newAtlas(colours, ratio) {
  atlas = new Atlas(colours, ratio);
}

/**
 * The colour of a node: of its type, or of its group.
 * @param {Scene} scene
 * @param {number} node
 */
const colourOf = (scene, node) =>
  !scene.grouped
    ? scene.kinds[scene.kind[node]]
    : scene.group[node] < 0
      ? "note"
      : `group-${scene.group[node] % GROUPS}`;

/**
 * Draw into a canvas of some size. Yields between slices. Returns how many links were left out.
 * @param {OffscreenCanvasRenderingContext2D} to
 * @param {Scene} scene
 * @param {View} view
 * @param {number} width
 * @param {number} height
 * @param {Record<string, string>} colours
 * @param {number} ratio
 * @param {Set<number> | null} near what is linked with the chosen note
 */
export function* draw(to, scene, view, width, height, colours, ratio, near = null) {
  const { x, y, mask } = scene;
  const { k } = view;
  const sx = (/** @type {number} */ node) => x[node] * k + view.x;
  const sy = (/** @type {number} */ node) => y[node] * k + view.y;
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.clearRect(0, 0, width, height);
  if (scene.clusters) {
    grounds(to, scene, view, colours);
    yield;
  }

  // Links: only those that cross the picture, the strongest first.
  const { edges } = scene;
  let drawn = 0;
  let left = 0;
  to.strokeStyle = colours.edge;
  to.lineWidth = Math.min(1.2, Math.max(0.5, 0.55 + k * 0.12));
  to.globalAlpha =
    (scene.bright ? SOFT * 2 : near ? BESIDE : 1) *
    Math.min(1, Math.max(0.16, Math.sqrt((1600 * Math.max(1, k)) / (edges.length / 2 + 1))));
  to.beginPath();
  for (let edge = 0; edge < edges.length; edge += 2) {
    const [a, b] = [edges[edge], edges[edge + 1]];
    if (!mask[a] || !mask[b]) continue;
    const [x1, y1, x2, y2] = [sx(a), sy(a), sx(b), sy(b)];
    if ((x1 < 0 && x2 < 0) || (y1 < 0 && y2 < 0) || (x1 > width && x2 > width) || (y1 > height && y2 > height))
      continue;
    if (drawn >= EDGES_OUT) {
      left += 1;
      continue;
    }
    to.moveTo(x1, y1);
    to.lineTo(x2, y2);
    drawn += 1;
    if (drawn % CHUNK === 0) {
      to.stroke();
      yield;
      to.beginPath();
    }
  }
  to.stroke();
  yield;

  // Nodes: the best connected last, so that they are on top.
  const { ranked } = scene;
  for (let rank = ranked.length - 1, done = 0; rank >= 0; rank -= 1) {
    const node = ranked[rank];
    if (!mask[node]) continue;
    const [px, py] = [sx(node), sy(node)];
    if (px < -20 || py < -20 || px > width + 20 || py > height + 20) continue;
    const r = drawnRadius(scene.degree[node], k);
    const image = /** @type {Atlas} */ (atlas).get(scene.kinds[scene.kind[node]], colourOf(scene, node), r);
    to.globalAlpha = near?.has(node)
      ? 1
      : scene.bright && !scene.bright[node]
        ? SOFT
        : near
          ? BESIDE
          : scene.degree[node] > 9
            ? 1
            : 0.84;
    const side = image.width / ratio;
    to.drawImage(image, px - side / 2, py - side / 2, side, side);
    if ((done += 1) % CHUNK === 0) yield;
  }
  to.globalAlpha = 1;
  return left;
}

/**
 * Soft ground under each cluster.
 * @param {OffscreenCanvasRenderingContext2D} to
 * @param {Scene} scene
 * @param {View} view
 * @param {Record<string, string>} colours
 */
function grounds(to, scene, view, colours) {
  const all = centres(scene, view).filter(({ reach }) => reach <= WIDE); // a group that is everywhere has no ground
  for (const { group, px, py, reach } of all) {
    // Many over each other would be a fog: together they are as dense as one.
    to.globalAlpha = 1 / all.filter((other) => Math.hypot(other.px - px, other.py - py) < other.reach / 2).length;
    const soft = to.createRadialGradient(px, py, 0, px, py, reach);
    const colour = colours[`group-${group % GROUPS}`];
    soft.addColorStop(0, `${colour}24`);
    soft.addColorStop(1, `${colour}00`);
    to.fillStyle = soft;
    to.beginPath();
    to.arc(px, py, reach, 0, 7);
    to.fill();
  }
  to.globalAlpha = 1;
}

/**
 * Add a line between two nodes to the path, from edge to edge: it does not cross them.
 * @param {OffscreenCanvasRenderingContext2D} to
 * @param {[number, number, number]} from x, y and radius
 * @param {[number, number, number]} other
 */
export function between(to, [ax, ay, ar], [bx, by, br]) {
  const length = Math.hypot(bx - ax, by - ay);
  if (length <= ar + br) return;
  const [dx, dy] = [(bx - ax) / length, (by - ay) / length];
  to.moveTo(ax + dx * ar, ay + dy * ar);
  to.lineTo(bx - dx * br, by - dy * br);
}

/** The middle and reach of each named group on the screen. @param {Scene} scene @param {View} view */
export function centres(scene, view) {
  /** @type {Map<number, { n: number, x: number, y: number, xx: number }>} */
  const sums = new Map(scene.names.map(({ group }) => [group, { n: 0, x: 0, y: 0, xx: 0 }]));
  for (let node = 0; node < scene.group.length; node += 1) {
    const sum = scene.mask[node] ? sums.get(scene.group[node]) : undefined;
    if (!sum) continue;
    const [px, py] = [scene.x[node] * view.k + view.x, scene.y[node] * view.k + view.y];
    sum.n += 1;
    sum.x += px;
    sum.y += py;
    sum.xx += px * px + py * py;
  }
  return scene.names.flatMap(({ group, name }) => {
    const sum = /** @type {NonNullable<ReturnType<typeof sums.get>>} */ (sums.get(group));
    if (sum.n < 3) return [];
    const [px, py] = [sum.x / sum.n, sum.y / sum.n];
    const spread = Math.sqrt(Math.max(0, sum.xx / sum.n - px * px - py * py));
    return [{ group, name, px, py, reach: Math.max(30, spread * 1.9) }];
  });
}
