// What stands where a note would.

import { html, signal, useEffect } from "../../../vendor/preact.js";
import { Empty } from "../../parts/fault.js";
import { Key } from "../../parts/keys.js";
import { elsewhere, Later } from "../../parts/later.js";
import { words } from "../../words.js";

const AFTER = 700; // ms, when the list is there
const begins = signal(false);

export function Nothing() {
  useEffect(() => {
    const timer = setTimeout(() => (begins.value = true), AFTER);
    return () => clearTimeout(timer);
  }, []);
  return html`<section class="read" tabindex="0" aria-label=${words.note.label}><${Empty} icon="notes" title=${words.note.choose.title}><p>${words.note.choose.text}</p>
  <p><${Key} keys="Mod+k" /> ${words.commands.palette}</p><p><${Key} keys="j" /> <${Key} keys="k" /> ${words.commands.next}</p><p><${Key} keys="?" /> ${words.commands.keys}</p><//>
  ${begins.value && html`<${Later} load=${elsewhere.start} name="Start" />`}</section>`;
}
