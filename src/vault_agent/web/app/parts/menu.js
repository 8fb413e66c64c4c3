// Menus below their buttons, which `MenuButton` of later.js shows.

import { html, useEffect, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { mirrored } from "../words.js";
import { composing } from "./commands.js";
import { loaded, MENU } from "./later.js";

/**
 * A menu below a button. Arrow keys walk its entries; a letter key is left to a field in it. One with a field is a
 * group, and its entries are in a menu of their own.
 * @param {{
 *   anchor: HTMLElement,
 *   label: string,
 *   onClose: () => void,
 *   role?: "menu" | "group",
 *   children?: unknown,
 * }} given
 */
export function Menu({ anchor, label, onClose, role = "menu", children }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => {
    const menu = /** @type {HTMLDivElement} */ (ref.current);
    menu.showPopover(); // above everything, and placed in the window: what blurs its background would hold it
    const place = () => {
      const box = anchor.getBoundingClientRect();
      const width = menu.offsetWidth;
      const start = mirrored ? box.right - width : box.left;
      const x = Math.max(8, Math.min(start, innerWidth - width - 8));
      const below = innerHeight - box.bottom - 16;
      const y =
        below < menu.offsetHeight && box.top > below ? Math.max(8, box.top - menu.offsetHeight - 6) : box.bottom + 6;
      menu.style.translate = `${x}px ${y}px`;
    };
    menu.style.setProperty("inset-block-start", "0");
    menu.style.setProperty(mirrored ? "inset-inline-end" : "inset-inline-start", "0");
    place();
    const resized = new ResizeObserver(place);
    resized.observe(menu);
    const first = menu.querySelector("input, .entry"); // an input that is first finds entries
    const start = first?.matches("input") ? first : (menu.querySelector("[aria-checked=true]") ?? first);
    /** @type {HTMLElement | null} */ (start)?.focus();
    return () => resized.disconnect();
  }, []);
  useEffect(() => {
    const outside = (/** @type {Event} */ event) => {
      if (event.target instanceof Node && !ref.current?.contains(event.target) && !anchor.contains(event.target))
        onClose();
    };
    addEventListener("pointerdown", outside, true);
    return () => removeEventListener("pointerdown", outside, true);
  }, [onClose]);
  const keyed = (/** @type {KeyboardEvent} */ event) => {
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
      const at = stops.indexOf(/** @type {HTMLElement} */ (document.activeElement));
      stops[(at + (event.key === "ArrowDown" ? 1 : stops.length - 1)) % stops.length]?.focus();
    }
  };
  return html`<div ref=${ref} class="menu" popover="manual" role=${role} aria-label=${label} onKeyDown=${keyed}>
    ${children}
  </div>`;
}

loaded.set(MENU, { Menu }); // whoever imports this module need not wait for it
