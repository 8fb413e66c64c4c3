// The stats bar, and the navigation for thumbs. Each part of the bar leads to what explains it.

import { html } from "../../../vendor/preact.js";
import { live } from "../../events.js";
import { Icon, KINDS } from "../../parts/sign.js";
import { address, changed } from "../../state/address.js";
import { clock, embeds, hasMemory, health, job, stats } from "../../state/vault.js";
import { agoWords, count, timeOf, words } from "../../words.js";

const SHOWN = 3; // kinds besides notes

export function Stats() {
  const index = health.value?.index;
  const notes = stats.value?.notes ?? index?.notes ?? 0;
  void clock.value;
  const types = stats.value?.types ?? [];
  const kinds = KINDS.filter((kind) => kind !== "note")
    .map((kind) => /** @type {const} */ ([kind, types.find((each) => each.type?.toLowerCase() === kind)?.count ?? 0]))
    .filter(([, n]) => n > 0)
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
          <b>${count(n)}</b> ${words.stats.kind[kind](n)}
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

const THUMBS = /** @type {const} */ (["notes", "graph", "memory", "jobs", "settings"]);

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
