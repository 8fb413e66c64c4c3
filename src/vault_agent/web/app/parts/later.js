// A part whose module is loaded when it is first shown.

import { html, useEffect, useSignal } from "../../vendor/preact.js";
import { Trouble } from "./fault.js";

/** Parts of other views, by name. What begins the page says where they are. */
export const elsewhere = /** @type {Record<string, () => Promise<any>>} */ ({});

const loaded = new Map();

/** @param {{ load: () => Promise<any>, name: string, given?: any }} given */
export function Later({ load, name, given }) {
  const part = useSignal(/** @type {any} */ (loaded.get(load)?.[name]));
  const fault = useSignal(/** @type {any} */ (null));
  useEffect(() => {
    if (part.peek()) return;
    load().then(
      (module) => {
        loaded.set(load, module);
        part.value = module[name];
      },
      () => (fault.value = { code: "NETWORK" }),
    );
  }, []);
  // Chromium never loads a module again that once failed: only a new page does. Drafts are kept.
  if (fault.value)
    return html`<div class="page">
      <div><${Trouble} fault=${fault.value} again=${() => location.reload()} /></div>
    </div>`;
  return part.value ? html`<${part.value} ...${given} />` : null;
}
