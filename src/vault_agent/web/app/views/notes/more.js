// What else can be done with the note: rename, move, delete.

import { html } from "../../../vendor/preact.js";
import { Key, useCommands } from "../../parts/commands.js";
import { Entry } from "../../parts/controls.js";
import { MenuButton } from "../../parts/later.js";
import "../../parts/menu.js"; // so that the menu opens at once
import { Icon } from "../../parts/sign.js";
import { words } from "../../words.js";
import { overlay } from "../frame/overlay.js";
/** @import { Note } from "../../state/note.js" */

/** @param {{ read: Note }} given */
export function More({ read }) {
  const commands = [
    {
      id: "rename",
      name: words.commands.rename,
      icon: "edit",
      keys: ["F2"],
      run: () => (overlay.value = { name: "move", path: read.path }),
    },
    {
      id: "delete",
      name: words.commands.delete,
      icon: "x",
      run: () => (overlay.value = { name: "delete", path: read.path }),
    },
    { id: "writes", name: words.commands.writes, icon: "clock", run: () => (overlay.value = { name: "writes" }) },
  ];
  useCommands(() => commands, [read.path]);
  /** @param {() => void} close */
  const entries = (close) =>
    commands.map(
      (each) => html`<${Entry}
        key=${each.id}
        icon=${each.icon}
        onClick=${() => {
          close();
          each.run();
        }}
      >
        ${each.name}
        ${each.keys && html`<span class="n"><${Key} keys=${each.keys[0]} /></span>`}
      <//>`,
    );
  return html`<${MenuButton}
    label=${words.more}
    title=${words.more}
    face=${html`<${Icon} name="more" />`}
    entries=${entries}
  />`;
}
