// Menus below their buttons, which `MenuButton` of lazy.js shows.

import { html, useEffect, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { composing } from "./commands.js";
import { loaded, MENU } from "./lazy.js";

const AIR = 8; // px to the edge of the window, and to the box

/**
 * Place an element below a box, or above it where there is more room.
 * @param {HTMLElement} element @param {DOMRect} box
 */
export function placeBelow(element, box) {
  const { offsetWidth: width, offsetHeight: height } = element;
  const x = Math.max(AIR, Math.min(box.left, innerWidth - width - AIR));
  const below = innerHeight - box.bottom - 2 * AIR;
  const y = below < height && box.top > below ? Math.max(AIR, box.top - height - AIR) : box.bottom + AIR;
  element.style.translate = `${x}px ${y}px`;
}

/**
 * A menu below a button. Arrow keys walk its entries; a letter key is left to a field in it. One with a field is a
 * group, and its entries are in a menu of their own.
 * @param {{
 *   anchor: HTMLElement,
 *   label: string,
 *   onClose: () => void,
 *   role?: "menu" | "group",
 *   children?: unknown,
 * }} props
 */
export function Menu({ anchor, label, onClose, role = "menu", children }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => {
    const menu = /** @type {HTMLDivElement} */ (ref.current);
    menu.showPopover(); // above everything, and placed in the window: what blurs its background would hold it
    const place = () => placeBelow(menu, anchor.getBoundingClientRect());
    place();
    const resized = new ResizeObserver(place);
    resized.observe(menu);
    const first = menu.querySelector("input, .entry"); // an input that is first finds entries
    const start = first?.matches("input") ? first : (menu.querySelector("[aria-checked=true]") ?? first);
    /** @type {HTMLElement | null} */ (start)?.focus();
    return () => resized.disconnect();
  }, []);
  useEffect(() => {
    const closeOutside = (/** @type {Event} */ event) => {
      if (event.target instanceof Node && !ref.current?.contains(event.target) && !anchor.contains(event.target))
        onClose();
    };
    addEventListener("pointerdown", closeOutside, true);
    return () => removeEventListener("pointerdown", closeOutside, true);
  }, [onClose]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (composing(event)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      onClose();
      anchor.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const stops = [
        .../** @type {NodeListOf<HTMLElement>} */ (
          /** @type {HTMLElement} */ (ref.current).querySelectorAll("input, .entry")
        ),
      ];
      const index = stops.indexOf(/** @type {HTMLElement} */ (document.activeElement));
      stops[(index + (event.key === "ArrowDown" ? 1 : stops.length - 1)) % stops.length]?.focus();
    }
  };
  return html`<div ref=${ref} class="menu" popover="manual" role=${role} aria-label=${label} onKeyDown=${onKeyDown}>
    ${children}
  </div>`;
}

loaded.set(MENU, { Menu }); // whoever imports this module need not wait for it
