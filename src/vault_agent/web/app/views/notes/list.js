// The list: virtual, with rows of one height. Only what is near the view is in the document.

import { html, useEffect, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { useCommands } from "../../parts/commands.js";
import { Empty, Trouble } from "../../parts/say.js";
import { Later } from "../../parts/lazy.js";
import { Icon, NoteShape } from "../../parts/controls.js";
import { hitsOf, Marked, otherName, plain } from "../../parts/text.js";
import { useVirtual } from "../../parts/virtual.js";
import { address, changed, FILTERS, go, LISTS } from "../../state/address.js";
import {
  busy,
  chosen,
  criteria,
  fault,
  fetchMore,
  filtered,
  hovered,
  refresh,
  reload,
  results,
  searching,
} from "../../state/results.js";
import { folderOf, lastOf } from "../../state/query.js";
import { settings } from "../../state/settings.js";
import { health, job, mayWrite, typed } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { agoWords, count, fullDate, shortDate, timeOf, words } from "../../words.js";
import { overlay } from "../frame/frame.js";

const NEAR = 5; // rows beyond the view
const AHEAD = 30; // rows before the end at which the next page is fetched
const GHOSTS = 6;
const TAGS = 3; // of a row
const MANY = 200; // notes, from which on rows are compact
const WHY = () => import("./why.js");
const OPENED = () => import("./opened.js");

/**
 * What the rows of a list have room for, so that all are as high as the fullest one.
 * @param {import("../../state/results.js").Row[]} rows @param {number | null} total null for a search
 * @returns {"compact" | "full" | "text" | "names"}
 */
function shapeOf(rows, total) {
  const { density } = settings.value;
  if (density === "compact" || (!density && (total ?? 0) > MANY)) return "compact";
  if (rows.some((row) => row.tags.length || row.connections || (row.text && folderOf(row.path)))) return "full";
  return rows.some((row) => row.text) ? "text" : "names";
}

/** The first row of a new list is at the top. */
export function List() {
  const { scroll, probe, first, height, last, ...virtual } = useVirtual({ usual: 108, near: NEAR });
  const { rows, total, more, key } = results.value;
  const open = address.value.note;

  useLayoutEffect(() => {
    if (scroll.current) scroll.current.scrollTop = 0;
    virtual.measure();
  }, [key]);
  useLayoutEffect(virtual.measure, [shapeOf(rows, total), settings.value.size]);

  const revealed = useRef("");
  useEffect(() => {
    if (!rows.length || revealed.current === open) return;
    revealed.current = open;
    virtual.bring(
      rows.findIndex((row) => row.id === open),
      true,
    );
  }, [open, rows]);

  useEffect(() => {
    if (more && last > rows.length - AHEAD) fetchMore();
    if (first.value === 0) refresh();
  }, [last, rows.length, more]);

  const walked = rows.findIndex((row) => row.id === (chosen.value || open));
  const focusAt = walked < 0 ? 0 : walked;

  /** @param {number} to */
  const walk = (to) => {
    const row = rows[Math.max(0, Math.min(to, rows.length - 1))];
    if (!row) return;
    chosen.value = row.id;
    virtual.focus(rows.indexOf(row));
  };
  useCommands(
    () => [
      {
        id: "next",
        name: "Next note in the list",
        keys: ["j"],
        run: () => walk(document.activeElement?.closest(".rows") || chosen.peek() || open ? focusAt + 1 : 0),
        hidden: true,
      },
      { id: "previous", name: "Previous note in the list", keys: ["k"], run: () => walk(focusAt - 1), hidden: true },
    ],
    [rows, focusAt, height.value, open],
  );

  /** @param {KeyboardEvent} event */
  const keyed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = virtual.step(event.key, focusAt, rows.length);
    if (to === undefined) return;
    event.preventDefault();
    if (event.key === "ArrowUp" && focusAt === 0) document.getElementById("find")?.focus();
    else walk(to);
  };

  const size = total ?? rows.length + (more ? GHOSTS : 0);
  const query = criteria.value.text;
  const far = open && key && !query && !filtered.value && !rows.some((row) => row.id === open);
  const rowShape = shapeOf(rows, total);
  return html`
    ${far && html`<${Later} load=${OPENED} name="Opened" />`}
    <div
      class=${`scroll${busy.value ? " busy" : ""}`}
      data-rows=${rowShape}
      ref=${scroll}
      onScroll=${virtual.measure}
      onKeyDown=${keyed}
      aria-busy=${busy.value}
      onPointerLeave=${() => (hovered.value = "")}
      onPointerOver=${(/** @type {Event & { target: Element }} */ event) =>
        (hovered.value =
          /** @type {HTMLElement | null | undefined} */ (event.target.closest?.(".row"))?.dataset.note ?? "")}
    >
      ${fault.value && html`<${Trouble} fault=${fault.value} again=${reload} />`}
      ${
        rows.length > 0 &&
        html`<ol class="rows" aria-label="Notes" style=${{ blockSize: `${size * height.value}px` }}>
          ${virtual.drawn(size, Math.min(focusAt, rows.length - 1)).map((at) => {
            const row = rows[at];
            return html`<li
              key=${row ? row.id : `ghost-${at}`}
              style=${{ insetBlockStart: `${at * height.value}px` }}
              aria-setsize=${total ?? (more ? -1 : rows.length)}
              aria-posinset=${at + 1}
            >
              ${
                row
                  ? html`
                    <${Row}
                      row=${row}
                      query=${query}
                      current=${row.id === open}
                      focusable=${at === focusAt}
                      onOpen=${() => (chosen.value = row.id)}
                    />
                    ${query && html`<${Later} load=${WHY} name="Why" props=${{ row, focusable: at === focusAt }} />`}
                  `
                  : html`<div class="ghost" aria-hidden="true"><i></i><i></i><i></i></div>`
              }
            </li>`;
          })}
        </ol>`
      }
      <div class="row visually-hidden" ref=${probe} aria-hidden="true" style=${{ blockSize: "var(--row)" }}></div>
      ${!rows.length && !fault.value && (busy.value || !key ? html`<${Ghosts} />` : html`<${None} />`)}
    </div>
  `;
}

