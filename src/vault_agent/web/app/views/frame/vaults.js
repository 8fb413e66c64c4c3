// Which vault is shown, and the others that the server has.

import { html, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Menu } from "../../parts/dialog.js";
import { Check, Icon } from "../../parts/sign.js";
import { plain } from "../../parts/text.js";
import { addressIn } from "../../state/address.js";
import { health, switchedOn, vaults, readVaults, vaultName } from "../../state/vault.js";
import { vaultId } from "../../wire.js";
import { count, words } from "../../words.js";

const ICONS = /** @type {Record<string, string>} */ ({
  default: "home",
  project: "folder",
  global: "star",
  other: "folder",
});
const CLOSED = ["missing", "untrusted"];

/** The vault that is shown: a button where the server has several. */
export function VaultName() {
  const open = useSignal(false);
  const anchor = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const several = switchedOn("vaults.enabled");
  useEffect(() => {
    if (several) void readVaults();
  }, [several]);
  const list = vaults.value;
  const name = plain(vaultName(vaultId.value) || health.value?.vault.name, 60) || words.product;
  const brand = html`<span class="brand"><${Icon} name="graph" /></span><bdi class="cut">${name}</bdi>`;
  if (list.length < 2) return html`<div class="vault" title=${name}>${brand}</div>`;
  const close = () => (open.value = false);
  const toggle = () => {
    open.value = !open.peek();
    if (open.peek()) void readVaults();
  };
  return html`
    <button
      class="vault"
      ref=${anchor}
      aria-haspopup="true"
      aria-expanded=${open.value}
      aria-label=${words.top.vault(name)}
      title=${name}
      onClick=${toggle}
    >
      ${brand}
      <${Icon} name="down" small />
    </button>
    ${
      open.value &&
      html`<${Menu} anchor=${anchor.current} label=${words.vaults.label} onClose=${close}>
        ${list.map((each) => html`<${Entry} key=${each.identity} vault=${each} />`)}
      <//>`
    }
  `;
}

/** @param {{ vault: Wire.VaultState }} given */
function Entry({ vault }) {
  const here = vault.identity === vaultId.value;
  const gone = CLOSED.includes(vault.state);
  const said =
    gone || vault.state === "error"
      ? words.vaults.states[/** @type {"missing"} */ (vault.state)]
      : vault.notes === null
        ? words.vaults.states[/** @type {"closed"} */ (vault.state)]
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
