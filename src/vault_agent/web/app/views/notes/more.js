// What else can be done with the note: rename, move, delete.

import { html, useRef, useSignal } from "../../../vendor/preact.js";
import { useCommands } from "../../parts/commands.js";
import { Menu } from "../../parts/dialog.js";
import { Key } from "../../parts/keys.js";
import { Icon } from "../../parts/sign.js";
import { hasRight } from "../../state/vault.js";
import { words } from "../../words.js";
import { overlay } from "../frame/overlay.js";

/** @param {{ read: import("../../state/note.js").Note }} given */
export function More({ read }) {
  const open = useSignal(false);
  const anchor = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const commands = [
    {
      id: "rename",
      name: words.commands.rename,
      icon: "edit",
      keys: ["F2"],
      right: "move",
      run: () => (overlay.value = { name: "move", path: read.path }),
    },
    {
      id: "delete",
      name: words.commands.delete,
      icon: "x",
      right: "delete",
      run: () => (overlay.value = { name: "delete", path: read.path }),
    },
    { id: "writes", name: words.commands.writes, icon: "clock", run: () => (overlay.value = { name: "writes" }) },
  ];
  const allowed = commands.filter((each) => each.right === undefined || hasRight(each.right));
  useCommands(() => allowed, [read.path, allowed.length]);
  return html`
    <button
      class="icon"
      ref=${anchor}
      aria-haspopup="menu"
      aria-expanded=${open.value}
      aria-label=${words.more}
      title=${words.more}
      onClick=${() => (open.value = !open.peek())}
    >
      <${Icon} name="more" />
    </button>
    ${
      open.value &&
      html`<${Menu} anchor=${anchor.current} label=${words.more} onClose=${() => (open.value = false)}>
        ${allowed.map(
          (each) => html`<button
            class="entry"
            role="menuitem"
            key=${each.id}
            onClick=${() => {
              open.value = false;
              anchor.current?.focus();
              each.run();
            }}
          >
            <${Icon} name=${each.icon} />
            ${each.name}
            ${each.keys && html`<span class="n"><${Key} keys=${each.keys[0]} /></span>`}
          </button>`,
        )}
      <//>`
    }
  `;
}
