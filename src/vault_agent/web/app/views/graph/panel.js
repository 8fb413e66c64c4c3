// The filters of the graph, which are its legend too.

import { html, useSignal } from "../../../vendor/preact.js";
import { Icon, KINDS, Shape } from "../../parts/sign.js";
import { plain } from "../../parts/text.js";
import { address, go } from "../../state/address.js";
import { later } from "../../later.js";
import { look, setLook } from "../../state/look.js";
import { count, words } from "../../words.js";
import { Groups, Query, Reset } from "./look.js";

/** @typedef {typeof import("./graph.js").NO_FILTER} Filter */

const DAY = 86_400_000;
const t = later.graph;

/**
 * @param {{
 *   counts: Map<string, number>,
 *   colour: string,
 *   names: Record<"folders" | "tags", [string, number][]>,
 *   filter: Filter,
 *   span: [number, number],
 *   found: number | null,
 *   find: { value: string },
 *   onFind: (step: number) => void,
 *   onFilter: (changes: Partial<Filter>) => void,
 *   notes: string[],
 *   list: boolean,
 *   onList: () => void,
 *   onReset: () => void,
 *   searched: boolean,
 * }} given
 */
export function Panel({
  counts,
  colour,
  names,
  filter,
  span,
  found,
  find,
  onFind,
  onFilter,
  notes,
  list,
  onList,
  onReset,
  searched,
}) {
  const folded = useSignal(true);
  const { near, depth } = address.value;
  const toggle = (/** @type {string} */ kind) =>
    onFilter({
      hidden: filter.hidden.includes(kind) ? filter.hidden.filter((each) => each !== kind) : [...filter.hidden, kind],
    });
  const kinds = KINDS.filter((kind) => counts.get(kind));
  const tab = (/** @type {boolean} */ on, /** @type {string} */ label, /** @type {() => void} */ run) =>
    html`<button role="radio" aria-checked=${on} onClick=${run}>${label}</button>`;
  return html`<section class="panel filters" aria-label=${t.filters} data-folded=${folded.value}>
    <label class="field">
      <${Icon} name="search" />
      <span class="visually-hidden">${t.find}</span>
      <input
        id="find"
        dir="auto"
        spellcheck=${false}
        autocomplete="off"
        placeholder=${t.find}
        value=${find.value}
        onInput=${(/** @type {Typed} */ event) => (find.value = event.target.value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
          if (event.key === "Enter" && !event.isComposing) {
            event.preventDefault();
            onFind(event.shiftKey ? -1 : 1);
          } else if (event.key === "Escape" && find.value) {
            event.preventDefault();
            find.value = "";
          }
        }}
      />
      ${found !== null && html`<span class="mode num" role="status">${t.found(count(found))}</span>`}
    </label>
    <div class="legend" role="group" aria-label=${t.types}>
      ${(kinds.length > 1 ? kinds : []).map(
        (kind) => html`<button
          key=${kind}
          aria-pressed=${!filter.hidden.includes(kind)}
          aria-label=${words.kinds[kind]}
          onClick=${() => toggle(kind)}
        >
          <${Shape} type=${kind} quiet />
          <small>${words.kinds[kind]}</small>
        </button>`,
      )}
      <button aria-expanded=${!folded.value} aria-label=${t.filters} onClick=${() => (folded.value = !folded.peek())}>
        <${Icon} name="gear" />
      </button>
    </div>
    ${
      (near || searched) &&
      html`<div class="scope big">
        <span class="tabs" role="radiogroup" aria-label=${t.title}>
          ${tab(!near && !filter.search, t.whole, () => {
            onFilter({ search: false });
            go({ near: "" });
          })}
          ${
            near &&
            [1, 2, 3].map((each) =>
              tab(Number(depth || 1) === each, t.steps(each), () => go({ depth: each === 1 ? "" : String(each) })),
            )
          }
          ${!near && searched && tab(filter.search, t.results, () => onFilter({ search: true }))}
        </span>
      </div>`
    }
    ${
      kinds.length > 1 &&
      html`<div class="big">
        <h2>${t.types}</h2>
        <div class="types">
          ${kinds.map(
            (
              kind,
            ) => html`<button key=${kind} aria-pressed=${!filter.hidden.includes(kind)} onClick=${() => toggle(kind)}>
              <${Shape} type=${kind} quiet />
              ${words.kinds[kind]}
              <span class="n num">${count(counts.get(kind) ?? 0)}</span>
            </button>`,
          )}
        </div>
      </div>`
    }
    <div class="big">
      <${Query}
        label=${t.query}
        hint=${t.filterHint}
        value=${look.value.query}
        onInput=${(/** @type {string} */ query) => setLook({ query })}
      />
    </div>
    ${
      (names.folders.length > 0 || names.tags.length > 0) &&
      html`<div class="big among">
        ${
          /** @type {const} */ ([
            ["folder", "folders", "folder"],
            ["tag", "tags", "tag"],
          ]).map(
            ([field, list, icon]) =>
              names[list].length > 0 &&
              html`<label key=${field}>
                <${Icon} name=${icon} />
                <span class="visually-hidden">${t.only[field]}</span>
                <select
                  value=${filter[field]}
                  onChange=${(/** @type {Typed} */ event) => onFilter({ [field]: event.target.value })}
                >
                  <option value="">${t.any[field]}</option>
                  ${names[list].map(
                    ([name, size]) =>
                      html`<option key=${name} value=${name}>${`${plain(name, 60)} (${count(size)})`}</option>`,
                  )}
                </select>
              </label>`,
          )
        }
      </div>`
    }
    ${
      span[1] > span[0] &&
      html`<div class="big"><h2>${t.dates}</h2><${Days} span=${span} filter=${filter} onFilter=${onFilter} /></div>`
    }
    <div class="big by">
      <h2>${t.colour}</h2>
      <span class="tabs" role="radiogroup" aria-label=${t.colour}>
        ${
          /** @type {const} */ (["type", "folder", "cluster"])
            .filter((each) => each !== "type" || kinds.length > 1)
            .map((each) => tab(colour === each, t.colours[each], () => onFilter({ colour: each })))
        }
      </span>
    </div>
    <div class="big">
      ${
        /** @type {const} */ (["clusters", "orphans", "unresolved"]).map(
          (each) => html`<button
            key=${each}
            class="opt"
            role="switch"
            aria-checked=${filter[each]}
            onClick=${() => onFilter({ [each]: !filter[each] })}
          >
            ${t[each]}
            <span class="switch"></span>
          </button>`,
        )
      }
      <button class="opt" role="switch" aria-checked=${list} onClick=${onList}>
        ${t.list}
        <span class="switch"></span>
      </button>
    </div>
    <${Groups} />
    <${Reset} onReset=${onReset} />
    ${notes.map((each) => html`<p class="note-line big" key=${each}>${each}</p>`)}
  </section>`;
}

/**
 * The first and the last day of the notes that are shown.
 * @param {{ span: [number, number], filter: Filter, onFilter: (changes: Partial<Filter>) => void }} given
 */
function Days({ span: [first, last], filter, onFilter }) {
  const dayOf = (/** @type {number} */ day) =>
    Number.isFinite(day) ? new Date(day * DAY).toISOString().slice(0, 10) : "";
  const field = (/** @type {"first" | "last"} */ end, /** @type {string} */ label, /** @type {number} */ none) =>
    html`<input
      type="date"
      aria-label=${label}
      min=${dayOf(first)}
      max=${dayOf(last)}
      value=${dayOf(filter[end])}
      onChange=${(/** @type {Typed} */ { target }) =>
        onFilter({ [end]: target.value ? Date.parse(target.value) / DAY : none })}
    />`;
  return html`<div class="days">
    ${field("first", t.firstDay, -Infinity)} – ${field("last", t.lastDay, Infinity)}
  </div>`;
}
