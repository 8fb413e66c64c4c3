// What stands around every view: the bars, the views to choose from, and what stands in their way.

import { html, useEffect } from "../../../vendor/preact.js";
import { live } from "../../events.js";
import { Empty } from "../../parts/say.js";
import { Key, keyName } from "../../parts/commands.js";
import { MenuButton } from "../../parts/later.js";
import { Icon, KINDS } from "../../parts/sign.js";
import { plain } from "../../parts/text.js";
import { address, changed } from "../../state/address.js";
import {
  clock,
  embeds,
  hasMemory,
  health,
  job,
  mayWrite,
  newer,
  readVaults,
  stats,
  switchedOn,
  vaultName,
  vaults,
} from "../../state/vault.js";
import { stopped, vaultId } from "../../wire.js";
import { agoWords, count, timeOf, words } from "../../words.js";
import { overlay } from "./overlay.js";

const VAULTS = () => import("./vaults.js");
const SEGMENTS = /** @type {const} */ (["notes", "graph", "memory"]);

/** The vault that is shown: a button where the server has several. */
function VaultName() {
  const several = switchedOn("vaults.enabled");
  useEffect(() => {
    if (several) void readVaults();
  }, [several]);
  const name = plain(vaultName(vaultId.value) || health.value?.vault.name, 60) || words.product;
  const brand = html`<span class="brand"><${Icon} name="graph" /></span><bdi class="cut">${name}</bdi>`;
  if (vaults.value.length < 2) return html`<div class="vault" title=${name}>${brand}</div>`;
  return html`<${MenuButton}
    className="vault"
    label=${words.top.vault(name)}
    title=${name}
    face=${html`${brand}<${Icon} name="down" small />`}
    load=${VAULTS}
    name="Vaults"
    onOpen=${readVaults}
  />`;
}

/** The bar at the top: the vault, the views, the jump field, and the tools. */
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
    <div class="tools">
      <button class="jump" title=${words.top.jump} onClick=${() => (overlay.value = { name: "palette" })}>
        <${Icon} name="command" />
        <span class="visually-hidden">${words.top.jump}</span>
        <${Key} keys="Mod+k" />
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

const SHOWN = 3; // kinds besides notes, the largest

/** The stats bar. Each part of it leads to what explains it. */
export function Stats() {
  const index = health.value?.index;
  const notes = stats.value?.notes ?? index?.notes ?? 0;
  void clock.value;
  const types = stats.value?.types ?? [];
  const kinds = KINDS.filter((kind) => kind !== "note")
    .map((kind) => /** @type {const} */ ([kind, types.find((each) => each.type?.toLowerCase() === kind)?.count ?? 0]))
    .filter(([, n]) => n > 0)
    .sort(([, one], [, other]) => other - one)
    .slice(0, SHOWN);
  const indexed = index?.indexedAt
    ? words.stats.indexed(agoWords((Date.now() - timeOf(index.indexedAt)) / 1000))
    : words.stats.never;
  const running = job.value && !job.value.finishedAt;
  const share = health.value?.embeddings;
  const sep = (/** @type {string} */ more) => html`<span class=${`sep ${more}`} aria-hidden="true">·</span>`;
  return html`<footer class="stats" aria-label=${words.stats.label}>
    <a class="num" href=${changed({ view: "notes", q: "", type: [], tag: [], path: [], project: [] })}>
      <b>${count(notes)}</b> ${words.stats.notes(notes)}
    </a>
    ${kinds.map(
      ([kind, n]) => html`
        ${sep("m-hide")}
        <a
          class="num m-hide"
          key=${kind}
          href=${changed({
            view: "notes",
            type: [types.find((each) => each.type?.toLowerCase() === kind)?.type ?? ""],
          })}
        >
          <b>${count(n)}</b> ${(n === 1 ? words.types : words.kinds)[kind].toLocaleLowerCase()}
        </a>
      `,
    )}
    ${
      stats.value?.links !== undefined &&
      html`
        ${sep("m-hide")}
        <a class="num m-hide" href=${changed({ view: "graph" })}>
          <b>${count(stats.value.links)}</b> ${words.stats.links(stats.value.links)}
        </a>
      `
    }
    ${sep("")}
    <a href=${changed({ view: "jobs" })}>${running ? words.stats.indexing : indexed}</a>
    <span class="end">
      ${index?.stale && html`<a href=${changed({ view: "jobs" })}>${words.stats.stale}</a>`}
      ${
        embeds.value &&
        share &&
        share.share < 1 &&
        html`<a href=${changed({ view: "settings" })} class="num">
          ${words.stats.embedding(`${Math.round(share.share * 100)} %`)}
          <span class="bar"><i style=${{ inlineSize: `${share.share * 100}%` }}></i></span>
        </a>`
      }
      <a href=${changed({ view: "settings" })}>
        <span class="live" data-state=${live.value}></span>
        ${words.stats[/** @type {"live"} */ (live.value)]}
      </a>
    </span>
  </footer>`;
}

const THUMBS = /** @type {const} */ ([...SEGMENTS, "settings"]);

/** The views, for thumbs. */
export function Thumbs() {
  const { view } = address.value;
  return html`<nav class="thumbs" aria-label=${words.views.nav}>
    ${THUMBS.filter((each) => each !== "memory" || hasMemory.value).map(
      (each) => html`<a
        key=${each}
        href=${changed({ view: each, note: each === "notes" && view === "notes" ? "" : address.value.note })}
        aria-current=${each === view ? "page" : undefined}
      >
        <${Icon} name=${each === "settings" ? "gear" : each} />
        ${words.views[each]}
      </a>`,
    )}
  </nav>`;
}

/** What is shown instead of a view: no session, or another vault. */
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

/** A newer version of the page is served. */
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
