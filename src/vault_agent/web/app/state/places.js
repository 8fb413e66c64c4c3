// Where the nodes of the graph are: as the server computed it, or a picture that takes no time.

const MAGIC = 0x314c4156; // "VAL1", little endian
const HEAD = 16;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/**
 * Read the positions that the server computed: `VAL1`, the number of nodes, the revision, x, y.
 * Return null if anything is not as it must be.
 * @param {ArrayBuffer} bytes @param {number} nodes
 */
export function parsed(bytes, nodes) {
  if (bytes.byteLength !== HEAD + nodes * 8) return null;
  const head = new DataView(bytes);
  if (head.getUint32(0, true) !== MAGIC || head.getUint32(4, true) !== nodes) return null;
  const x = new Float32Array(bytes.slice(HEAD, HEAD + nodes * 4));
  const y = new Float32Array(bytes.slice(HEAD + nodes * 4));
  for (let at = 0; at < nodes; at += 1) if (!Number.isFinite(x[at]) || !Number.isFinite(y[at])) return null;
  return { x, y };
}

/**
 * Place each group as a disc of seeds, the best connected in its middle, and the discs as a larger
 * one. It is drawn until the server has computed better positions.
 * @param {ArrayLike<number>} group @param {ArrayLike<number>} degree
 */
export function sunflower(group, degree) {
  const count = group.length;
  const x = new Float32Array(count);
  const y = new Float32Array(count);
  /** @type {Map<number, number[]>} */
  const members = new Map();
  for (let at = 0; at < count; at += 1) {
    const known = members.get(group[at]);
    if (known) known.push(at);
    else members.set(group[at], [at]);
  }
  const sorted = [...members.entries()].sort(
    (a, b) => Number(a[0] < 0) - Number(b[0] < 0) || b[1].length - a[1].length || a[0] - b[0],
  );
  let area = 0;
  sorted.forEach(([, list], rank) => {
    const reach = 7 * Math.sqrt(list.length) + 10;
    const far = rank ? Math.sqrt(area / Math.PI) * 1.18 + reach * 0.35 : 0;
    area += Math.PI * reach * reach * 1.35;
    const [cx, cy] = [Math.cos(rank * GOLDEN) * far, Math.sin(rank * GOLDEN) * far];
    list.sort((a, b) => degree[b] - degree[a] || a - b);
    list.forEach((at, seed) => {
      const out = 7 * Math.sqrt(seed + 0.5);
      x[at] = cx + Math.cos(seed * GOLDEN) * out;
      y[at] = cy + Math.sin(seed * GOLDEN) * out;
    });
  });
  return { x, y };
}

/**
 * Give nodes the places they had. New ones begin in the middle of their neighbours.
 * @param {(string | null)[]} ids @param {ArrayLike<number>} edges @param {Map<string, [number, number]>} known
 * @param {{ x: Float32Array, y: Float32Array }} otherwise
 */
export function carriedOver(ids, edges, known, otherwise) {
  const { x, y } = otherwise;
  const sums = new Map(/** @type {[number, number[]][]} */ ([]));
  const has = ids.map((id) => id !== null && known.has(id));
  for (let at = 0; at < edges.length; at += 2) {
    for (const [one, other] of [
      [edges[at], edges[at + 1]],
      [edges[at + 1], edges[at]],
    ]) {
      if (has[one] || !has[other]) continue;
      const sum = sums.get(one) ?? [0, 0, 0];
      const [ox, oy] = /** @type {[number, number]} */ (known.get(/** @type {string} */ (ids[other])));
      sums.set(one, [sum[0] + ox, sum[1] + oy, sum[2] + 1]);
    }
  }
  ids.forEach((id, at) => {
    const place = id === null ? undefined : known.get(id);
    const sum = sums.get(at);
    if (place) [x[at], y[at]] = place;
    else if (sum) [x[at], y[at]] = [sum[0] / sum[2] + (at % 7) - 3, sum[1] / sum[2] + (at % 5) - 2];
  });
  return { x, y };
}

/**
 * The nodes at most so many links away, with their distance.
 * @param {Uint32Array} edges @param {number} node @param {number} depth
 * @param {Uint8Array | null} [mask] nodes that count @param {number} [most] nodes
 */
export function near(edges, node, depth, mask = null, most = Infinity) {
  const distance = new Map([[node, 0]]);
  for (let step = 1; step <= depth; step += 1) {
    for (let at = 0; at < edges.length && distance.size < most; at += 2) {
      const [one, other] = [edges[at], edges[at + 1]];
      if (mask && !(mask[one] && mask[other])) continue;
      if (distance.get(one) === step - 1 && !distance.has(other)) distance.set(other, step);
      else if (distance.get(other) === step - 1 && !distance.has(one)) distance.set(one, step);
    }
  }
  return distance;
}

/** The nodes that links lead to from a node, or from there to it. @param {Uint32Array} edges @param {number} node */
export function linkedWith(edges, node) {
  const found = new Set(/** @type {number[]} */ ([]));
  for (let at = 0; at < edges.length; at += 2) {
    if (edges[at] === node) found.add(edges[at + 1]);
    else if (edges[at + 1] === node) found.add(edges[at]);
  }
  found.delete(node);
  return found;
}
