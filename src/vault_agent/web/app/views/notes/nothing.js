// What stands where a note would.

import { html, signal, useEffect } from "../../../vendor/preact.js";
import { Empty } from "../../parts/fault.js";
import { Key } from "../../parts/keys.js";
import { elsewhere, Later } from "../../parts/later.js";
import { filtered, results, searching } from "../../state/results.js";
import { words } from "../../words.js";

const AFTER = 1500; // ms after the list
const begins = signal(false);

export function Nothing() {
  const listed = Boolean(results.value.key);
  useEffect(() => {
    const timer = listed && setTimeout(() => (begins.value = true), AFTER);
    return () => void (timer && clearTimeout(timer));
  }, [listed]);
  const none = listed && !results.value.rows.length && !searching.value && !filtered.value;
  return html`<section class="read" tabindex="0" aria-label=${words.note.label}>
    <${Empty} icon="notes" title=${words.note.choose.title}>
      ${!none && html`<p>${words.note.choose.text}</p>`}
      <p><${Key} keys="Mod+k" /> ${words.commands.palette}</p>
      ${!none && html`<p><${Key} keys="j" /> <${Key} keys="k" /> ${words.commands.next}</p>`}
      <p><${Key} keys="?" /> ${words.commands.keys}</p>
    <//>
    ${begins.value && html`<${Later} load=${elsewhere.start} name="Start" />`}
  </section>`;
}
