// The toolbar: one stop for Tab, arrows walk it. Each tool has a name, and keys.

import { html } from "../../../vendor/preact.js";
import { keyName } from "../../parts/commands.js";
import { IconButton, useRoving } from "../../parts/controls.js";
import { later } from "../../later.js";
import { TOOLS } from "./surface.js";

/** @param {{ onTool: (name: string) => void }} given */
export function Toolbar({ onTool }) {
  const walk = useRoving("button");
  return html`<div class="tools-md" role="toolbar" aria-label=${later.edit.tools} ...${walk}>
    ${TOOLS.map(
      ([name, keys]) =>
        html`<${IconButton}
          icon=${name === "wikilink" ? "brackets" : name === "numbers" ? "numbered" : name}
          label=${later.edit.tool[name]}
          key=${name}
          title=${`${later.edit.tool[name]} (${keyName(keys)})`}
          aria-keyshortcuts=${keys.replace("Mod", "Control")}
          onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()}
          onClick=${() => onTool(name)}
        />`,
    )}
  </div>`;
}
