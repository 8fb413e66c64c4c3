// All keys there are now, from the commands that are registered.

import { html } from "../../../vendor/preact.js";
import { commands, Key } from "../../parts/commands.js";
import { TitledDialog } from "../../parts/dialog.js";
import { settings } from "../../state/settings.js";
import { later } from "../../later.js";
import { words } from "../../words.js";
import { closeOverlay } from "./overlay.js";
/** @import { Command } from "../../parts/commands.js" */

export function Overlay() {
  const all = [
    ...commands.value.filter((each) => each.keys?.length),
    { id: "close", name: words.commands.close, keys: ["Escape"] },
  ];
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
  return html`<${TitledDialog} label=${later.keys.title} title=${later.keys.title} onClose=${closeOverlay}>
    <section><h2 class="group">${later.keys.everywhere}</h2>${table(others)}</section>
    <section>
      <h2 class="group">${later.keys.single}</h2>
      ${settings.value.letters ? table(single) : html`<p>${later.keys.off}</p>`}
    </section>
  <//>`;
}
