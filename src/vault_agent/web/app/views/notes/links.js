// Backlinks and mentions under a note. They load after the text, never before it.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { useRoving } from "../../parts/controls.js";
import { sentence, toast, Trouble } from "../../parts/say.js";
import { Marked, plain } from "../../parts/text.js";
import { changed } from "../../state/address.js";
import { note } from "../../state/note.js";
import { mayWrite, revision } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { laterWords } from "../../words-later.js";
import { count } from "../../words.js";
import { inUnits, withoutEnding } from "../../state/query.js";

const PAGE = 20;
const MENTIONS = 50;
const TABS = /** @type {const} */ (["linked", "unlinked", "outgoing"]);
const OUTGOING = 200; // links

/**
 * Whether a link is the first one to its note.
 * @param {Wire.NoteLink} link @param {number} index @param {Wire.NoteLink[]} all
 */
const distinct = (link, index, all) =>
  link.noteId !== null && all.findIndex((other) => other.noteId === link.noteId) === index;

/** @param {() => void} run */
const whenIdle = (run) =>
  "requestIdleCallback" in window ? requestIdleCallback(run, { timeout: 400 }) : setTimeout(run, 60);

/** @param {{ id: string, named: boolean }} props  `named`: texts may mention it without a link, as they do a note */
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
    const page = linked.peek();
    if (!page) return;
    try {
      const { data } = await ask("GET", `/notes/${id}/backlinks`, { query: { limit: PAGE, cursor: page.nextCursor } });
      linked.value = { ...data, backlinks: [...page.backlinks, ...data.backlinks] };
    } catch {
      await load(); // the index has changed: begin again
    }
  };

  const link = async (/** @type {Wire.Mention} */ mention) => {
    try {
      const isLinked = await linkMention(mention, id, note.peek()?.title ?? "");
      toast(isLinked ? `Linked in ${plain(mention.title, 80)}.` : "The text has changed since. Nothing was linked.");
      if (isLinked) await load();
    } catch (error) {
      toast(sentence(error));
    }
  };

  if (fault.value)
    return html`<section class="back"><${Trouble} fault=${fault.value} again=${() => void load()} /></section>`;
  if (!linked.value) return null;
  const lists = { linked: linked.value.backlinks, unlinked: unlinked.value?.mentions ?? [] };
  const counts = { linked: linked.value.total, unlinked: unlinked.value?.total, outgoing: outgoing.value?.length };
  const current = /** @type {typeof TABS[number]} */ (tab.value);
  return html`<section class="back" aria-label="Backlinks">
    <header>
      <h2>Backlinks</h2>
      <div class="tabs" role="tablist" aria-label="Backlinks" ...${walk}>
        ${TABS.slice(0, named ? 3 : 1).map(
          (name) => html`<button
            key=${name}
            role="tab"
            id=${`tab-${name}`}
            aria-controls="refs"
            aria-selected=${name === current}
            onClick=${() => (tab.value = name)}
            onFocus=${() => (tab.value = name)}
          >
            ${laterWords.note.tabs[name]}
            <span class="num">${counts[name] === undefined ? "" : count(counts[name])}</span>
          </button>`,
        )}
      </div>
    </header>
    <div id="refs" role="tabpanel" aria-labelledby=${`tab-${current}`}>
      ${!counts[current] && html`<p class="none">${laterWords.note.noLinks[current]}</p>`}
      ${
        current === "outgoing" &&
        outgoing.value?.map(
          ({ noteId, title, path }) => html`<div class="ref-row" key=${noteId}>
            <a class="ref" href=${changed({ note: noteId ?? "", at: "" })} data-peek=${noteId}>
              <strong><bdi class="cut">${plain(title, 160) || "Untitled"}</bdi></strong>
              <p><bdi>${plain(path, 200)}</bdi></p>
            </a>
          </div>`,
        )
      }
      ${(current === "outgoing" ? [] : lists[current]).map(
        (/** @type {Wire.Backlink | Wire.Mention} */ reference) => html`<div class="ref-row" key=${reference.noteId}>
          <${Reference} from=${reference} />
          ${
            current === "unlinked" &&
            mayWrite.value &&
            html`<button class="quiet" onClick=${() => void link(/** @type {Wire.Mention} */ (reference))}>
              Link it
            </button>`
          }
        </div>`,
      )}
      ${current === "linked" && linked.value.hasMore && html`<button class="quiet" onClick=${more}>More</button>`}
    </div>
  </section>`;
}

