// The settings of the graph's picture: groups with a colour each.

import { html, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { sentence, toast } from "../../parts/say.js";
import { MenuButton } from "../../parts/later.js";
import "../../parts/menu.js"; // so that the menu opens at once
import { GROUPS } from "../../parts/shapes.js";
import { Entry, Field, IconButton } from "../../parts/controls.js";
import { Icon } from "../../parts/sign.js";
import { look, matches, setLook, USUAL } from "../../state/look.js";
import { later } from "../../later.js";
import { count } from "../../words.js";
/** @import { Group } from "../../state/look.js" */

const t = later.graph;

/** What a query found, in few words. @param {string} query */
function said(query) {
  const found = matches.value.get(query.trim());
  if (!found) return "";
  if (found.fault) return sentence(found.fault);
  return found.cut ? t.atLeast(count(found.count)) : count(found.count);
}

/**
 * A field for a query, with what it found.
 * @param {{ label: string, hint: string, value: string, onInput: (query: string) => void }} given
 */
export function Query({ label, hint, value, onInput }) {
  const found = value.trim() && said(value);
  return html`<${Field}
    label=${label}
    maxlength="1000"
    placeholder=${hint}
    value=${value}
    onInput=${(/** @type {Typed} */ event) => onInput(event.target.value)}
  >
    ${found && html`<span class="mode num cut" role="status" title=${found}>${found}</span>`}
  <//>`;
}

/** The groups: of two that find a note the first one colours it. */
export function Groups() {
  const { groups } = look.value;
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  /** What gets the focus as soon as the groups are shown anew. */
  const next = useRef("");
  useLayoutEffect(() => {
    const fields = /** @type {NodeListOf<HTMLElement> | undefined} */ (
      next.current ? list.current?.querySelectorAll(next.current) : undefined
    );
    fields?.[fields.length - 1]?.focus();
    next.current = "";
  }, [groups.length]);
  /** @param {number} at @param {Partial<Group>} changes */
  const change = (at, changes) =>
    setLook({ groups: groups.map((each, other) => (other === at ? { ...each, ...changes } : each)) });
  const add = () => {
    next.current = "input";
    const free = [...Array(GROUPS).keys()].find((colour) => !groups.some((each) => each.colour === colour));
    setLook({ groups: [...groups, { query: "", colour: free ?? groups.length % GROUPS }] });
  };
  /** @param {number} at */
  const remove = (at) => {
    next.current = ".add";
    setLook({ groups: groups.filter((_, other) => other !== at) });
  };
  return html`<details class="big" ref=${list}>
    <summary>${t.groups.title}</summary>
    ${groups.map(
      (each, at) => html`<div class="group" key=${at}>
        <${Colour}
          name=${t.groups.named(at + 1)}
          colour=${each.colour}
          onChange=${(/** @type {number} */ colour) => change(at, { colour })}
        />
        <${Query}
          label=${t.groups.query(at + 1)}
          hint=${t.queryHint}
          value=${each.query}
          onInput=${(/** @type {string} */ query) => change(at, { query })}
        />
        <${IconButton} icon="x" label=${t.groups.remove(at + 1)} onClick=${() => remove(at)} />
      </div>`,
    )}
    <button class="quiet add" onClick=${add}><${Icon} name="plus" />${t.groups.add}</button>
    <p class="note-line">${t.groups.why}</p>
  </details>`;
}

/** @param {number} at */
const ink = (at) => ({ color: `var(--group-${at % GROUPS})` });

/**
 * A colour of those that stand out in both themes.
 * @param {{ name: string, colour: number, onChange: (colour: number) => void }} given
 */
function Colour({ name, colour, onChange }) {
  const label = `${name}: ${t.colourNames[colour % GROUPS]}`;
  /** @param {() => void} close */
  const entries = (close) =>
    t.colourNames.map(
      (/** @type {string} */ each, /** @type {number} */ at) => html`<${Entry}
        key=${each}
        checked=${at === colour}
        onClick=${() => {
          onChange(at);
          close();
        }}
      >
        <i class="ink" style=${ink(at)}></i>
        ${each}
      <//>`,
    );
  return html`<${MenuButton}
    label=${label}
    title=${label}
    menu=${name}
    face=${html`<i class="ink" style=${ink(colour)}></i>`}
    entries=${entries}
  />`;
}

/** Take back all that was chosen for the graph. @param {{ onReset: () => void }} given */
export function Reset({ onReset }) {
  const reset = () => {
    const before = look.peek();
    setLook(USUAL);
    onReset();
    toast(t.restored, t.undo, () => setLook(before));
  };
  return html`<button class="quiet big" onClick=${reset}>${t.reset}</button>`;
}
