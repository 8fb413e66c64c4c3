// The edge of a panel: it is dragged, or moved by arrow keys. The browser keeps its place.

import { html } from "../../vendor/preact.js";
import { set, settings } from "../state/settings.js";
import { laterWords } from "../words-later.js";

const [LEAST, MOST, STEP] = [220, 760, 16]; // px

const WIDTHS = /** @type {const} */ ({ list: "listWidth", side: "sideWidth" });

/** @param {{ panel: "list" | "side", end?: boolean }} props `end`: the panel is before the edge */
export function Edge({ panel, end = false }) {
  const resize = (/** @type {HTMLElement} */ edge, /** @type {number} */ by) => {
    const { width } = /** @type {HTMLElement} */ (edge.parentElement).getBoundingClientRect();
    const wider = end ? by : -by;
    set({ [WIDTHS[panel]]: Math.round(Math.min(MOST, Math.max(LEAST, width + wider))) });
  };
  return html`<div
    class="edge"
    data-end=${end}
    role="separator"
    aria-orientation="vertical"
    aria-label=${laterWords.edges[panel]}
    aria-valuemin="0"
    aria-valuemax=${MOST}
    aria-valuenow=${settings.value[WIDTHS[panel]]}
    tabindex="0"
    onPointerDown=${(/** @type {PointerEvent & { currentTarget: HTMLElement }} */ event) =>
      event.currentTarget.setPointerCapture(event.pointerId)}
    onPointerMove=${(/** @type {PointerEvent & { currentTarget: HTMLElement }} */ event) =>
      event.currentTarget.hasPointerCapture(event.pointerId) && resize(event.currentTarget, event.movementX)}
    onDblClick=${() => set({ [WIDTHS[panel]]: 0 })}
    onKeyDown=${(/** @type {KeyboardEvent & { currentTarget: HTMLElement }} */ event) => {
      const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
      if (step) resize(event.currentTarget, step);
    }}
  ></div>`;
}
