// The local graph of a note: a small canvas, laid out when the page has nothing else to do.

import { html, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Icon, kindOf } from "../../parts/sign.js";
import { palette, radius, shape } from "../../parts/shapes.js";
import { plain } from "../../parts/text.js";
import { changed, go } from "../../state/address.js";
import { cut, isolated } from "../../state/query.js";
import { dark } from "../../state/settings.js";
import { revision } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { later } from "../../later.js";

const MOST = 60;
const NAMED = 9;
const TICKS = 160;

/** @param {{ read: import("../../state/note.js").Note }} given */
export function Mini({ read }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const depth = useSignal(1);
  const graph = useSignal(/** @type {Laid | null} */ (null));
  const hot = useSignal(-1);

  useEffect(() => {
    const abort = new AbortController();
    const begin = async () => {
      try {
        const { data } = await ask("GET", `/notes/${read.id}/graph`, {
          query: { depth: depth.value, limit: MOST },
          signal: abort.signal,
        });
        const laid = await layOut(data, read.type);
        if (!abort.signal.aborted) graph.value = laid;
      } catch {
        // The rest of the note does not need it.
      }
    };
    const timer = setTimeout(begin, 30);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [read.id, depth.value, revision.value]);
  useEffect(() => {
    const element = canvas.current;
    if (!element || !graph.value) return;
    const laid = graph.value;
    const again = () => draw(element, laid, hot.value);
    again();
    const resized = new ResizeObserver(again);
    resized.observe(element);
    return () => resized.disconnect();
  }, [graph.value, dark.value, hot.value]);

  const nodes = graph.value?.nodes ?? [];
  if (graph.value && nodes.length < 2) return null;
  /** @param {PointerEvent} event */
  const nearest = (event) => {
    const box = /** @type {HTMLElement} */ (canvas.current).getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = -1;
    let least = 18 ** 2;
    nodes.forEach((node, at) => {
      const far = (node.sx - x) ** 2 + (node.sy - y) ** 2;
      if (far < least) [best, least] = [at, far];
    });
    return best;
  };
  return html`<section>
    <h2>
      ${later.note.localGraph}
      <span class="end tabs" role="radiogroup" aria-label=${later.note.depthLabel}>
        ${[1, 2, 3].map(
          (each) => html`<button
            key=${each}
            role="radio"
            aria-checked=${depth.value === each}
            aria-label=${later.note.depth(each)}
            onClick=${() => (depth.value = each)}
          >
            ${each}
          </button>`,
        )}
      </span>
      <a
        class="icon"
        href=${changed({ view: "graph", near: read.id })}
        aria-label=${later.note.openGraph}
        title=${later.note.openGraph}
      >
        <${Icon} name="fit" />
      </a>
    </h2>
    <div class="mini">
      <canvas
        ref=${canvas}
        role="img"
        aria-label=${later.note.localGraphSays(Math.max(0, nodes.length - 1))}
        onPointerMove=${(/** @type {PointerEvent} */ event) => (hot.value = nearest(event))}
        onPointerLeave=${() => (hot.value = -1)}
        onClick=${(/** @type {PointerEvent} */ event) => {
          const at = nearest(event);
          if (at > 0) go({ note: nodes[at].id });
        }}
      ></canvas>
    </div>
  </section>`;
}

/**
 * A note in the drawing: where it is laid out, and where and how large it is drawn.
 * @typedef {{
 *   id: string,
 *   title: string,
 *   kind: import("../../parts/sign.js").Kind,
 *   degree: number,
 *   index: number,
 *   x: number,
 *   y: number,
 *   sx: number,
 *   sy: number,
 *   r: number,
 * }} Node
 */
/** @typedef {{ nodes: Node[], links: { source: Node, target: Node }[] }} Laid */

/** @param {Wire.LocalGraph} data @param {string | null} type @returns {Promise<Laid>} */
async function layOut(data, type) {
  const { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } = await import(
    "../../../vendor/d3-force.js"
  );
  const nodes = data.nodes.map((node, at) => ({
    id: node.noteId,
    title: plain(node.title, 40),
    kind: kindOf(at ? node.type : type),
    degree: node.in + node.out,
    index: at,
    x: Number.NaN, // d3-force places what has no place
    y: Number.NaN,
    sx: 0,
    sy: 0,
    r: 0,
    ...(at === 0 && { fx: 0, fy: 0 }),
  }));
  const links = data.edges.map(([source, target]) => ({ source: nodes[source], target: nodes[target] }));
  const simulation = forceSimulation(nodes)
    .force("link", forceLink(links).distance(46).strength(0.5))
    .force("charge", forceManyBody().strength(-150).distanceMax(320))
    .force("apart", forceCollide(14))
    .force("x", forceX(0).strength(0.05))
    .force("y", forceY(0).strength(0.09))
    .stop();
  simulation.tick(TICKS);
  return { nodes, links };
}

/** @param {HTMLCanvasElement} canvas @param {Laid} graph @param {number} hot */
function draw(canvas, { nodes, links }, hot) {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!width) return;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const to = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  to.scale(ratio, ratio);
  const colours = palette();
  const reach = (/** @type {"x" | "y"} */ axis) => Math.max(40, ...nodes.map((node) => Math.abs(node[axis])));
  const scale = Math.min((width / 2 - 34) / reach("x"), (height / 2 - 24) / reach("y"), 1.7);
  for (const node of nodes) [node.sx, node.sy] = [width / 2 + node.x * scale, height / 2 + node.y * scale - 4];
  for (const near of [false, true]) {
    to.strokeStyle = near ? colours["edge-hot"] : colours.edge;
    to.globalAlpha = near ? 0.6 : 1;
    to.beginPath();
    for (const { source, target } of links) {
      if ((source.index === Math.max(hot, 0) || target.index === Math.max(hot, 0)) !== near) continue;
      to.moveTo(source.sx, source.sy);
      to.lineTo(target.sx, target.sy);
    }
    to.stroke();
  }
  to.globalAlpha = 1;
  nodes.forEach((node, at) => {
    node.r = Math.min(at ? 6.5 : 8, radius(node.degree) * 0.75 + 0.8);
    to.fillStyle = colours[node.kind];
    to.beginPath();
    shape(to, node.kind, node.sx, node.sy, node.r);
    to.fill("evenodd");
    if (at && at !== hot) return;
    to.strokeStyle = colours.accent;
    to.lineWidth = 2;
    to.beginPath();
    to.arc(node.sx, node.sy, node.r + 4.5, 0, 7);
    to.stroke();
    to.lineWidth = 1;
  });
  const ranked = nodes
    .map((node, at) => ({ node, at }))
    .sort(
      (a, b) =>
        Number(b.at === hot) - Number(a.at === hot) ||
        Number(b.at === 0) - Number(a.at === 0) ||
        b.node.degree - a.node.degree,
    );
  /** @type {number[][]} */
  const taken = [];
  const over = (/** @type {number[]} */ one, /** @type {number[]} */ other) =>
    other[0] < one[2] && one[0] < other[2] && other[1] < one[3] && one[1] < other[3];
  const circles = nodes.map(({ sx, sy, r }) => [sx - r, sy - r, sx + r, sy + r]);
  to.textAlign = "center";
  to.textBaseline = "middle";
  to.lineJoin = "round";
  for (const { node, at } of ranked) {
    if (taken.length >= NAMED && at !== hot) break;
    const strong = at === 0 || at === hot;
    to.font = `${strong ? 600 : 500} 11px ${colours.sans}`;
    const name = isolated(at === hot ? node.title : cut(node.title, 24));
    const half = to.measureText(name).width / 2;
    const below = node.sy + node.r + (at ? 9 : 13);
    const beside = node.r + half + 4;
    const places = [
      [node.sx, below],
      [node.sx, node.sy - node.r - 9],
      [node.sx + beside, node.sy],
      [node.sx - beside, node.sy],
    ].slice(0, strong ? 1 : 4);
    const boxes = places.map(([px, y]) => {
      const x = Math.max(half + 4, Math.min(px, width - half - 4));
      return { x, y, box: [x - half - 2, y - 7, x + half + 2, y + 7] };
    });
    const clear = ({ box } = boxes[0]) =>
      box[1] > 0 &&
      box[3] < height &&
      !taken.some((other) => over(box, other)) &&
      (strong || !circles.some((/** @type {number[]} */ other) => over(box, other)));
    const place = boxes.find(clear) ?? (at === hot ? boxes[0] : null);
    if (!place) continue;
    const { x, y, box } = place;
    taken.push(box);
    to.strokeStyle = colours.paper;
    to.lineWidth = 3.5;
    to.strokeText(name, x, y);
    to.fillStyle = strong ? colours.ink : colours["ink-2"];
    to.fillText(name, x, y);
  }
}
