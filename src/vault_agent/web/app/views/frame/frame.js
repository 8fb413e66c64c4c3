// What stands around every view: the bars, the views to choose from, and what stands in their way. And which dialog or
// menu is open over the view.

import { html, signal, useEffect } from "../../../vendor/preact.js";
import { live } from "../../events.js";
import { Empty } from "../../parts/say.js";
import { composing, Key, keyName } from "../../parts/commands.js";
import { MenuButton } from "../../parts/lazy.js";
import { Icon, KINDS } from "../../parts/controls.js";
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

/**
 * A note that was found, with the identity of its vault if several were asked.
 * @typedef {Wire.Suggestion & { vault?: string }} Hit
 */

/** Choose a note of some vaults for something else than to be read.
 * @typedef {{ among: string[], choose: (hit: Hit) => void }} Pick */

export const overlay = signal(
  /** @type {{ name: string, only?: string, pick?: Pick, title?: string, path?: string, folder?: string } | null} */ (
    null
  ),
);
/**
 * What a menu was asked for, and where. Files and folders have no ID.
 * @typedef {{ kind: "note" | "folder" | "file", id: string, path: string, at: DOMRect, origin: HTMLElement }} Context
 */
export const context = signal(/** @type {Context | null} */ (null));
let typed = "";
let entered = false;
export const closeOverlay = () => {
  takeTyped();
  overlay.value = null;
};

/** Close a dialog that has done its work, unless another one has been opened meanwhile. @param {string} name */
export const closeDone = (name) => overlay.peek()?.name === name && closeOverlay();

/** What was typed while the dialog was loaded, and whether Enter was pressed. It can be taken once. */
export function takeTyped() {
  const taken = { text: typed, entered };
  typed = "";
  entered = false;
  return taken;
}

/**
 * Keep what is typed while a dialog is loaded: it would run commands of the view, or go into a note.
 * @param {KeyboardEvent} event
 */
function keep(event) {
  if (
    !overlay.peek() ||
    document.querySelector("dialog[open]") ||
    composing(event) ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey
  )
    return;
  const failed = event.target instanceof Element && event.target.closest("[role=alert]"); // with a button to try again
  if (event.key === "Escape") closeOverlay();
  else if (failed) return;
  else if (event.key.length === 1) typed += event.key;
  else if (event.key === "Backspace") typed = typed.slice(0, -1);
  else if (event.key === "Enter") entered = true;
  else return;
  event.preventDefault();
  event.stopPropagation();
}
addEventListener("keydown", keep, true);

const VAULTS = () => import("./vaults.js");
const SEGMENTS = /** @type {const} */ (["notes", "graph", "memory"]);

/** The vault that is shown: a button where the server has several. */
function VaultName() {
  const several = switchedOn("vaults.enabled");
  useEffect(() => {
    if (several) void readVaults();
  }, [several]);
  const name = plain(vaultName(vaultId.value) || health.value?.vault.name, 60) || "vault-agent";
  const brand = html`<span class="brand"><${Icon} name="graph" /></span><bdi class="cut">${name}</bdi>`;
  if (vaults.value.length < 2) return html`<div class="vault" title=${name}>${brand}</div>`;
  return html`<${MenuButton}
    className="vault"
    label=${`Vault ${name}`}
    menu="Vaults"
    menu="Vaults"
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
      ${SEGMENTS.filter((name) => name !== "memory" || hasMemory.value).map(
        (
          name,
        ) => html`<a key=${name} href=${changed({ view: name })} aria-current=${name === view ? "page" : undefined}>
          <${Icon} name=${name} />
          ${words.views[name]}
        </a>`,
      )}
    </nav>
    <div class="tools">
      <button class="jump" title="Jump to a note or command" onClick=${() => (overlay.value = { name: "palette" })}>
        <${Icon} name="command" />
        <span class="visually-hidden">Jump to a note or command</span>
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
          title=${`New note (${keyName("Alt+n")})`}
          onClick=${() => (overlay.value = { name: "create" })}
        >
          <${Icon} name="plus" />
          <span class="m-hide">New</span>
          <span class="visually-hidden only-s">New note</span>
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
    .map((kind) => /** @type {const} */ ([kind, types.find(({ type }) => type?.toLowerCase() === kind)?.count ?? 0]))
    .filter(([, n]) => n > 0)
    .sort(([, one], [, other]) => other - one)
    .slice(0, SHOWN);
  const indexed = index?.indexedAt
    ? words.stats.indexed(agoWords((Date.now() - timeOf(index.indexedAt)) / 1000))
    : "Not indexed yet";
  const running = job.value && !job.value.finishedAt;
  const embeddings = health.value?.embeddings;
  const sep = (/** @type {string} */ more) => html`<span class=${`sep ${more}`} aria-hidden="true">·</span>`;
  return html`<footer class="stats" aria-label="State of the vault">
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
            type: [types.find(({ type }) => type?.toLowerCase() === kind)?.type ?? ""],
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
    <a href=${changed({ view: "jobs" })}>${running ? "Indexing" : indexed}</a>
    <span class="end">
      ${index?.stale && html`<a href=${changed({ view: "jobs" })}>Notes have changed since</a>`}
      ${
        embeds.value &&
        embeddings &&
        embeddings.share < 1 &&
        html`<a href=${changed({ view: "settings" })} class="num">
          Embedded ${Math.round(embeddings.share * 100)} %
          <span class="bar"><i style=${{ inlineSize: `${embeddings.share * 100}%` }}></i></span>
        </a>`
      }
      <a href=${changed({ view: "settings" })}>
        <span class="live" data-state=${live.value}></span>
        ${words.stats.states[/** @type {"live"} */ (live.value)]}
      </a>
    </span>
  </footer>`;
}

const THUMBS = /** @type {const} */ ([...SEGMENTS, "settings"]);

/** The views, for thumbs. */
export function Thumbs() {
  const { view } = address.value;
  return html`<nav class="thumbs" aria-label=${words.views.nav}>
    ${THUMBS.filter((name) => name !== "memory" || hasMemory.value).map(
      (name) => html`<a
        key=${name}
        href=${changed({ view: name, note: name === "notes" && view === "notes" ? "" : address.value.note })}
        aria-current=${name === view ? "page" : undefined}
      >
        <${Icon} name=${name === "settings" ? "gear" : name} />
        ${words.views[name]}
      </a>`,
    )}
  </nav>`;
}

/** What is shown instead of a view: no session, or another vault. */
export function Gate() {
  const other = stopped.value === "vault" || stopped.value === "novault";
  const { title, text } = words.gates[/** @type {"vault" | "novault" | "session"} */ (stopped.value)];
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
            ${words.gates[/** @type {"vault"} */ (stopped.value)].act}
          </button>`
          : html`<p><code>${words.gates.session.command}</code></p>`
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
      <span>The server has a newer version of this page.</span>
      <button class="quiet" onClick=${() => location.reload()}>Reload</button>
    </div>
  </div>`;
}
