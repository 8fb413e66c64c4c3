// The note that is chosen in the graph, and its neighbours; and the graph as a list.

import { html, useSignal } from "../../../vendor/preact.js";
import { IconButton, Icon, NoteShape, typeName } from "../../parts/controls.js";
import { useReply } from "../../parts/reply.js";
import { plain } from "../../parts/text.js";
import { changed, go } from "../../state/address.js";
import { neighbours } from "../../state/graph.js";
import { typed } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { laterWords } from "../../words-later.js";
import { count, fullDate } from "../../words.js";
/** @import { Graph } from "../../state/graph.js" */

const SHOWN = 8;
const t = laterWords.graph;
const DAY = 86_400_000;

/** The excerpt that lists show of a note. @param {string} id @param {AbortSignal} signal */
async function excerptOf(id, signal) {
  const { data: chunk } = await ask("GET", `/chunks/${id}/0`, { signal });
  const { data } = await ask("GET", "/notes", { query: { path: [chunk.path] }, signal });
  return data.notes.find((/** @type {{ noteId: string }} */ note) => note.noteId === id)?.excerpt;
}

/**
 * @param {{ graph: Graph, node: number, pinned: boolean, onChoose: (node: number) => void, onPin: () => void }} props
 */
export function Preview({ graph, node, pinned, onChoose, onPin }) {
  const id = graph.ids[node];
  const { data: reply } = useReply(async (signal) => ({ id, text: id ? await excerptOf(id, signal) : "" }), [id]);
  const excerpt = reply.value?.id === id ? plain(reply.value?.text) : "";
  const near = neighbours(graph, node);
  const day = graph.days[node];
  return html`<aside class="panel preview" aria-label="Preview">
    <div class="facts">
      ${
        (typed.value || !id) &&
        html`<span class="kind">
          <${NoteShape} type=${graph.types[node]} quiet />
          <bdi>${id ? plain(typeName(graph.types[node]), 40) : "No such note yet"}</bdi>
        </span>`
      }
      <bdi class="cut">${plain(graph.folders[node], 60)}</bdi>
      <${IconButton} icon="x" class="end" label="Close" onClick=${() => onChoose(-1)} />
    </div>
    <h2 class="name" dir="auto">${plain(graph.titles[node], 200) || "Untitled"}</h2>
    ${excerpt && html`<p class="what" dir="auto">${excerpt}</p>`}
    ${
      graph.tags[node].length > 0 &&
      html`<p class="tags">
        ${graph.tags[node].slice(0, 8).map((tag) => html`<bdi class="tag" key=${tag}>${plain(tag, 40)}</bdi>`)}
      </p>`
    }
    <p class="num note-line">
      ${[
        t.connections(count(near.length)),
        day !== null && `dated ${fullDate(new Date(day * DAY).toISOString().slice(0, 10))}`,
      ]
        .filter(Boolean)
        .join(" · ")}
    </p>
    <div class="near">
      ${near.slice(0, SHOWN).map(
        (other) => html`<button key=${other} onClick=${() => onChoose(other)}>
          <${NoteShape} type=${graph.types[other]} quiet />
          <bdi class="cut">${plain(graph.titles[other], 120)}</bdi>
          <small class="num">${count(graph.degree[other])}</small>
        </button>`,
      )}
    </div>
    ${
      id &&
      html`<div class="go">
        <a class="primary" href=${changed({ view: "notes", note: id, near: "", depth: "" })}>Open note</a>
        <button class="quiet" onClick=${() => go({ near: id })}>Focus here</button>
        <button class="quiet" aria-pressed=${pinned} onClick=${onPin}>
          <${Icon} name="pin" />
          ${pinned ? "Unpin" : "Pin here"}
        </button>
      </div>`
    }
  </aside>`;
}

const LISTED = 200;

/**
 * The graph as a list: notes by connections, with their neighbours.
 * @param {{
 *   graph: Graph,
 *   mask: Uint8Array,
 *   chosen: number,
 *   onChoose: (node: number) => void,
 * }} props
 */
export function AsList({ graph, mask, chosen, onChoose }) {
  const pages = useSignal(1);
  const ranked = [...graph.ranked].filter((node) => mask[node]);
  return html`<section class="graph-list" aria-label="Notes by connections" tabindex="0">
    <h2>Notes by connections</h2>
    <ol>
      ${ranked.slice(0, pages.value * LISTED).map(
        (node) => html`<li key=${node}>
          <button class="entry" aria-expanded=${node === chosen} onClick=${() => onChoose(node === chosen ? -1 : node)}>
            <${NoteShape} type=${graph.types[node]} />
            <bdi class="cut">${plain(graph.titles[node], 160) || "Untitled"}</bdi>
            <span class="n num">${t.connections(count(graph.degree[node]))}</span>
          </button>
          ${
            node === chosen &&
            html`<ul>
              ${neighbours(graph, node)
                .slice(0, 60)
                .map(
                  (other) => html`<li key=${other}>
                    <button class="tag" onClick=${() => onChoose(other)}>
                      <bdi>${plain(graph.titles[other], 80)}</bdi>
                    </button>
                  </li>`,
                )}
              ${
                graph.ids[node] &&
                html`<li>
                  <a class="tag" href=${changed({ view: "notes", note: graph.ids[node] ?? "", near: "" })}>Open note</a>
                </li>`
              }
            </ul>`
          }
        </li>`,
      )}
    </ol>
    ${
      ranked.length > pages.value * LISTED &&
      html`<button class="quiet" onClick=${() => (pages.value += 1)}>Show more</button>`
    }
  </section>`;
}
