// The Settings view: the state of the server in sentences, and how the page looks here.

import { html, useEffect } from "../../../vendor/preact.js";
import { live } from "../../events.js";
import { sentence, toast } from "../../parts/say.js";
import { Choices, Switch } from "../../parts/controls.js";
import { Icon } from "../../parts/sign.js";
import { plain } from "../../parts/text.js";
import { set, settings } from "../../state/settings.js";
import { health, healthWarnings, readHealth, switchedOn } from "../../state/vault.js";
import { signOut } from "../../wire.js";
import { later } from "../../later.js";
import { agoWords, count, timeOf, words } from "../../words.js";
import { overlay } from "../frame/overlay.js";

const t = later.settings;

export function View() {
  useEffect(() => void readHealth(), []);
  return html`<section class="page" tabindex="0" aria-label=${t.title}>
    <div>
      <h1>${t.title}</h1>
      <section><h2>${t.look}</h2><${Look} /></section>
      <section>
        <h2>${t.health}</h2>
        ${health.value && html`<${Health} now=${health.value} />`}
        <p class="mute">${t.cli}</p>
      </section>
      ${
        document.documentElement.dataset.key === "required" &&
        html`<section>
          <h2>${t.session}</h2>
          <button
            class="quiet danger"
            onClick=${() =>
              signOut().then(
                () => toast(t.signedOut),
                (/** @type {unknown} */ error) => toast(sentence(error)),
              )}
          >
            ${t.signOut}
          </button>
        </section>`
      }
    </div>
  </section>`;
}

/** @typedef {"theme" | "size" | "width" | "face" | "motion"} Field */
/** @param {{ name: string, field: Field, values: Record<string, string> }} given */
function Choice({ name, field, values }) {
  return html`<div class="line">
    <span class="grow">${name}</span>
    <${Choices}
      label=${name}
      value=${settings.value[field]}
      choices=${Object.entries(values).map(([value, face]) => ({ value, face }))}
      onChoose=${(/** @type {string} */ value) => set({ [field]: value })}
    />
  </div>`;
}

function Look() {
  return html`<div class="card">
    <${Choice} name=${t.theme} field="theme" values=${t.themes} />
    <${Choice}
      name=${t.size}
      field="size"
      values=${{ small: t.sizes.small, "": t.sizes.normal, large: t.sizes.large }}
    />
    <${Choice}
      name=${t.width}
      field="width"
      values=${{ narrow: t.widths.narrow, "": t.widths.normal, wide: t.widths.wide }}
    />
    <${Choice} name=${t.face} field="face" values=${{ "": t.faces.sans, serif: t.faces.serif }} />
    <${Choice} name=${t.breaks} field="breaks" values=${{ "": t.lineBreaks.kept, joined: t.lineBreaks.joined }} />
    <${Choice}
      name=${t.density}
      field="density"
      values=${{ "": t.densities.auto, compact: t.densities.compact, full: t.densities.full }}
    />
    <${Choice} name=${t.motion} field="motion" values=${{ "": t.motions.system, none: t.motions.none }} />
    <div class="line">
      <${Switch} on=${settings.value.letters} onClick=${() => set({ letters: !settings.peek().letters })}>
        <span>${t.letters}<small>${t.lettersWhy}</small></span>
      <//>
    </div>
    <div class="line">
      <span class="grow">${t.keys}</span>
      <button class="quiet" onClick=${() => (overlay.value = { name: "keys" })}><${Icon} name="key" />?</button>
    </div>
  </div>`;
}

/** Settings that have a line of their own, and the one without which this page would not be here. */
const WITH_ROWS = new Set(
  ["embedding", "watch", "write", "vaults", "memory", "journal", "web"].map((each) => `${each}.enabled`),
);

/** Whether a part of the server is switched on, as a row says it. @param {string} part @param {string} off */
const stateOf = (part, off) => (switchedOn(`${part}.enabled`) ? [t.on, "", "ok"] : [off, "", "mute"]);

/** @param {{ now: Wire.Health }} given */
function Health({ now }) {
  const { index, embeddings, watch } = now;
  const share = `${Math.round(embeddings.share * 100)} %`;
  const semantic = !embeddings.enabled
    ? [t.embeddingsOff, "mute"]
    : !embeddings.available
      ? [t.embeddingsGone, "warned"]
      : embeddings.share < 1
        ? [t.embeddingsPart(share), "warned"]
        : [t.embeddingsOk, "ok"];
  const state = !index.available ? [t.indexNone, "bad"] : index.stale ? [t.indexStale, "warned"] : [t.indexOk, "ok"];
  const watching = watch?.enabled ? [t.watchOk, "ok"] : [t.watchOff, "mute"];
  const others = now.switchedOn.filter((each) => !WITH_ROWS.has(each));
  const rows = [
    ["folder", t.vault, plain(now.vault.name, 100), t.vaultLine(count(index.notes), count(index.chunks)), ""],
    [
      "notes",
      t.index,
      state[0],
      index.indexedAt ? words.stats.indexed(agoWords((Date.now() - timeOf(index.indexedAt)) / 1000)) : "",
      state[1],
    ],
    ["search", t.embeddings, semantic[0], "", semantic[1]],
    ["clock", t.watch, watching[0], "", watching[1]],
    ["edit", t.write, ...stateOf("write", t.writeOff)],
    ["folder", t.vaults, ...stateOf("vaults", t.vaultsOff)],
    ["memory", t.memory, ...stateOf("memory", t.memoryOff)],
    ["notes", t.journals, ...stateOf("journal", t.journalsOff)],
    ["info", t.version, now.version, words.stats[/** @type {"live"} */ (live.value)], ""],
  ];
  return html`<div class="card">
    ${rows.map(
      ([icon, name, text, more, tone]) => html`<div class="line" key=${name}>
        <${Icon} name=${icon} />
        <span class="grow">${name}${more && html`<small>${more}</small>`}</span>
        <bdi class=${`state ${tone}`}>${text}</bdi>
      </div>`,
    )}
    ${healthWarnings.value.map(
      (each, at) => html`<div class="line warned" key=${at}>
        <${Icon} name="warn" />
        <span class="grow">${plain(String(each.details?.what ?? each.message), 400)}</span>
      </div>`,
    )}
    ${
      others.length > 0 &&
      html`<div class="line">
        <${Icon} name="check" />
        <span class="grow">${t.on_list}</span>
        <span>${others.map((each) => html`<bdi class="tag" key=${each}>${each}</bdi> `)}</span>
      </div>`
    }
  </div>`;
}
