// Where the nodes of the graph are: positions of the server are checked, and every node has a place.

import assert from "node:assert/strict";
import { test } from "node:test";
import { carriedOver, linkedWith, parseLayout, sunflower } from "../../src/vault_agent/web/app/state/places.js";

/** Positions as the server sends them. */
function sent(x, y, magic = "VAL1") {
  const head = new Uint8Array(16);
  head.set(new TextEncoder().encode(magic));
  new DataView(head.buffer).setUint32(4, x.length, true);
  const body = new Uint8Array(new Float32Array([...x, ...y]).buffer);
  return new Uint8Array([...head, ...body]).buffer;
}

test("positions of the server are read", () => {
  assert.deepEqual(parseLayout(sent([1, 2], [3, -4.5]), 2), { x: Float32Array.of(1, 2), y: Float32Array.of(3, -4.5) });
});

test("positions that do not fit the nodes are not used", () => {
  const bytes = sent([1, 2], [3, 4]);
  for (const [positions, nodes] of [
    [bytes, 3],
    [bytes.slice(0, 31), 2],
    [new ArrayBuffer(0), 0],
    [sent([1, 2], [3, 4], "VAL2"), 2],
    [sent([1, Number.NaN], [3, 4]), 2],
    [sent([1, 2], [Number.POSITIVE_INFINITY, 4]), 2],
  ]) {
    assert.equal(parseLayout(positions, nodes), null);
  }
});

test("every node has a place of its own, and the best connected is in the middle of its group", () => {
  const group = Array.from({ length: 300 }, (_, at) => [0, 1, 1, -1][at % 4]);
  const degree = group.map((_, at) => (at === 42 ? 99 : 1));
  const { x, y } = sunflower(group, degree);
  const places = new Set(group.map((_, at) => `${x[at]} ${y[at]}`));
  assert.equal(places.size, 300);
  assert.ok([...x, ...y].every(Number.isFinite));
  const members = group.flatMap((name, at) => (name === group[42] ? [at] : []));
  const middle = [x, y].map((axis) => members.reduce((sum, at) => sum + axis[at], 0) / members.length);
  const far = (at) => Math.hypot(x[at] - middle[0], y[at] - middle[1]);
  const nearest = members.toSorted((a, b) => far(a) - far(b)).slice(0, 3);
  assert.ok(nearest.includes(42), `${nearest}`);
});

test("nodes keep their places, and a new one begins beside its neighbours", () => {
  const known = new Map([
    ["a", [100, 0]],
    ["b", [200, 0]],
  ]);
  const otherwise = { x: new Float32Array(4).fill(9), y: new Float32Array(4).fill(9) };
  const { x, y } = carriedOver(["a", "b", "new", null], [0, 2, 2, 1], known, otherwise);
  assert.deepEqual([x[0], y[0], x[1], y[1]], [100, 0, 200, 0]);
  assert.ok(Math.abs(x[2] - 150) < 5 && Math.abs(y[2]) < 5, `${x[2]} ${y[2]}`);
  assert.deepEqual([x[3], y[3]], [9, 9]);
});

test("links lead both ways, and not from a node to itself", () => {
  assert.deepEqual([...linkedWith(Uint32Array.of(0, 1, 2, 0, 0, 0, 1, 2), 0)].sort(), [1, 2]);
});
