// The worker that draws the graph. The page's thread never draws: it sends what a person does.

import { linkedWith } from "../state/places.js";
import { cut } from "../state/query.js";
import { placeLabels, write, writeBelow } from "./labels.js";
import { between, draw, drawnRadius, expect, newAtlas } from "./picture.js";
import { layOutLocal, settleNear } from "./settle.js";
/** @import { Box } from "./labels.js" */
/** @import { Scene, View } from "./picture.js" */

class Grid {
  /** @param {Float32Array} x @param {Float32Array} y @param {Uint8Array} mask */
  constructor(x, y, mask) {
    this.x = x;
    this.y = y;
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    let count = 0;
    for (let node = 0; node < x.length; node += 1) {
      if (!mask[node]) continue;
      count += 1;
      x0 = Math.min(x0, x[node]);
      x1 = Math.max(x1, x[node]);
      y0 = Math.min(y0, y[node]);
      y1 = Math.max(y1, y[node]);
    }
    this.count = count;
    this.box = count ? [x0, y0, x1, y1] : [-1, -1, 1, 1];
    this.cell = Math.max(1e-6, Math.sqrt(((x1 - x0) * (y1 - y0) || 1) / Math.max(1, count)) * 1.5);
    /** @type {Map<string, number[]>} */
    this.cells = new Map();
    for (let node = 0; node < x.length; node += 1) {
      if (!mask[node]) continue;
      const key = this.key(x[node], y[node]);
      const nodes = this.cells.get(key);
      if (nodes) nodes.push(node);
      else this.cells.set(key, [node]);
    }
  }

  /** @param {number} x @param {number} y */
  key(x, y) {
    return `${Math.floor(x / this.cell)},${Math.floor(y / this.cell)}`;
  }

  /**
   * The node nearest to a place within a distance, or -1.
   * @param {number} x
   * @param {number} y
   * @param {number} within
   */
  nearest(x, y, within) {
    let best = -1;
    let least = within * within;
    const steps = Math.min(40, Math.ceil(within / this.cell));
    const [cx, cy] = [Math.floor(x / this.cell), Math.floor(y / this.cell)];
    for (let ix = cx - steps; ix <= cx + steps; ix += 1) {
      for (let iy = cy - steps; iy <= cy + steps; iy += 1) {
        for (const node of this.cells.get(`${ix},${iy}`) ?? []) {
          const far = (this.x[node] - x) ** 2 + (this.y[node] - y) ** 2;
          if (far < least) [best, least] = [node, far];
        }
      }
    }
    return best;
  }
}

const ROOM = 1.5; // the picture is so many times as wide and high as the view
const PAUSE = 80; // ms after a motion, when the picture is drawn anew
const SLICE = 8; // ms
const [LEAST, MOST] = [0.05, 8];
const [VERY_FEW, FEW] = [12, 200]; // nodes that may be drawn large, but not at opposite corners
const PANEL = 14; // px of the margin beside the panel of filters
const FINGER = 14; // px around a pointer

/** @type {OffscreenCanvas} */ let canvas;
/** @type {OffscreenCanvasRenderingContext2D} */ let to;
/** @type {Record<string, string>} */ let colours = {};
let [width, height, ratio] = [0, 0, 1];
/** @type {Scene | null} */ let scene = null;
/** @type {Grid | null} */ let grid = null;
/** @type {View} */ let view = { k: 1, x: 0, y: 0 };
let margin = { start: 0, end: 0, top: 0, bottom: 0 };
let closest = MOST; // px for a unit of the layout, when all is fitted into the view
/** The picture at rest, and the view that it was drawn for. */
const picture = () => ({
  canvas: new OffscreenCanvas(1, 1),
  view,
  width: 0,
  height: 0,
  good: false,
  names: /** @type {Box[]} */ ([]),
});
let front = picture();
let back = picture();
/** @type {Generator<void, number, void> | null} */ let drawing = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */ let waiting;
let framed = false;
let [selected, hovered, held, middle] = [-1, -1, -1, -1];
let nodesOfSelected = new Set(/** @type {number[]} */ ([]));
let fitted = false;
const NEAR = 120; // px around the chosen note that are in view
let beside = 0; // px that the preview of the chosen note covers

/**
 * What the page is told.
 * @typedef {{ type: "drawn", left: number }
 *   | { type: "hover" | "grabbed", at: number } | { type: "picked", at: number }
 *   | { type: "dropped", at: number, x: number, y: number }} Told
 */
const send = (/** @type {Told} */ message) => postMessage(message);
const contextOf = (/** @type {OffscreenCanvas} */ surface) =>
  /** @type {OffscreenCanvasRenderingContext2D} */ (surface.getContext("2d"));

/** Draw a frame soon: the picture moved, and what is chosen on top. */
function frame() {
  if (framed) return;
  framed = true;
  requestAnimationFrame(() => {
    framed = false;
    show();
  });
}