/** @param {{ from: Wire.Backlink | Wire.Mention }} props */
function Reference({ from }) {
  return html`<a class="ref" href=${changed({ note: from.noteId, at: "" })} data-peek=${from.noteId}>
    <strong>
      <bdi class="cut">${plain(from.title, 160) || "Untitled"}</bdi>
      <small class="num">${from.count > 1 ? `${from.count} ×` : ""}</small>
    </strong>
    ${from.places.map(
      (place, index) => html`<p key=${index} dir="auto">
        ${place.heading && html`<i><bdi>${plain(place.heading, 80)}</bdi>${place.snippet && " · "}</i>`}
        ${place.chunkIndex === null ? html`<i>in the properties</i> ` : ""}
        <${Marked} text=${place.snippet} ranges=${place.matches} as="b" />
      </p>`,
    )}
  </a>`;
}

const NEAR = [0, 1, -1, 2, -2, 3]; // lines around the one that is named: a passage may begin above it
const LONGEST = 20_000; // characters of a line

/** Where in a line a name stands outside of links and code, or -1. @param {string} line @param {string} name */
function freePlace(line, name) {
  if (line.length > LONGEST) return -1;
  const taken = [...line.matchAll(/!?\[\[[^\]]*\]\]|`[^`]*`|!?\[[^\]]*\]\([^)]*\)|<[^>]*>|https?:\/\/\S+/g)].map(
    (match) => [match.index, match.index + match[0].length],
  );
  for (let start = line.indexOf(name); start >= 0; start = line.indexOf(name, start + 1)) {
    if (!taken.some(([from, to]) => start < to && start + name.length > from)) return start;
  }
  return -1;
}

/**
 * Link the first place of a mention. Return false if the text is not there any more.
 * @param {{ noteId: string, places: { line: number, snippet: string, matches: [number, number][] }[] }} mention
 * @param {string} target the ID of the note that is named
 * @param {string} title
 */
async function linkMention(mention, target, title) {
  const { data } = await ask("GET", `/notes/${mention.noteId}`, { query: { allowLarge: true } });
  const lines = data.content.split(/(?<=\n)/);
  for (const { line, snippet, matches } of mention.places) {
    const [range] = inUnits(snippet, matches);
    const name = range ? snippet.slice(...range) : "";
    for (const step of name ? NEAR : []) {
      const number = line - 1 + step;
      const start = freePlace(lines[number] ?? "", name);
      if (start < 0) continue;
      const insert = await shortest(target, title, mention.noteId);
      const link = insert === name ? `[[${name}]]` : `[[${insert}|${name}]]`;
      lines[number] = lines[number].slice(0, start) + link + lines[number].slice(start + name.length);
      await ask("POST", "/write/note", {
        body: { noteId: mention.noteId, mode: "overwrite", content: lines.join(""), expectedHash: data.contentHash },
      });
      return true;
    }
  }
  return false;
}

/** The shortest link that leads to a note. @param {string} target @param {string} title @param {string} from */
async function shortest(target, title, from) {
  const { data } = await ask("GET", "/suggest", { query: { q: title.slice(0, 200), kinds: "note", from, limit: 50 } });
  const suggestion = data.suggestions.find((choice) => choice.noteId === target);
  if (suggestion) return suggestion.insert.split("|")[0];
  const { data: note } = await ask("GET", `/notes/${target}`, { query: { allowLarge: true } });
  return withoutEnding(note.path);
}
