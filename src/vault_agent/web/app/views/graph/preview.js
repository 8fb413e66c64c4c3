// The note that is chosen in the graph, and its neighbours; and the graph as a list.

import { html, useSignal } from "../../../vendor/preact.js";
import { IconButton, Icon, NoteShape, typeName } from "../../parts/controls.js";
import { useReply } from "../../parts/reply.js";
import { plain } from "../../parts/text.js";
import { changed, go } from "../../state/address.js";
import { neighbours } from "../../state/graph.js";
import { typed } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { later } from "../../later.js";
import { count, fullDate } from "../../words.js";
/** @import { Graph } from "../../state/graph.js" */

const SHOWN = 8;
const t = later.graph;
const DAY = 86_400_000;

/** The excerpt that lists show of a note. @param {string} id @param {AbortSignal} signal */
async function excerptOf(id, signal) {
  const { data: first } = await ask("GET", `/chunks/${id}/0`, { signal });
  const { data } = await ask("GET", "/notes", { query: { path: [first.path] }, signal });
  return data.notes.find((/** @type {{ noteId: string }} */ each) => each.noteId === id)?.excerpt;
}

/** @param {{ graph: Graph, at: number, pinned: boolean, onChoose: (at: number) => void, onPin: () => void, }} given */
export function Preview({ graph, at, pinned, onChoose, onPin }) {
  const id = graph.ids[at];
  const { data: said } = useReply(async (signal) => ({ id, text: id ? await excerptOf(id, signal) : "" }), [id]);
  const excerpt = said.value?.id === id ? plain(said.value?.text) : "";
  const near = neighbours(graph, at);
  const day = graph.days[at];
  return html`<aside class="panel preview" aria-label="Preview">
    <div class="facts">
      ${
        (typed.value || !id) &&
        html`<span class="kind">
          <${NoteShape} type=${graph.types[at]} quiet />
          <bdi>${id ? plain(typeName(graph.types[at]), 40) : "No such note yet"}</bdi>
        </span>`
      }
      <bdi class="cut">${plain(graph.folders[at], 60)}</bdi>
      <${IconButton} icon="x" class="end" label="Close" onClick=${() => onChoose(-1)} />
    </div>
    <h2 class="name" dir="auto">${plain(graph.titles[at], 200) || "Untitled"}</h2>
    ${excerpt && html`<p class="what" dir="auto">${excerpt}</p>`}
    ${
      graph.tags[at].length > 0 &&
      html`<p class="tags">
        ${graph.tags[at].slice(0, 8).map((tag) => html`<bdi class="tag" key=${tag}>${plain(tag, 40)}</bdi>`)}
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
 *   at: number,
 *   onChoose: (at: number) => void,
 * }} given
 */
export function AsList({ graph, mask, at, onChoose }) {
  const pages = useSignal(1);
  const ranked = [...graph.ranked].filter((each) => mask[each]);
  return html`<section class="graph-list" aria-label="Notes by connections" tabindex="0">
    <h2>Notes by connections</h2>
    <ol>
      ${ranked.slice(0, pages.value * LISTED).map(
        (each) => html`<li key=${each}>
          <button class="entry" aria-expanded=${each === at} onClick=${() => onChoose(each === at ? -1 : each)}>
            <${NoteShape} type=${graph.types[each]} />
            <bdi class="cut">${plain(graph.titles[each], 160) || "Untitled"}</bdi>
            <span class="n num">${t.connections(count(graph.degree[each]))}</span>
          </button>
          ${
            each === at &&
            html`<ul>
              ${neighbours(graph, each)
                .slice(0, 60)
                .map(
                  (other) => html`<li key=${other}>
                    <button class="tag" onClick=${() => onChoose(other)}>
                      <bdi>${plain(graph.titles[other], 80)}</bdi>
                    </button>
                  </li>`,
                )}
              ${
                graph.ids[each] &&
                html`<li>
                  <a class="tag" href=${changed({ view: "notes", note: graph.ids[each] ?? "", near: "" })}>Open note</a>
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