function show() {
  if (!scene || !width) return;
  to.setTransform(1, 0, 0, 1, 0, 0);
  to.clearRect(0, 0, canvas.width, canvas.height);
  if (front.good) {
    const scale = view.k / front.view.k;
    to.imageSmoothingEnabled = scale !== 1;
    to.setTransform(
      scale,
      0,
      0,
      scale,
      (view.x - front.view.x * scale) * ratio,
      (view.y - front.view.y * scale) * ratio,
    );
    to.drawImage(front.canvas, 0, 0);
  }
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  highlight();
}

/** What is chosen, under the pointer, or in the middle of a local graph, with its links and neighbours. */
function highlight() {
  if (!scene) return;
  for (const node of new Set([middle, selected, hovered])) {
    if (node < 0 || !scene.mask[node]) continue;
    const [px, py] = place(node);
    const near = node === selected ? nodesOfSelected : neighbours(node);
    to.strokeStyle = colours["edge-hot"];
    to.lineWidth = 1.3;
    to.beginPath();
    let links = 0;
    const r = drawnRadius(scene.degree[node], view.k);
    for (const other of near) {
      if (!scene.mask[other] || (links += 1) > 2000) continue;
      between(to, [px, py, r], [...place(other), drawnRadius(scene.degree[other], view.k)]);
    }
    to.stroke();
    to.strokeStyle = colours.accent;
    to.lineWidth = 2.2;
    to.beginPath();
    to.arc(px, py, r + 5, 0, 7);
    to.stroke();
    const below = py + r + (node === selected ? 12 : 9);
    // The names of the picture stay where they are, while it is not being scaled.
    const taken =
      front.view.k === view.k ? front.names.map((box) => shift(box, view.x - front.view.x, view.y - front.view.y)) : [];
    writeBelow(to, [], cut(scene.titles[node], 44), px, below, 12, 650, colours.accent, colours);
    if (selected >= 0 || node === middle) continue; // the picture names its neighbours
    let names = 0;
    for (const other of near) {
      if (names >= 14 || !scene.mask[other]) continue;
      const [ox, oy] = place(other);
      const y = oy + drawnRadius(scene.degree[other], view.k) + 9;
      if (writeBelow(to, taken, cut(scene.titles[other], 30), ox, y, 11, 550, colours.ink, colours)) names += 1;
    }
  }
}

/** @param {Box} box @param {number} dx @param {number} dy @returns {Box} */
const shift = ([left, top, right, bottom], dx, dy) => [left + dx, top + dy, right + dx, bottom + dy];

/** @param {number} node @returns {[number, number]} */
const place = (node) => (scene ? [scene.x[node] * view.k + view.x, scene.y[node] * view.k + view.y] : [0, 0]);

/** @param {number} node */
const neighbours = (node) => (scene ? linkedWith(scene.edges, node) : new Set(/** @type {number[]} */ ([])));

/** Draw the picture anew once nothing moves. @param {number} [wait] */
function redraw(wait = PAUSE) {
  clearTimeout(waiting);
  drawing = null;
  waiting = setTimeout(() => {
    if (!scene || !width || !("canvas" in colours)) return; // the colours come with `look`, which draws anew
    back.width = width * ROOM;
    back.height = height * ROOM;
    back.canvas.width = back.width * ratio;
    back.canvas.height = back.height * ratio;
    back.view = { k: view.k, x: view.x + (width * (ROOM - 1)) / 2, y: view.y + (height * (ROOM - 1)) / 2 };
    drawing = drawWhole(scene, back);
    slice(drawing);
  }, wait);
}

/**
 * Draw nodes, links and names.
 * @param {Scene} ownScene
 * @param {ReturnType<typeof picture>} target
 * @returns {Generator<void, number, void>}
 */
function* drawWhole(ownScene, target) {
  const to = contextOf(target.canvas);
  const focus = selected >= 0 && ownScene.mask[selected] ? { chosen: selected, near: nodesOfSelected } : null;
  const near = focus && new Set([selected, ...nodesOfSelected]);
  const left = yield* draw(to, ownScene, target.view, target.width, target.height, colours, ratio, near);
  const [x, y] = [(target.width - width) / 2, (target.height - height) / 2];
  const labels = placeLabels(
    to,
    ownScene,
    target.view,
    [x + margin.start - PANEL, y, x + width - (focus ? beside : 0), y + height],
    colours,
    focus ?? (middle >= 0 ? { chosen: middle, near: null } : null),
  );
  for (const label of labels) write(to, label, colours["ink-2"], colours);
  target.names = labels.map((label) => label.box);
  return left;
}

/** The slice that is next. A timer would wait 4 ms before each. */
const turn = new MessageChannel();
turn.port1.onmessage = () => drawing && slice(drawing);

/** @param {Generator<void, number, void>} mine */
function slice(mine) {
  const until = performance.now() + SLICE;
  for (;;) {
    if (mine !== drawing) return;
    const { done, value } = mine.next();
    if (done) {
      [front, back] = [back, front];
      front.good = true;
      drawing = null;
      frame();
      send({ type: "drawn", left: value });
      return;
    }
    if (performance.now() > until) break;
  }
  turn.port2.postMessage(0);
}

