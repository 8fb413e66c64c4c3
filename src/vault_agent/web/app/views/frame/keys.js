// All keys there are now, from the commands that are registered.

import { html } from "../../../vendor/preact.js";
import { commands, Key } from "../../parts/commands.js";
import { TitledDialog } from "../../parts/dialog.js";
import { settings } from "../../state/settings.js";
import { closeOverlay } from "./frame.js";
/** @import { Command } from "../../parts/commands.js" */

export function Overlay() {
  const all = [...commands.value.filter((each) => each.keys?.length), { id: "close", name: "Close", keys: ["Escape"] }];
  const single = all.filter((each) => each.keys?.[0].length === 1);
  const others = all.filter((each) => !single.includes(each));
  /** @param {Pick<Command, "id" | "name" | "keys">[]} list */
  const table = (list) => html`<dl class="keys">
    ${list.map(
      (each) => html`<div key=${each.id}>
        <dt>${each.name}</dt>
        <dd>${each.keys?.map((keys) => html`<${Key} keys=${keys} />`)}</dd>
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
