// How the text stands: saved or not, and what others did meanwhile.

import { html, useEffect } from "../../../vendor/preact.js";
import { announce, sentence, toast } from "../../parts/say.js";
import { Icon } from "../../parts/sign.js";
import { answerOffer, clash, draftless, offered, saveFault, saveState, settle } from "../../state/editing.js";
import { later } from "../../later.js";
import { fullDate } from "../../words.js";
import { saveAsNew } from "./copies.js";

export function State() {
  const kind = clash.value?.kind;
  const name = kind === "merged" || kind === "gone" ? kind : saveState.value;
  const text = later.edit.state[name];
  useEffect(() => {
    if (name !== "saving" && name !== "unsaved") announce(text);
  }, [name]);
  const why = saveFault.value ? sentence(saveFault.value) : "";
  return html`<span class="saved" data-state=${name} title=${why || text}>
    <i aria-hidden="true"></i>
    <span>${text}</span>
  </span>`;
}

/** @param {{ onCompare: () => void, onLeave: () => void }} given */
export function Notices({ onCompare, onLeave }) {
  const t = later.edit;
  const kind = clash.value?.kind;
  const save = () => void saveAsNew().catch((error) => toast(sentence(error)));
  const said = /** @type {unknown[]} */ ([]);
  /** @param {string} icon @param {string} text @param {unknown} [acts] @param {boolean} [isBad] */
  const say = (icon, text, acts, isBad = false) =>
    said.push(
      html`<div class=${isBad ? "say bad" : "say"} role=${isBad ? "alert" : "status"} key=${text}>
        <${Icon} name=${icon} />
        <span>${text}</span>
        ${acts && html`<span class="acts">${acts}</span>`}
      </div>`,
    );
  /** @param {string} label @param {() => void} run @param {string} [look] */
  const button = (label, run, look = "quiet") => html`<button class=${look} onClick=${run}>${label}</button>`;
  if (offered.value)
    say("clock", t.offer.text(fullDate(new Date(offered.value.at).toISOString())), [
      button(t.offer.restore, () => answerOffer(true)),
      button(t.offer.discard, () => answerOffer(false)),
    ]);
  if (kind === "merged")
    say("info", t.merged.text, [button(t.merged.compare, onCompare), button(t.merged.keep, () => settle(), "primary")]);
  if (kind === "gone")
    say("warn", t.gone.text, [button(t.gone.leave, onLeave), button(t.gone.act, save, "primary")], true);
  const isRefused = saveState.value === "refused";
  if ((isRefused || saveState.value === "failed") && saveFault.value)
    say("warn", sentence(saveFault.value), null, isRefused);
  if (draftless.value) say("warn", t.draftless);
  return said.length ? html`<div class="notices">${said}</div>` : null;
}
