// What stands in the way: no session, another vault, or a newer page.

import { html } from "../../../vendor/preact.js";
import { Empty } from "../../parts/fault.js";
import { Icon } from "../../parts/sign.js";
import { newer } from "../../state/vault.js";
import { stopped } from "../../wire.js";
import { words } from "../../words.js";

export function Gate() {
  const other = stopped.value === "vault" || stopped.value === "novault";
  const { title, text } = words.faults[/** @type {"vault" | "novault" | "session"} */ (stopped.value)];
  return html`<main class="gate">
    <${Empty} icon=${other ? "folder" : "key"} title=${title}>
      <p>${text}</p>
      ${
        other
          ? html`<button
            class="primary"
            onClick=${() => {
              history.replaceState(null, "", "#");
              location.reload();
            }}
          >
            ${words.faults[/** @type {"vault"} */ (stopped.value)].act}
          </button>`
          : html`<p><code>${words.faults.session.command}</code></p>`
      }
    <//>
  </main>`;
}

export function Banner() {
  if (!newer.value) return null;
  return html`<div class="banner">
    <div class="say" role="status">
      <${Icon} name="info" />
      <span>${words.faults.newer.text}</span>
      <button class="quiet" onClick=${() => location.reload()}>${words.faults.newer.act}</button>
    </div>
  </div>`;
}
