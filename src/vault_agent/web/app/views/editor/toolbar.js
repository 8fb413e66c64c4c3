// The toolbar: one stop for Tab, arrows walk it. Each tool has a name, and keys.

import { html, useRef, useSignal } from "../../../vendor/preact.js";
import { keyName } from "../../parts/commands.js";
import { Icon } from "../../parts/sign.js";
import { later } from "../../later.js";
import { mirrored } from "../../words.js";
import { TOOLS } from "./surface.js";

/** @param {{ onTool: (name: string) => void }} given */
export function Toolbar({ onTool }) {
  const at = useSignal(0);
  const bar = useRef(/** @type {HTMLElement | null} */ (null));
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowRight: mirrored ? -1 : 1, ArrowLeft: mirrored ? 1 : -1 }[event.key];
    const to =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? TOOLS.length - 1
          : step && (at.value + step + TOOLS.length) % TOOLS.length;
    if (to === undefined) return;
    event.preventDefault();
    at.value = to;
    /** @type {HTMLElement | undefined} */ (bar.current?.children[to])?.focus();
  };
  return html`<div class="tools-md" role="toolbar" aria-label=${later.edit.tools} ref=${bar} onKeyDown=${keyed}>
    ${TOOLS.map(
      ([name, keys], index) => html`<button
        class="icon"
        key=${name}
        tabindex=${index === at.value ? 0 : -1}
        aria-label=${later.edit.tool[name]}
        title=${`${later.edit.tool[name]} (${keyName(keys)})`}
        aria-keyshortcuts=${keys.replace("Mod", "Control")}
        onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()}
        onFocus=${() => (at.value = index)}
        onClick=${() => onTool(name)}
      >
        <${Icon} name=${name === "wikilink" ? "brackets" : name === "numbers" ? "numbered" : name} />
      </button>`,
    )}
  </div>`;
}
