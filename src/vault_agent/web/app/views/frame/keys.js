// All keys there are now, from the commands that are registered.

import { html } from "../../../vendor/preact.js";
import { commands, Key } from "../../parts/commands.js";
import { TitledDialog } from "../../parts/dialog.js";
import { settings } from "../../state/settings.js";
import { closeOverlay } from "./frame.js";
/** @import { Command } from "../../parts/commands.js" */

export function Overlay() {
  const all = [...commands.value.filter(({ keys }) => keys?.length), { id: "close", name: "Close", keys: ["Escape"] }];
  const single = all.filter(({ keys }) => keys?.[0].length === 1);
  const others = all.filter((command) => !single.includes(command));
  /** @param {Pick<Command, "id" | "name" | "keys">[]} list */
  const table = (list) => html`<dl class="keys">
    ${list.map(
      (command) => html`<div key=${command.id}>
        <dt>${command.name}</dt>
        <dd>${command.keys?.map((keys) => html`<${Key} keys=${keys} />`)}</dd>
      </div>`,
    )}
  </dl>`;
  return html`<${TitledDialog} label="Keys" title="Keys" onClose=${closeOverlay}>
    <section><h2 class="group">Everywhere</h2>${table(others)}</section>
    <section>
      <h2 class="group">Outside text fields</h2>
      ${settings.value.letters ? table(single) : html`<p>Single letters are switched off in the settings.</p>`}
    </section>
  <//>`;
}
