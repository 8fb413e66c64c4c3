// The local graph of a note: a small canvas, drawn by the worker of the graph.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { Choices, Icon, KINDS, kindOf } from "../../parts/controls.js";
import { useReply } from "../../parts/reply.js";
import { useStage } from "../../parts/stage.js";
import { plain } from "../../parts/text.js";
import { changed, go } from "../../state/address.js";
import { revision } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { laterWords } from "../../words-later.js";
import { count } from "../../words.js";
/** @import { Note } from "../../state/note.js" */
/** @import { Scene } from "../../workers/picture.js" */

const MOST = 60; // notes
const STEPS = [1, 2, 3];
const MARGIN = { start: 30, end: 30, top: 18, bottom: 26 }; // px, for names
const CLOSEST = 1.7; // px for a unit of the layout

/** @param {{ read: Note }} props */
export function Mini({ read }) {
  const depth = useSignal(1);
  const query = { depth: depth.value, limit: MOST };
  const { data: near } = useReply(
    async (signal) => (await ask("GET", `/notes/${read.id}/graph`, { query, signal })).data,
    [read.id, depth.value, revision.value],
  );
  if (near.value && near.value.nodes.length < 2) return null;
  const { nodes = [], truncated = false } = near.value ?? {};
  const isFull = truncated && depth.value === 1; // more steps would show the same notes
  return html`<section>
    <h2>
      Local graph
      <${Choices}
        label="Distance"
        value=${depth.value}
        choices=${STEPS.map((value) => ({
          value,
          face: value,
          name: laterWords.note.depth(value),
          disabled: isFull && value > 1,
        }))}
        onChoose=${(/** @type {number} */ steps) => (depth.value = steps)}
        end
      />
      <a
        class="icon"
        href=${changed({ view: "graph", near: read.id })}
        aria-label="Open in the graph"
        title="Open in the graph"
      >
        <${Icon} name="fit" />
      </a>
    </h2>
    <div class="mini">${near.value && html`<${Picture} near=${near.value} type=${read.type} />`}</div>
    ${
      truncated &&
      html`<small class="num">
        ${
          isFull
            ? `The nearest ${count(nodes.length - 1)} of ${count(nodes[0].in + nodes[0].out)} connections`
            : "Only the nearest notes are shown"
        }
      </small>`
    }
  </section>`;
}

/** @param {{ near: Wire.LocalGraph, type: string | null }} props `type` of the note in the middle */
function Picture({ near, type }) {
  const over = useSignal(false);
  const { canvas, tell } = useStage({
    margin: () => MARGIN,
    closest: CLOSEST,
    ground: "paper",
    onMessage: ({ type, at }) => {
      if (type === "hover") over.value = at > 0;
      if (type === "picked" && at > 0) go({ note: near.nodes[at].noteId });
    },
  });
  useEffect(() => tell("scene", { middle: 0, refit: true, scene: sceneOf(near, type) }), [near]);
  const place = (/** @type {PointerEvent} */ event) => ({ x: event.offsetX, y: event.offsetY });
  return html`<canvas
    ref=${canvas}
    role="img"
    data-over=${over.value}
    aria-label=${laterWords.note.localGraphSays(near.nodes.length - 1)}
    onPointerMove=${(/** @type {PointerEvent} */ event) => tell("hover", place(event))}
    onPointerLeave=${() => tell("leave", {})}
    onClick=${(/** @type {PointerEvent} */ event) => tell("pick", place(event))}
  ></canvas>`;
}

/** @param {Wire.LocalGraph} near @param {string | null} type @returns {Scene} */
function sceneOf({ nodes, edges }, type) {
  const size = nodes.length;
  const degree = Uint32Array.from(nodes, (node) => node.in + node.out);
  return {
    x: new Float32Array(size),
    y: new Float32Array(size),
    kind: Uint8Array.from(nodes, (node, at) => KINDS.indexOf(kindOf(at ? node.type : type))),
    kinds: KINDS,
    degree,
    edges: Uint32Array.from(edges.flat()),
    group: new Int32Array(size).fill(-1),
    mask: new Uint8Array(size).fill(1),
    bright: null,
    ranked: Uint32Array.from(nodes.keys()).sort((one, other) => degree[other] - degree[one]),
    titles: nodes.map((node) => plain(node.title, 60)),
    names: [],
    clusters: false,
    grouped: false,
  };
}
