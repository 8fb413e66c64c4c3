// Where the nodes of the graph are: as the server computed it, or a picture that takes no time.

const MAGIC = 0x314c4156; // "VAL1", little endian
const HEAD = 16;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/**
 * Read the positions that the server computed: `VAL1`, the number of nodes, the revision, x, y.
 * Return null if anything is not as it must be.
 * @param {ArrayBuffer} bytes @param {number} nodes
 */
export function parseLayout(bytes, nodes) {
  if (bytes.byteLength !== HEAD + nodes * 8) return null;
  const head = new DataView(bytes);
  if (head.getUint32(0, true) !== MAGIC || head.getUint32(4, true) !== nodes) return null;
  const x = new Float32Array(bytes.slice(HEAD, HEAD + nodes * 4));
  const y = new Float32Array(bytes.slice(HEAD + nodes * 4));
  for (let node = 0; node < nodes; node += 1) if (!Number.isFinite(x[node]) || !Number.isFinite(y[node])) return null;
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
  for (let node = 0; node < count; node += 1) {
    const list = members.get(group[node]);
    if (list) list.push(node);
    else members.set(group[node], [node]);
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
    list.forEach((node, seed) => {
      const out = 7 * Math.sqrt(seed + 0.5);
      x[node] = cx + Math.cos(seed * GOLDEN) * out;
      y[node] = cy + Math.sin(seed * GOLDEN) * out;
    });
  });
  return { x, y };
}

/**
 * Give nodes the places they had. New ones begin in the middle of their neighbours.
 * @param {(string | null)[]} ids @param {ArrayLike<number>} edges @param {Map<string, [number, number]>} places
 * @param {{ x: Float32Array, y: Float32Array }} otherwise
 */
export function carriedOver(ids, edges, places, otherwise) {
  const { x, y } = otherwise;
  const sums = new Map(/** @type {[number, number[]][]} */ ([]));
  const hasPlace = ids.map((id) => id !== null && places.has(id));
  for (let at = 0; at < edges.length; at += 2) {
    for (const [one, other] of [
      [edges[at], edges[at + 1]],
      [edges[at + 1], edges[at]],
    ]) {
      if (hasPlace[one] || !hasPlace[other]) continue;
      const sum = sums.get(one) ?? [0, 0, 0];
      const [ox, oy] = /** @type {[number, number]} */ (places.get(/** @type {string} */ (ids[other])));
      sums.set(one, [sum[0] + ox, sum[1] + oy, sum[2] + 1]);
    }
  }
  ids.forEach((id, node) => {
    const place = id === null ? undefined : places.get(id);
    const sum = sums.get(node);
    if (place) [x[node], y[node]] = place;
    else if (sum) [x[node], y[node]] = [sum[0] / sum[2] + (node % 7) - 3, sum[1] / sum[2] + (node % 5) - 2];
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
  const linked = new Set(/** @type {number[]} */ ([]));
  for (let at = 0; at < edges.length; at += 2) {
    if (edges[at] === node) linked.add(edges[at + 1]);
    else if (edges[at + 1] === node) linked.add(edges[at]);
  }
  linked.delete(node);
  return linked;
}
