// The filters of the graph, which are its legend too.

import { html, useSignal } from "../../../vendor/preact.js";
import { Icon, KINDS, Shape, Choices, Field, Switch } from "../../parts/controls.js";
import { sentence } from "../../parts/say.js";
import { plain } from "../../parts/text.js";
import { address, go } from "../../state/address.js";
import { laterWords } from "../../words-later.js";
import { matched, query, setQuery } from "../../state/look.js";
import { count, words } from "../../words.js";

/** @typedef {typeof import("./graph.js").NO_FILTER} Filter */

const DAY = 86_400_000;
const COLOURS = /** @type {const} */ (["type", "folder", "cluster"]);
const t = laterWords.graph;

/**
 * @param {{
 *   counts: Map<string, number>,
 *   colour: string,
 *   names: Record<"folders" | "tags", [string, number][]>,
 *   filter: Filter,
 *   span: [number, number],
 *   hitCount: number | null,
 *   find: { value: string },
 *   onFind: (step: number) => void,
 *   onFilter: (changes: Partial<Filter>) => void,
 *   remarks: string[],
 *   list: boolean,
 *   onList: () => void,
 * }} props
 */
export function Panel({
  counts,
  colour,
  names,
  filter,
  span,
  hitCount,
  find,
  onFind,
  onFilter,
  remarks,
  list,
  onList,
}) {
  const folded = useSignal(true);
  const { near, depth } = address.value;
  const toggle = (/** @type {string} */ kind) =>
    onFilter({
      hidden: filter.hidden.includes(kind) ? filter.hidden.filter((other) => other !== kind) : [...filter.hidden, kind],
    });
  const kinds = KINDS.filter((kind) => counts.get(kind));
  const scopes = [
    { value: "", face: "Whole graph" },
    ...[1, 2, 3].map((steps) => ({ value: String(steps), face: t.steps(steps) })),
  ];
  const show = (/** @type {string} */ scope) => go(scope ? { depth: scope === "1" ? "" : scope } : { near: "" });
  return html`<section class="panel filters" aria-label="Filter the graph" data-folded=${folded.value}>
    <${Field}
      label="Find in the graph"
      id="find"
      placeholder="Find in the graph"
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
    >
      ${hitCount !== null && html`<span class="mode num" role="status">${count(hitCount)} found</span>`}
    <//>
    <div class="legend" role="group" aria-label="Types">
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
      <button
        aria-expanded=${!folded.value}
        aria-label="Filter the graph"
        onClick=${() => (folded.value = !folded.peek())}
      >
        <${Icon} name="gear" />
      </button>
    </div>
    ${
      near &&
      html`<div class="scope big">
        <${Choices}
          label="Graph"
          value=${depth || "1"}
          choices=${scopes}
          onChoose=${show}
        />
      </div>`
    }
    ${
      kinds.length > 1 &&
      html`<div class="big">
        <h2>Types</h2>
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
    <div class="big"><${Query} /></div>
    ${
      (names.folders.length > 0 || names.tags.length > 0) &&
      html`<div class="big among">
        ${
          /** @type {const} */ ([
            ["folder", "folders", "folder"],
            ["tag", "tags", "tag"],
          ]).map(
            ([field, plural, icon]) =>
              names[plural].length > 0 &&
              html`<label key=${field}>
                <${Icon} name=${icon} />
                <span class="visually-hidden">${t.only[field]}</span>
                <select
                  value=${filter[field]}
                  onChange=${(/** @type {Typed} */ event) => onFilter({ [field]: event.target.value })}
                >
                  <option value="">${t.any[field]}</option>
                  ${names[plural].map(
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
      html`<div class="big"><h2>Dates</h2><${Days} span=${span} filter=${filter} onFilter=${onFilter} /></div>`
    }
    <div class="big by">
      <h2>Colour by</h2>
      <${Choices}
        label="Colour by"
        value=${colour}
        choices=${COLOURS.filter((value) => value !== "type" || kinds.length > 1).map((value) => ({
          value,
          face: t.colours[value],
        }))}
        onChoose=${(/** @type {string} */ colour) => onFilter({ colour })}
      />
    </div>
    <div class="big">
      ${
        /** @type {const} */ (["clusters", "orphans", "unresolved"]).map(
          (field) =>
            html`<${Switch} key=${field} on=${filter[field]} onClick=${() => onFilter({ [field]: !filter[field] })}>
              ${t.switches[field]}
            <//>`,
        )
      }
      <${Switch} on=${list} onClick=${onList}>As a list<//>
    </div>
    ${remarks.map((line) => html`<p class="note-line big" key=${line}>${line}</p>`)}
  </section>`;
}

/** The field for a query, with the number of what it found. */
function Query() {
  const match = matched.value;
  const number = match && (match.cut ? `${count(match.count)}+` : count(match.count));
  const status = match?.fault ? sentence(match.fault) : number;
  return html`<${Field}
    label="Only what a search finds"
    maxlength="1000"
    placeholder="Filter: tag:… path:… words"
    value=${query.value}
    onInput=${(/** @type {Typed} */ event) => setQuery(event.target.value)}
  >
    ${query.value.trim() && status && html`<span class="mode num cut" role="status" title=${status}>${status}</span>`}
  <//>`;
}

/**
 * The first and the last day of the notes that are shown.
 * @param {{ span: [number, number], filter: Filter, onFilter: (changes: Partial<Filter>) => void }} props
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
    ${field("first", "First day", -Infinity)} – ${field("last", "Last day", Infinity)}
  </div>`;
}
