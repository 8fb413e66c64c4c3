// The menu of the vaults that the server has.

import { html } from "../../../vendor/preact.js";
import { Menu } from "../../parts/menu.js";
import { Check, Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { addressIn } from "../../state/address.js";
import { vaults, vaultName } from "../../state/vault.js";
import { vaultId } from "../../wire.js";
import { count, words } from "../../words.js";
import { later } from "../../later.js";

const ICONS = /** @type {Record<string, string>} */ ({
  default: "home",
  project: "folder",
  global: "star",
  other: "folder",
});
const CLOSED = ["missing", "untrusted"];

/** @param {{ anchor: HTMLElement, onClose: () => void }} given */
export const Vaults = (given) => html`<${Menu} label="Vaults" ...${given}>
  ${vaults.value.map((each) => html`<${Entry} key=${each.identity} vault=${each} />`)}
<//>`;

/** @param {{ vault: Wire.VaultState }} given */
function Entry({ vault }) {
  const here = vault.identity === vaultId.value;
  const gone = CLOSED.includes(vault.state);
  const said =
    gone || vault.state === "error"
      ? later.vaults[/** @type {"missing"} */ (vault.state)]
      : vault.notes === null
        ? later.vaults[/** @type {"closed"} */ (vault.state)]
        : `${count(vault.notes)} ${words.stats.notes(vault.notes)}`;
  const inside = html`
    <${Check} />
    <${Icon} name=${ICONS[vault.role] ?? "folder"} />
    <bdi class="cut">${plain(vaultName(vault.identity), 60)}</bdi>
    <small class="n num">${said}</small>
  `;
  if (gone)
    return html`<span class="entry mute" role="menuitemradio" aria-checked="false" aria-disabled="true">
      ${inside}
    </span>`;
  return html`<a class="entry" role="menuitemradio" aria-checked=${here} href=${addressIn(vault.identity)}>
    ${inside}
  </a>`;
}