function fit() {
  if (!grid || !width) return;
  const [x0, y0, x1, y1] = grid.box;
  const room = {
    width: Math.max(80, width - margin.start - margin.end - (selected >= 0 ? beside : 0)),
    height: Math.max(80, height - margin.top - margin.bottom),
  };
  const k = Math.min(MOST, Math.max(LEAST, Math.min(room.width / (x1 - x0 || 1), room.height / (y1 - y0 || 1)) * 0.94));
  move({ k: Math.min(k, closest, grid.count < VERY_FEW ? MOST / 2 : grid.count < FEW ? MOST : 2.4), x: 0, y: 0 });
  move({
    k: view.k,
    x: margin.start + room.width / 2 - ((x0 + x1) / 2) * view.k,
    y: margin.top + room.height / 2 - ((y0 + y1) / 2) * view.k,
  });
  fitted = true;
}

/** @param {View} next */
function move(next) {
  view = next;
  frame();
  redraw();
}

/** @param {number} factor @param {number} px @param {number} py */
function zoom(factor, px, py) {
  const k = Math.min(MOST, Math.max(LEAST, view.k * factor));
  move({ k, x: px - ((px - view.x) / view.k) * k, y: py - ((py - view.y) / view.k) * k });
}

/** @param {number} px @param {number} py */
function hit(px, py) {
  if (!grid) return -1;
  return grid.nearest((px - view.x) / view.k, (py - view.y) / view.k, FINGER / view.k);
}

function positionsChanged() {
  if (!scene) return;
  grid = new Grid(scene.x, scene.y, scene.mask);
  expect(grid.count);
}

/** What the page asks for, by name. @type {Record<string, (message: any) => void>} */
const acts = {
  start(message) {
    canvas = message.canvas;
    to = contextOf(canvas);
  },
  look(message) {
    colours = message.colours;
    newAtlas(colours, ratio);
    redraw(0);
  },
  size(message) {
    const first = !width;
    ({ width, height, ratio, margin, closest = MOST } = message);
    if (!width) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    newAtlas(colours, ratio);
    if (first || !fitted) fit();
    show();
    redraw();
  },
  scene(message) {
    const same = scene?.titles.length === message.scene.titles.length;
    scene = /** @type {Scene} */ (message.scene);
    middle = message.middle;
    if (middle >= 0) layOutLocal(scene, middle);
    positionsChanged();
    nodesOfSelected = selected >= 0 ? neighbours(selected) : new Set();
    if (!same || message.refit || !fitted) fit();
    else redraw(0);
  },
  mask(message) {
    if (!scene) return;
    scene.mask = message.mask;
    scene.bright = message.bright;
    positionsChanged();
    redraw(0);
  },
  paint(message) {
    if (!scene) return;
    Object.assign(scene, message.changes);
    redraw(0);
  },
  pan: (message) => move({ k: view.k, x: view.x + message.dx, y: view.y + message.dy }),
  zoom: (message) => zoom(message.factor, message.x ?? width / 2, message.y ?? height / 2),
  fit,
  hover(message) {
    const node = hit(message.x, message.y);
    if (node === hovered) return;
    hovered = node;
    send({ type: "hover", at: node });
    frame();
  },
  leave() {
    hovered = -1;
    frame();
  },
  pick: (message) => send({ type: "picked", at: hit(message.x, message.y) }),
  grab(message) {
    held = hit(message.x, message.y);
    send({ type: "grabbed", at: held });
  },
  drag(message) {
    if (!scene || held < 0) return;
    scene.x[held] = (message.x - view.x) / view.k;
    scene.y[held] = (message.y - view.y) / view.k;
    settleNear(scene, held, 2);
    redraw(0);
    frame();
  },
  drop() {
    if (!scene || held < 0) return;
    settleNear(scene, held, 30);
    send({ type: "dropped", at: held, x: scene.x[held], y: scene.y[held] });
    held = -1;
    positionsChanged();
    redraw(0);
  },
  select(message) {
    selected = message.at;
    beside = message.beside;
    nodesOfSelected = selected >= 0 ? neighbours(selected) : new Set();
    if (message.show && selected >= 0 && scene) {
      const [px, py] = place(selected);
      const [end, foot] = [width - margin.end - beside, height - message.below]; // of what the preview leaves
      const [aside, over] = [Math.min(NEAR, width / 8), Math.min(NEAR, height / 8)]; // its name, and some neighbours
      if (px < margin.start + aside || py < over || px > end - aside || py > foot - over)
        move({ k: view.k, x: view.x + (margin.start + end) / 2 - px, y: view.y + foot / 2 - py });
    }
    frame();
    redraw(0);
  },
};

addEventListener("message", ({ data }) => acts[data.act]?.(data));
