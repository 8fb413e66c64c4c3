// A part whose module is loaded when it is first shown.

import { html, useEffect, useSignal } from "../../vendor/preact.js";
import { Fault } from "../wire.js";
import { Trouble } from "./fault.js";

/** Parts of other views, by name. What begins the page says where they are. */
export const elsewhere = /** @type {Record<string, () => Promise<Record<string, unknown>>>} */ ({});

/** @type {Map<unknown, Record<string, unknown>>} */
const loaded = new Map();

/** @param {{ load: () => Promise<Record<string, unknown>>, name: string, given?: object }} given */
export function Later({ load, name, given }) {
  const part = useSignal(loaded.get(load)?.[name]);
  const fault = useSignal(/** @type {Fault | null} */ (null));
  useEffect(() => {
    if (part.peek()) return;
    load().then(
      (module) => {
        loaded.set(load, module);
        part.value = module[name];
      },
      () => (fault.value = new Fault("NETWORK", "A module could not be loaded.")),
    );
  }, []);
  // Chromium never loads a module again that once failed: only a new page does. Drafts are kept.
  if (fault.value)
    return html`<div class="page">
      <div><${Trouble} fault=${fault.value} again=${() => location.reload()} /></div>
    </div>`;
  return part.value ? html`<${part.value} ...${given} />` : null;
}
