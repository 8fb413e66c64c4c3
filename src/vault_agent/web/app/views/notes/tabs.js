// The strip of open notes above the one that is read.

import { html, useEffect } from "../../../vendor/preact.js";
import { apple, useCommands } from "../../parts/commands.js";
import { useSheet } from "../../parts/sheet.js";
import { IconButton, useRoving } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { address, changed } from "../../state/address.js";
import { closeTab, openBeside, stepTab, tabs } from "../../state/tabs.js";

/**
 * The middle button, or Ctrl with a click or Enter, opens a link to a note in a tab. With Shift it is the browser's.
 * @param {MouseEvent} event
 */
function clicked(event) {
  const middle = event.type === "auxclick" && event.button === 1;
  if (!middle && !(event.type === "click" && (apple ? event.metaKey : event.ctrlKey))) return;
  const link = event.target instanceof Element ? event.target.closest('a[href^="#/notes/"]') : null;
  if (event.shiftKey || !link || link.closest(".tabstrip") || matchMedia("(max-width: 720px)").matches) return;
  if (!openBeside(/** @type {HTMLAnchorElement} */ (link))) return;
  event.preventDefault();
  event.stopPropagation();
}

export function Tabs() {
  const styled = useSheet("files.css");
  const walk = useRoving("a", { begin: "[aria-current]" });
  const open = address.value.note;
  useEffect(() => {
    for (const type of /** @type {const} */ (["click", "auxclick"])) addEventListener(type, clicked, true);
    return () => {
      for (const type of /** @type {const} */ (["click", "auxclick"])) removeEventListener(type, clicked, true);
    };
  }, []);
  const some = tabs.value.length > 1;
  useEffect(() => {
    walk.ref.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [open, tabs.value.length]);
  useCommands(
    () =>
      some
        ? [
            { id: "tab-next", name: "Next open note", icon: "right", keys: ["Alt+PageDown"], run: () => stepTab(1) },
            {
              id: "tab-before",
              name: "Previous open note",
              icon: "left",
              keys: ["Alt+PageUp"],
              run: () => stepTab(-1),
            },
            {
              id: "tab-close",
              name: "Close this open note",
              icon: "x",
              keys: ["Alt+w"],
              run: () => closeTab(address.peek().note),
            },
          ]
        : [],
    [some],
  );
  if (!styled || !some) return null;
  /** Close a tab, and keep the focus in the strip. @param {string} id */
  const close = (id) => {
    const at = tabs.peek().findIndex((tab) => tab.id === id);
    closeTab(id);
    requestAnimationFrame(() => {
      const links = /** @type {NodeListOf<HTMLElement> | undefined} */ (walk.ref.current?.querySelectorAll("a"));
      (
        links?.[Math.min(at, links.length - 1)] ?? /** @type {HTMLElement | null} */ (document.querySelector(".read"))
      )?.focus();
    });
  };
  return html`<nav class="tabstrip" aria-label="Open notes">
    <ul ...${walk}>
      ${tabs.value.map(({ id, title, path }) => {
        const name = plain(title, 80) || (id === open ? "…" : "Untitled");
        return html`<li key=${id} onAuxClick=${(/** @type {MouseEvent} */ event) => event.button === 1 && close(id)}>
          <a
            href=${changed({ view: "notes", note: id, at: "" })}
            aria-current=${id === open ? "page" : undefined}
            title=${plain(path, 300) || undefined}
            onKeyDown=${(/** @type {KeyboardEvent} */ { key }) => key === "Delete" && close(id)}
          >
            <bdi class="cut">${name}</bdi>
          </a>
          <${IconButton} icon="x" small label=${`Close ${name}`} onClick=${() => close(id)} />
        </li>`;
      })}
    </ul>
  </nav>`;
}
