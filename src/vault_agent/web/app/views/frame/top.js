// The top bar: the vault, the views, the jump field, and the tools.

import { html } from "../../../vendor/preact.js";
import { Key, keyName } from "../../parts/keys.js";
import { Icon } from "../../parts/sign.js";
import { address, changed } from "../../state/address.js";
import { dark, settings } from "../../state/settings.js";
import { hasMemory, mayWrite } from "../../state/vault.js";
import { words } from "../../words.js";
import { nextTheme } from "./everywhere.js";
import { overlay } from "./overlay.js";
import { VaultName } from "./vaults.js";

const SEGMENTS = /** @type {const} */ (["notes", "graph", "memory", "jobs"]);

export function Top() {
  const { view } = address.value;
  return html`<header class="top">
    <${VaultName} />
    <nav class="seg" aria-label=${words.views.nav}>
      ${SEGMENTS.filter((each) => each !== "memory" || hasMemory.value).map(
        (
          each,
        ) => html`<a key=${each} href=${changed({ view: each })} aria-current=${each === view ? "page" : undefined}>
          <${Icon} name=${each} />
          ${words.views[each]}
        </a>`,
      )}
    </nav>
    <button class="jump" onClick=${() => (overlay.value = { name: "palette" })}>
      <${Icon} name="search" />
      <span class="cut">${words.top.jump}</span>
      <${Key} keys="Mod+k" />
    </button>
    <div class="tools">
      <button class="icon only-s" aria-label=${words.top.search} onClick=${() => (overlay.value = { name: "palette" })}>
        <${Icon} name="search" />
      </button>
      <button
        class="icon"
        aria-label=${words.top.theme[/** @type {"system"} */ (settings.value.theme)]}
        title=${words.top.theme[/** @type {"system"} */ (settings.value.theme)]}
        onClick=${nextTheme}
      >
        <${Icon} name=${dark.value ? "moon" : "sun"} />
      </button>
      <a
        class="icon m-hide"
        href=${changed({ view: "settings" })}
        aria-label=${words.views.settings}
        title=${words.views.settings}
        aria-current=${view === "settings" ? "page" : undefined}
      >
        <${Icon} name="gear" />
      </a>
      ${
        mayWrite.value &&
        html`<button
          class="primary new"
          title=${`${words.commands.newNote} (${keyName("Alt+n")})`}
          onClick=${() => (overlay.value = { name: "create" })}
        >
          <${Icon} name="plus" />
          <span class="m-hide">${words.top.new}</span>
          <span class="visually-hidden only-s">${words.commands.newNote}</span>
        </button>`
      }
    </div>
  </header>`;
}
