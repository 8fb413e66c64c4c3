// The menu of the vaults that the server has.

import { html } from "../../../vendor/preact.js";
import { Menu } from "../../parts/menu.js";
import { Check, Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { addressIn } from "../../state/address.js";
import { vaults, vaultName } from "../../state/vault.js";
import { vaultId } from "../../wire.js";
import { count, words } from "../../words.js";
import { laterWords } from "../../words-later.js";

const ICONS = /** @type {Record<string, string>} */ ({
  default: "home",
  project: "folder",
  global: "star",
  other: "folder",
});
const CLOSED = ["missing", "untrusted"];

/** @param {{ anchor: HTMLElement, label: string, onClose: () => void }} props */
export const Vaults = (props) => html`<${Menu} ...${props}>
  ${vaults.value.map((vault) => html`<${Entry} key=${vault.identity} vault=${vault} />`)}
<//>`;

/** @param {{ vault: Wire.VaultState }} props */
function Entry({ vault }) {
  const isCurrent = vault.identity === vaultId.value;
  const isClosed = CLOSED.includes(vault.state);
  const detail =
    isClosed || vault.state === "error"
      ? laterWords.vaults[/** @type {"missing"} */ (vault.state)]
      : vault.notes === null
        ? laterWords.vaults[/** @type {"closed"} */ (vault.state)]
        : `${count(vault.notes)} ${words.stats.notes(vault.notes)}`;
  const inside = html`
    <${Check} />
    <${Icon} name=${ICONS[vault.role] ?? "folder"} />
    <bdi class="cut">${plain(vaultName(vault.identity), 60)}</bdi>
    <small class="n num">${detail}</small>
  `;
  if (isClosed)
    return html`<span class="entry mute" role="menuitemradio" aria-checked="false" aria-disabled="true">
      ${inside}
    </span>`;
  return html`<a class="entry" role="menuitemradio" aria-checked=${isCurrent} href=${addressIn(vault.identity)}>
    ${inside}
  </a>`;
}
