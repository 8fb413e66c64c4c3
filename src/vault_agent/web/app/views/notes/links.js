// Backlinks and mentions under a note. They load after the text, never before it.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { useRoving } from "../../parts/controls.js";
import { sentence, toast, Trouble } from "../../parts/say.js";
import { Marked, plain } from "../../parts/text.js";
import { changed } from "../../state/address.js";
import { linkMention } from "../../state/linking.js";
import { note } from "../../state/note.js";
import { mayWrite, revision } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { later } from "../../later.js";
import { count, words } from "../../words.js";

const PAGE = 20;
const MENTIONS = 50;
const TABS = /** @type {const} */ (["linked", "unlinked", "outgoing"]);
const OUTGOING = 200; // links

/**
 * Whether a link is the first one to its note.
 * @param {Wire.NoteLink} link @param {number} at @param {Wire.NoteLink[]} all
 */
const distinct = (link, at, all) =>
  link.noteId !== null && all.findIndex((other) => other.noteId === link.noteId) === at;

/** @param {() => void} run */
const whenIdle = (run) =>
  "requestIdleCallback" in window ? requestIdleCallback(run, { timeout: 400 }) : setTimeout(run, 60);

/** @param {{ id: string, named: boolean }} given  `named`: texts may mention it without a link, as they do a note */
export function Links({ id, named }) {
  const tab = useSignal("linked");
  const linked = useSignal(/** @type {Wire.BacklinksPage | null} */ (null));
  const unlinked = useSignal(/** @type {Wire.Mentions | null} */ (null));
  const outgoing = useSignal(/** @type {Wire.NoteLink[] | null} */ (null));
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const walk = useRoving("[role=tab]", { begin: "[aria-selected=true]" });

  /** @param {AbortSignal} [signal] */
  const load = async (signal) => {
    try {
      linked.value = (await ask("GET", `/notes/${id}/backlinks`, { query: { limit: PAGE }, signal })).data;
      if (named)
        unlinked.value = (await ask("GET", `/notes/${id}/mentions`, { query: { limit: MENTIONS }, signal })).data;
      if (named) {
        const { data } = await ask("GET", `/notes/${id}/links`, { query: { limit: OUTGOING }, signal });
        outgoing.value = data.links.filter(distinct);
      }
      fault.value = null;
    } catch (error) {
      if (!signal?.aborted) fault.value = /** @type {Fault} */ (error);
    }
  };
  useEffect(() => {
    const abort = new AbortController();
    whenIdle(() => !abort.signal.aborted && void load(abort.signal));
    return () => abort.abort();
  }, [id, revision.value]);
  const more = async () => {
    const now = linked.peek();
    if (!now) return;
    try {
      const { data } = await ask("GET", `/notes/${id}/backlinks`, { query: { limit: PAGE, cursor: now.nextCursor } });
      linked.value = { ...data, backlinks: [...now.backlinks, ...data.backlinks] };
    } catch {
      await load(); // the index has changed: begin again
    }
  };

  const link = async (/** @type {Wire.Mention} */ mention) => {
    try {
      const is = await linkMention(mention, id, note.peek()?.title ?? "");
      toast(is ? later.edit.linked(plain(mention.title, 80)) : later.edit.linkGone);
      if (is) await load();
    } catch (error) {
      toast(sentence(error));
    }
  };

  if (fault.value)
    return html`<section class="back"><${Trouble} fault=${fault.value} again=${() => void load()} /></section>`;
  if (!linked.value) return null;
  const lists = { linked: linked.value.backlinks, unlinked: unlinked.value?.mentions ?? [] };
  const counts = { linked: linked.value.total, unlinked: unlinked.value?.total, outgoing: outgoing.value?.length };
  const shown = /** @type {typeof TABS[number]} */ (tab.value);
  return html`<section class="back" aria-label=${later.note.backlinks}>
    <header>
      <h2>${later.note.backlinks}</h2>
      <div class="tabs" role="tablist" aria-label=${later.note.backlinks} ...${walk}>
        ${TABS.slice(0, named ? 3 : 1).map(
          (each) => html`<button
            key=${each}
            role="tab"
            id=${`tab-${each}`}
            aria-controls="refs"
            aria-selected=${each === shown}
            onClick=${() => (tab.value = each)}
            onFocus=${() => (tab.value = each)}
          >
            ${later.note[each]}
            <span class="num">${counts[each] === undefined ? "" : count(counts[each])}</span>
          </button>`,
        )}
      </div>
    </header>
    <div id="refs" role="tabpanel" aria-labelledby=${`tab-${shown}`}>
      ${!counts[shown] && html`<p class="none">${later.note.noLinks[shown]}</p>`}
      ${
        shown === "outgoing" &&
        outgoing.value?.map(
          ({ noteId, title, path }) => html`<div class="ref-row" key=${noteId}>
            <a class="ref" href=${changed({ note: noteId ?? "", at: "" })} data-peek=${noteId}>
              <strong><bdi class="cut">${plain(title, 160) || words.untitled}</bdi></strong>
              <p><bdi>${plain(path, 200)}</bdi></p>
            </a>
          </div>`,
        )
      }
      ${(shown === "outgoing" ? [] : lists[shown]).map(
        (/** @type {Wire.Backlink | Wire.Mention} */ each) => html`<div class="ref-row" key=${each.noteId}>
          <${Reference} from=${each} />
          ${
            shown === "unlinked" &&
            mayWrite.value &&
            html`<button class="quiet" onClick=${() => void link(/** @type {Wire.Mention} */ (each))}>
              ${later.edit.linkIt}
            </button>`
          }
        </div>`,
      )}
      ${
        shown === "linked" &&
        linked.value.hasMore &&
        html`<button class="quiet" onClick=${more}>${later.note.moreBacklinks}</button>`
      }
    </div>
  </section>`;
}

/** @param {{ from: Wire.Backlink | Wire.Mention }} given */
function Reference({ from }) {
  return html`<a class="ref" href=${changed({ note: from.noteId, at: "" })} data-peek=${from.noteId}>
    <strong>
      <bdi class="cut">${plain(from.title, 160) || words.untitled}</bdi>
      <small class="num">${from.count > 1 ? later.note.times(from.count) : ""}</small>
    </strong>
    ${from.places.map(
      (place, at) => html`<p key=${at} dir="auto">
        ${place.heading && html`<i><bdi>${plain(place.heading, 80)}</bdi>${place.snippet && " · "}</i>`}
        ${place.chunkIndex === null ? html`<i>${later.note.inProperties}</i> ` : ""}
        <${Marked} text=${place.snippet} ranges=${place.matches} as="b" />
      </p>`,
    )}
  </a>`;
}
