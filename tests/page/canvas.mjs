// What is read of a canvas.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCanvas } from "../../src/vault_agent/web/app/state/canvas.js";

const NODE = { id: "a", type: "text", x: 0, y: 0, width: 100, height: 50, text: "One" };

test("nodes, groups and edges are read with their places", () => {
  const canvas = parseCanvas(
    JSON.stringify({
      nodes: [
        NODE,
        { ...NODE, id: "b", type: "file", x: 200, file: "Notes/B.md", color: "3" },
        { ...NODE, id: "g", type: "group", x: -50, y: -50, width: 500, height: 200, label: "All" },
      ],
      edges: [{ id: "e", fromNode: "a", fromSide: "right", toNode: "b", toSide: "left", label: "leads to" }],
    }),
  );
  assert.deepEqual(
    canvas.nodes.map(({ type, text, color }) => [type, text, color]),
    [
      ["text", "One", ""],
      ["file", "Notes/B.md", "3"],
      ["group", "All", ""],
    ],
  );
  assert.deepEqual(canvas.edges, [{ from: [100, 25], to: [200, 25], label: "leads to" }]);
  assert.deepEqual(canvas.box, [-90, -90, 580, 280]);
});

test("what is not as it must be is left out", () => {
  const nodes = [null, 3, { ...NODE, x: "0" }, { ...NODE, type: "script" }, { ...NODE, type: "toString" }, NODE];
  const edges = [null, { fromNode: "a", toNode: "gone" }];
  assert.deepEqual(
    [
      parseCanvas(JSON.stringify({ nodes, edges })).nodes.length,
      parseCanvas(JSON.stringify({ nodes, edges })).edges.length,
    ],
    [1, 0],
  );
  for (const source of ["", "{}", "[]", "null", '{"nodes": 5}']) assert.deepEqual(parseCanvas(source).nodes, []);
  assert.equal(parseCanvas("no canvas"), null);
});
