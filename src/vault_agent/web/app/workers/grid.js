// Finds the node at a place: a grid over all positions.

export class Grid {
  /** @param {Float32Array} x @param {Float32Array} y @param {Uint8Array} mask */
  constructor(x, y, mask) {
    this.x = x;
    this.y = y;
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    let count = 0;
    for (let at = 0; at < x.length; at += 1) {
      if (!mask[at]) continue;
      count += 1;
      x0 = Math.min(x0, x[at]);
      x1 = Math.max(x1, x[at]);
      y0 = Math.min(y0, y[at]);
      y1 = Math.max(y1, y[at]);
    }
    this.count = count;
    this.box = count ? [x0, y0, x1, y1] : [-1, -1, 1, 1];
    this.cell = Math.max(1e-6, Math.sqrt(((x1 - x0) * (y1 - y0) || 1) / Math.max(1, count)) * 1.5);
    /** @type {Map<string, number[]>} */
    this.cells = new Map();
    for (let at = 0; at < x.length; at += 1) {
      if (!mask[at]) continue;
      const key = this.key(x[at], y[at]);
      const known = this.cells.get(key);
      if (known) known.push(at);
      else this.cells.set(key, [at]);
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
        for (const at of this.cells.get(`${ix},${iy}`) ?? []) {
          const far = (this.x[at] - x) ** 2 + (this.y[at] - y) ** 2;
          if (far < least) [best, least] = [at, far];
        }
      }
    }
    return best;
  }
}
