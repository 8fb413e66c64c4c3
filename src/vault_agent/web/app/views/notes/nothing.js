// What stands where a note would.

import { html } from "../../../vendor/preact.js";
import { Empty } from "../../parts/fault.js";
import { Key } from "../../parts/keys.js";
import { words } from "../../words.js";

export const Nothing =
  () => html`<section class="read" tabindex="0" aria-label=${words.note.label}><${Empty} icon="notes" title=${words.note.choose.title}><p>${words.note.choose.text}</p>
  <p><${Key} keys="Mod+k" /> ${words.commands.palette}</p><p><${Key} keys="j" /> <${Key} keys="k" /> ${words.commands.next}</p><p><${Key} keys="?" /> ${words.commands.keys}</p><//></section>`;
