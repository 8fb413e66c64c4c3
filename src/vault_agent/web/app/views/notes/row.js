// One note in the list.

import { html } from "../../../vendor/preact.js";
import { changed } from "../../state/address.js";
import { Icon, NoteShape } from "../../parts/sign.js";
import { hitsOf, Marked, otherName, plain } from "../../parts/text.js";
import { folderOf, lastOf } from "../../state/query.js";
import { typed } from "../../state/vault.js";
import { count, fullDate, shortDate, words } from "../../words.js";

const TAGS = 3;

/**
 * @param {{
 *   row: import("../../state/results.js").Row,
 *   query: string,
 *   current: boolean,
 *   focusable: boolean,
 *   onOpen: (event: MouseEvent) => void,
 * }} given
 */
export function Row({ row, query, current, focusable, onOpen }) {
  const title = plain(row.title) || words.untitled;
  const folder = folderOf(row.path);
  const more = row.tags.length - TAGS;
  const file = otherName(row.path, title);
  return html`<a
    class="row"
    data-typed=${typed.value}
    href=${changed({ note: row.id, at: row.at ?? "" })}
    data-note=${row.id}
    tabindex=${focusable ? 0 : -1}
    aria-current=${current ? "true" : undefined}
    onClick=${onOpen}
    draggable=${false}
  >
    <${NoteShape} type=${row.type} />
    <div class="name">
      <h2 class="cut" dir="auto" title=${title.length > 40 ? title : undefined}>
        <${Marked} text=${title} ranges=${query ? hitsOf(title, query) : []} />
      </h2>
      ${file && html`<bdi class="file cut" title=${plain(row.path)}>${file}</bdi>`}
    </div>
    <time class="num" datetime=${row.date ?? ""} title=${fullDate(row.date)}>${shortDate(row.date)}</time>
    <p dir="auto">
      ${row.heading && html`<bdi>${plain(row.heading, 80)}</bdi>${" · "}`}
      <${Marked} text=${row.text.slice(0, 400)} ranges=${row.ranges} />
      ${!row.text && plain(folder)}
    </p>
    <span class="meta">
      ${row.tags.slice(0, TAGS).map((tag) => html`<bdi class="tag" key=${tag}>${plain(tag, 60)}</bdi>`)}
      ${more > 0 && html`<span class="tag num">${words.notes.moreTags(more)}</span>`}
      ${
        !row.tags.length &&
        row.text &&
        folder &&
        html`<bdi class="folder cut" title=${plain(folder)}>${plain(lastOf(folder), 60)}</bdi>`
      }
      ${
        row.connections
          ? html`<span class="deg num" title=${words.notes.connections(row.connections)}>
            <${Icon} name="graph" />
            ${count(row.connections)}
            <span class="visually-hidden">${words.notes.connections(row.connections)}</span>
          </span>`
          : null
      }
    </span>
  </a>`;
}
