// The small map of the graph: its dots are drawn when positions change, the frame with each move.

import { colourOf } from "./picture.js";

export class SmallMap {
  constructor() {
    /** @type {OffscreenCanvas | null} */
    this.canvas = null;
    this.width = 0;
    this.height = 0;
    this.dirty = true;
    this.picture = new OffscreenCanvas(1, 1);
  }

  /** @param {number} width @param {number} height @param {number} ratio */
  resize(width, height, ratio) {
    this.width = width;
    this.height = height;
    this.dirty = true;
    if (!this.canvas) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
  }

  /** How the world is placed on the map. @param {import("./grid.js").Grid} grid */
  placing(grid) {
    const [x0, y0, x1, y1] = grid.box;
    const k = Math.min(this.width / (x1 - x0 || 1), this.height / (y1 - y0 || 1)) * 0.88;
    return { k, x: this.width / 2 - (k * (x0 + x1)) / 2, y: this.height / 2 - (k * (y0 + y1)) / 2 };
  }

  /**
   * The place in the world of a point of the map.
   * @param {import("./grid.js").Grid} grid
   * @param {number} px
   * @param {number} py
   */
  worldAt(grid, px, py) {
    const { k, x, y } = this.placing(grid);
    return [(px - x) / k, (py - y) / k];
  }

  /**
   * @param {import("./picture.js").Scene} scene
   * @param {import("./grid.js").Grid} grid
   * @param {import("./picture.js").View} view
   * @param {{ width: number, height: number, ratio: number }} size
   * @param {Record<string, string>} colours
   */
  show(scene, grid, view, { width, height, ratio }, colours) {
    if (!this.canvas || !this.width) return;
    const { k, x, y } = this.placing(grid);
    if (this.dirty) this.dots(scene, { k, x, y }, colours, ratio);
    const to = /** @type {OffscreenCanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    to.setTransform(1, 0, 0, 1, 0, 0);
    to.clearRect(0, 0, this.canvas.width, this.canvas.height);
    to.drawImage(this.picture, 0, 0);
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    const left = Math.max(1, (-view.x / view.k) * k + x);
    const top = Math.max(1, (-view.y / view.k) * k + y);
    const right = Math.min(this.width - 1, ((width - view.x) / view.k) * k + x);
    const bottom = Math.min(this.height - 1, ((height - view.y) / view.k) * k + y);
    if (right <= left || bottom <= top) return;
    to.strokeStyle = to.fillStyle = colours.accent;
    to.lineWidth = 1.3;
    to.globalAlpha = 0.1;
    to.fillRect(left, top, right - left, bottom - top);
    to.globalAlpha = 1;
    to.strokeRect(left, top, right - left, bottom - top);
  }

  /**
   * @param {import("./picture.js").Scene} scene
   * @param {{ k: number, x: number, y: number }} placing
   * @param {Record<string, string>} colours
   * @param {number} ratio
   */
  dots(scene, { k, x, y }, colours, ratio) {
    const { width, height } = /** @type {OffscreenCanvas} */ (this.canvas);
    this.picture = new OffscreenCanvas(Math.max(1, width), Math.max(1, height));
    const to = /** @type {OffscreenCanvasRenderingContext2D} */ (this.picture.getContext("2d"));
    to.scale(ratio, ratio);
    to.globalAlpha = 0.75;
    for (let at = 0; at < scene.x.length; at += 1) {
      if (!scene.mask[at]) continue;
      to.fillStyle = colours[colourOf(scene, at)];
      to.fillRect(scene.x[at] * k + x - 0.7, scene.y[at] * k + y - 0.7, 1.4, 1.4);
    }
    this.dirty = false;
  }
}
