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
  const said = [];
  if (offered.value)
    said.push(
      html`<div class="say" role="status" key="offer">
        <${Icon} name="clock" />
        <span>${t.offer.text(fullDate(new Date(offered.value.at).toISOString()))}</span>
        <span class="acts">
          <button class="quiet" onClick=${() => answerOffer(true)}>${t.offer.restore}</button>
          <button class="quiet" onClick=${() => answerOffer(false)}>${t.offer.discard}</button>
        </span>
      </div>`,
    );
  if (kind === "merged")
    said.push(
      html`<div class="say" role="status" key="merged">
        <${Icon} name="info" />
        <span>${t.merged.text}</span>
        <span class="acts">
          <button class="quiet" onClick=${onCompare}>${t.merged.compare}</button>
          <button class="primary" onClick=${() => settle()}>${t.merged.keep}</button>
        </span>
      </div>`,
    );
  if (kind === "gone")
    said.push(
      html`<div class="say bad" role="alert" key="gone">
        <${Icon} name="warn" />
        <span>${t.gone.text}</span>
        <span class="acts">
          <button class="quiet" onClick=${onLeave}>${t.gone.leave}</button>
          <button class="primary" onClick=${save}>${t.gone.act}</button>
        </span>
      </div>`,
    );
  if ((saveState.value === "refused" || saveState.value === "failed") && saveFault.value)
    said.push(
      html`<div class=${`say ${saveState.value === "refused" ? "bad" : ""}`} role="status" key="fault">
        <${Icon} name="warn" />
        <span>${sentence(saveFault.value)}</span>
      </div>`,
    );
  if (draftless.value)
    said.push(
      html`<div class="say" role="status" key="draftless"><${Icon} name="warn" /><span>${t.draftless}</span></div>`,
    );
  return said.length ? html`<div class="notices">${said}</div>` : null;
}
