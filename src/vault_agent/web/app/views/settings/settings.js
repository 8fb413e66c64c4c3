// The Settings view: the state of the server in sentences, and how the page looks here.

import { html, useEffect } from "../../../vendor/preact.js";
import { live } from "../../events.js";
import { sentence, toast } from "../../parts/say.js";
import { Choices, Switch, Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { set, settings } from "../../state/settings.js";
import { health, healthWarnings, readHealth, switchedOn } from "../../state/vault.js";
import { signOut } from "../../wire.js";
import { laterWords } from "../../words-later.js";
import { agoWords, count, timeOf, words } from "../../words.js";
import { overlay } from "../frame/frame.js";

const t = laterWords.settings;

export function View() {
  useEffect(() => void readHealth(), []);
  return html`<section class="page" tabindex="0" aria-label="Settings">
    <div>
      <h1>Settings</h1>
      <section><h2>Look</h2><${Look} /></section>
      <section>
        <h2>Health</h2>
        ${health.value && html`<${Health} report=${health.value} />`}
        <p class="mute">All other settings: vault-agent config, on the command line</p>
      </section>
      ${
        document.documentElement.dataset.key === "required" &&
        html`<section>
          <h2>Session</h2>
          <button
            class="quiet danger"
            onClick=${() =>
              signOut().then(
                () => toast("All browsers are signed out."),
                (/** @type {unknown} */ error) => toast(sentence(error)),
              )}
          >
            Sign out everywhere
          </button>
        </section>`
      }
    </div>
  </section>`;
}

/** @typedef {"theme" | "size" | "width" | "face" | "breaks" | "density" | "motion"} Field */
/** @param {{ name: string, field: Field, values: Record<string, string> }} props */
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
    <${Choice} name="Theme" field="theme" values=${t.themes} />
    <${Choice}
      name="Reading size"
      field="size"
      values=${{ small: "Small", "": "Normal", large: "Large" }}
    />
    <${Choice}
      name="Width of the text"
      field="width"
      values=${{ narrow: "Narrow", "": "Normal", wide: "Wide" }}
    />
    <${Choice} name="Typeface of notes" field="face" values=${{ "": "Sans", serif: "Serif" }} />
    <${Choice} name="Single line breaks in notes" field="breaks" values=${{ "": "Kept", joined: "Joined" }} />
    <${Choice}
      name="Lists"
      field="density"
      values=${{ "": "By their length", compact: "Compact", full: "With texts" }}
    />
    <${Choice} name="Motion" field="motion" values=${{ "": "System", none: "None" }} />
    <div class="line">
      <${Switch} on=${settings.value.letters} onClick=${() => set({ letters: !settings.peek().letters })}>
        <span>Single-letter keys<small>j and k walk the list, ? shows all keys</small></span>
      <//>
    </div>
    <div class="line">
      <span class="grow">Show all keys</span>
      <button class="quiet" onClick=${() => (overlay.value = { name: "keys" })}><${Icon} name="key" />?</button>
    </div>
  </div>`;
}

/** Settings that have a line of their own, and the one without which this page would not be here. */
const WITH_ROWS = new Set(
  ["embedding", "watch", "write", "vaults", "memory", "journal", "web"].map((part) => `${part}.enabled`),
);

/** Whether a part of the server is switched on, as a row says it. @param {string} part @param {string} off */
const stateOf = (part, off) => (switchedOn(`${part}.enabled`) ? ["On", "", "ok"] : [off, "", "mute"]);

/** @param {{ report: Wire.Health }} props */
function Health({ report }) {
  const { index, embeddings, watch } = report;
  const share = `${Math.round(embeddings.share * 100)} %`;
  const semantic = !embeddings.enabled
    ? ["Off. To turn it on: vault-agent enable embedding", "mute"]
    : !embeddings.available
      ? ["The embedding endpoint cannot be used now", "warned"]
      : embeddings.share < 1
        ? [`${share} of the passages are embedded`, "warned"]
        : ["Ready", "ok"];
  const state = !index.available
    ? ["There is no index yet", "bad"]
    : index.stale
      ? ["Notes have changed since the last run", "warned"]
      : ["Up to date", "ok"];
  const watching = watch?.enabled
    ? ["Changes are noticed", "ok"]
    : ["Off. To turn it on: vault-agent enable watch", "mute"];
  const others = report.switchedOn.filter((setting) => !WITH_ROWS.has(setting));
  const rows = [
    [
      "folder",
      "Vault",
      plain(report.vault.name, 100),
      `${count(index.notes)} notes in ${count(index.chunks)} passages`,
      "",
    ],
    [
      "notes",
      "Index",
      state[0],
      index.indexedAt ? words.stats.indexed(agoWords((Date.now() - timeOf(index.indexedAt)) / 1000)) : "",
      state[1],
    ],
    ["search", "Semantic search", semantic[0], "", semantic[1]],
    ["clock", "Watching for changes", watching[0], "", watching[1]],
    ["edit", "Editing", ...stateOf("write", "Off. To turn it on: vault-agent enable write")],
    ["folder", "Several vaults", ...stateOf("vaults", "Off. To turn it on: vault-agent enable vaults")],
    ["memory", "Memory for agents", ...stateOf("memory", "Off. To turn it on: vault-agent enable memory")],
    ["notes", "Journals of sessions", ...stateOf("journal", "Off. To turn it on: vault-agent enable journal")],
    ["info", "Version", report.version, words.stats.states[/** @type {"live"} */ (live.value)], ""],
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
      (warning, at) => html`<div class="line warned" key=${at}>
        <${Icon} name="warn" />
        <span class="grow">${plain(String(warning.details?.what ?? warning.message), 400)}</span>
      </div>`,
    )}
    ${
      others.length > 0 &&
      html`<div class="line">
        <${Icon} name="check" />
        <span class="grow">Also switched on</span>
        <span>${others.map((setting) => html`<bdi class="tag" key=${setting}>${setting}</bdi> `)}</span>
      </div>`
    }
  </div>`;
}
