// A canvas, drawn to be read. Its files lead on.

import { html } from "../../../vendor/preact.js";
import { useReply } from "../../parts/reply.js";
import { Empty, Trouble } from "../../parts/say.js";
import { plain } from "../../parts/text.js";
import { changed, identify } from "../../state/address.js";
import { parseCanvas } from "../../state/canvas.js";
import { readText } from "../../state/files.js";
import { nameOf, withoutEnding } from "../../state/query.js";
import { closeOverlay, overlay } from "../frame/frame.js";
/** @import { CanvasNode } from "../../state/canvas.js" */

const SMALLEST = 0.5; // share of its size; what is smaller scrolls
const GROUND = 6; // px of a group around its name

/** @param {{ path: string }} props */
export function Canvas({ path }) {
  const { data: drawn, fault } = useReply(async () => parseCanvas(await readText(path)), [path]);
  if (fault.value) return html`<${Trouble} fault=${fault.value} />`;
  if (drawn.value === undefined) return null;
  if (!drawn.value?.nodes.length)
    return html`<${Empty} icon="graph" title="This canvas is empty, or cannot be read." />`;
  const { nodes, edges, box } = drawn.value;
  const groups = nodes.filter(({ type }) => type === "group");
  return html`<div class="canvas" tabindex="0" role="region" aria-label=${`Canvas ${plain(nameOf(path), 100)}`}>
    <svg viewBox=${box.join(" ")} style=${{ minInlineSize: `${Math.round(box[2] * SMALLEST)}px` }}>
      ${groups.map(
        (group) => html`<g key=${group.id} style=${inkOf(group)}>
          <rect x=${group.x} y=${group.y} width=${group.width} height=${group.height} rx="8"></rect>
          <text x=${group.x + GROUND} y=${group.y - GROUND}>${plain(group.text, 100)}</text>
        </g>`,
      )}
      ${edges.map(
        ({ from, to, label }, index) => html`<g key=${index}>
          <line x1=${from[0]} y1=${from[1]} x2=${to[0]} y2=${to[1]}></line>
          <circle cx=${to[0]} cy=${to[1]} r="4"></circle>
          ${label && html`<text x=${(from[0] + to[0]) / 2} y=${(from[1] + to[1]) / 2}>${plain(label, 100)}</text>`}
        </g>`,
      )}
      ${nodes
        .filter(({ type }) => type !== "group")
        .map(
          (node) => html`<foreignObject
            key=${node.id}
            x=${node.x}
            y=${node.y}
            width=${Math.max(1, node.width)}
            height=${Math.max(1, node.height)}
          >
            <div class="canvas-node" style=${inkOf(node)}><${Content} node=${node} /></div>
          </foreignObject>`,
        )}
    </svg>
  </div>`;
}

/** The colour of a node: one of Obsidian's six, or none. @param {CanvasNode} node */
const inkOf = ({ color }) => (/^[1-6]$/.test(color) ? { "--ink-own": `var(--group-${color})` } : {});

/** @param {{ node: CanvasNode }} props */
function Content({ node: { type, text } }) {
  const name = html`<bdi>${plain(nameOf(text), 200)}</bdi>`;
  if (type === "text") return html`<p dir="auto">${text}</p>`;
  if (type === "link")
    return /^https?:\/\//i.test(text)
      ? html`<a href=${text} target="_blank" rel="noopener noreferrer"><bdi>${plain(text, 200)}</bdi></a>`
      : html`<bdi>${plain(text, 200)}</bdi>`;
  if (withoutEnding(text) !== text)
    return html`<a href=${changed({ view: "notes", note: identify(text) })} onClick=${closeOverlay}>${name}</a>`;
  return html`<button class="plain" onClick=${() => (overlay.value = { name: "file", path: text })}>${name}</button>`;
}