/**
 * One note in the list.
 *
 * @param {{
 *   row: import("../../state/results.js").Row,
 *   query: string,
 *   current: boolean,
 *   focusable: boolean,
 *   onOpen: (event: MouseEvent) => void,
 * }} props
 */
export function Row({ row, query, current, focusable, onOpen }) {
  const title = plain(row.title) || "Untitled";
  const folder = folderOf(row.path);
  const more = row.tags.length - TAGS;
  const file = otherName(row.path, title);
  return html`<a
    class="row"
    data-typed=${typed.value}
    href=${changed({ note: row.id, at: row.at ?? "", line: row.line ?? "" })}
    data-note=${row.id}
    tabindex=${focusable ? 0 : -1}
    aria-current=${current ? "true" : undefined}
    onClick=${onOpen}
    draggable=${false}
  >
    <${NoteShape} type=${row.type} />
    <div class="name">
      <h2 class="cut" dir="auto" title=${title.length > 25 ? title : undefined}>
        <${Marked} text=${title} ranges=${query ? hitsOf(title, query) : []} />
      </h2>
      ${file && html`<bdi class="file cut" title=${plain(row.path)}>${file}</bdi>`}
    </div>
    <time class="num" datetime=${row.date ?? ""} title=${fullDate(row.date)}>${shortDate(row.date)}</time>
    <p dir="auto">
      ${row.heading && html`<bdi>${plain(row.heading, 80)}</bdi>${" · "}`}
      <${Marked} text=${row.text.slice(0, 400)} ranges=${row.ranges} />
    </p>
    <span class="meta">
      ${row.tags.slice(0, TAGS).map((tag) => html`<bdi class="tag" key=${tag}>${plain(tag, 60)}</bdi>`)}
      ${more > 0 && html`<span class="tag num">+${more}</span>`}
      ${
        !row.tags.length &&
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

const Ghosts = () => html`<div aria-hidden="true">
  ${[...Array(GHOSTS).keys()].map((at) => html`<div class="ghost" key=${at}><i></i><i></i><i></i></div>`)}
</div>`;

function None() {
  const { indexedAt } = results.value;
  if (searching.value || filtered.value) {
    const clear = () =>
      go({
        q: "",
        ...Object.fromEntries(FILTERS.map((name) => [name, LISTS.some((list) => list === name) ? [] : ""])),
      });
    return html`<${Empty} icon="search" title="Nothing found">
      <p>
        Fewer words or fewer filters find more.
        ${indexedAt && ` The index was made ${agoWords((Date.now() - timeOf(indexedAt)) / 1000)}.`}
      </p>
      <button class="quiet" onClick=${clear}>Show all notes</button>
    <//>`;
  }
  const hasIndex = health.value?.index.available;
  const running = health.value?.runningJob || job.value?.state === "running";
  return html`<${Empty} icon="notes" title="No notes yet">
    <p>${hasIndex ? "The folder has no notes." : "The server has no index of this folder yet."}</p>
    ${
      running
        ? html`<p>Indexing</p>`
        : hasIndex && mayWrite.value
          ? html`<button class="primary" onClick=${() => (overlay.value = { name: "create" })}>
            New note
          </button>`
          : html`<button
            class="primary"
            onClick=${() => void ask("POST", "/index", { body: {} }).catch((error) => (fault.value = error))}
          >
            Index now
          </button>`
    }
  <//>`;
}
