// Why a result is where it is: the words that it has and where, and what its score is made of.

import { html, signal, useEffect, useRef } from "../../../vendor/preact.js";
import { laterWords, percent } from "../../words-later.js";
import { useCommands } from "../../parts/commands.js";
import { Menu } from "../../parts/menu.js";
import { useReply } from "../../parts/reply.js";
import { Trouble } from "../../parts/say.js";
import { useSheet } from "../../parts/sheet.js";
import { hitsOf, otherName, plain } from "../../parts/text.js";
import { inUnits } from "../../state/query.js";
import { chosen, criteria, once, page, results } from "../../state/results.js";
import { count } from "../../words.js";
import { revision } from "../../state/vault.js";
/** @import { Row } from "../../state/results.js" */

const MOST = 8; // words of a place
const LEAST = 0.005; // share of a score that is said

/** The note of the result that is explained. */
const open = signal("");

/** @typedef {Record<string, number>} Part */

/**
 * The different words that ranges of a text have.
 * @param {string} text
 * @param {readonly (readonly [number, number])[]} ranges
 */
function wordsIn(text, ranges) {
  const words = inUnits(text, ranges).map(([start, end]) => text.slice(start, end).toLocaleLowerCase());
  return [...new Set(words)].slice(0, MOST).join(", ");
}

/** Where the words of the search are. @param {Wire.Hit} hit @returns {[string, string][]} */
function places(hit) {
  const query = criteria.peek().text;
  const { title, heading, path, metadata, snippet } = hit;
  const inNames = (/** @type {string} */ text) => wordsIn(text, hitsOf(text, query));
  const all = /** @type {[string, string][]} */ ([
    ["In the title", inNames(title)],
    ["In an alias", inNames(metadata.aliases.join("\n"))],
    ["In the file name", inNames(otherName(path, title))],
    ["In the heading", heading && heading !== title ? inNames(heading) : ""],
    ["In a tag", inNames(metadata.tags.join("\n"))],
    ["In the text", wordsIn(snippet, hit.matches)],
  ]);
  return all.filter(([, list]) => list);
}

/** What the score is made of, the most first. @param {{ votes: Part, labels: Record<string, string> }} props */
function Votes({ votes, labels }) {
  const total = Object.values(votes).reduce((sum, vote) => sum + vote, 0);
  const entries = Object.entries(votes).filter(([, vote]) => vote / total >= LEAST);
  const order = entries.sort((a, b) => b[1] - a[1]);
  return html`<dl class="votes">
    ${order.map(
      ([name, vote]) => html`
        <dt key=${name}>${labels[name] ?? plain(name, 40)}</dt>
        <dd>
          <span class="bar" aria-hidden="true"><i style=${{ inlineSize: `${(vote / total) * 100}%` }}></i></span>
          <span class="num">${percent(vote / total)}</span>
        </dd>
      `,
    )}
  </dl>`;
}

/** What changed the order after that: weights of the owner, a reranker, and what else the server names but `dated`.
 * @param {Record<string, Part | number | string>} explanation @returns {string[]} */
function changes({ weights = {}, reranked, dated, ...others }) {
  const t = laterWords.why;
  const lines = Object.entries(weights)
    .filter(([, weight]) => weight !== 1)
    .map(
      ([name, weight]) =>
        `${t.weights[/** @type {"folder"} */ (name)] ?? plain(name, 40)}: counts ${textOf(weight)} times`,
    );
  if (reranked && typeof reranked === "object")
    lines.push(
      `The reranker gave it a relevance of ${textOf(reranked.relevance)}. ` +
        `It was at place ${count(reranked.placeBefore)} before.`,
    );
  for (const [name, part] of Object.entries(others)) {
    const list =
      typeof part === "object" ? Object.entries(part).map((entry) => entry.map(textOf).join(" ")) : [textOf(part)];
    lines.push(`${plain(name, 40)}: ${list.join(", ")}`);
  }
  return lines;
}

/** @param {unknown} value */
const textOf = (value) => (typeof value === "number" ? count(value) : plain(String(value), 80));

/** @param {{ hit: Wire.Hit, place: number }} props */
function Reasons({ hit, place }) {
  const t = laterWords.why;
  const { votes, ...others } = /** @type {{ votes?: Record<string, number> }} */ (hit.explanation ?? {});
  const labels = /** @type {Record<string, string>} */ ({
    ...t.votes,
    ...(hit.heading && { heading: `The heading “${plain(hit.heading, 60)}” is similar` }),
  });
  const lines = changes(others);
  return html`
    <p class="num">Place ${count(place)} of the results, with a score of ${count(Math.round(hit.score * 100) / 100)}</p>
    <ul>${places(hit).map(([where, list]) => html`<li key=${where}>${where}: <bdi>${list}</bdi></li>`)}</ul>
    ${
      votes &&
      Object.keys(votes).length > 0 &&
      html`<h3>What the score is made of</h3>
        <${Votes} votes=${votes} labels=${labels} />`
    }
    ${
      lines.length > 0 &&
      html`<h3>What changed the order</h3>
        <ul>
          ${lines.map((line) => html`<li key=${line}>${line}</li>`)}
        </ul>`
    }
  `;
}

/** Arrow keys scroll what is read, and walk no entries. @param {KeyboardEvent} event */
const scrolls = (event) => {
  if (event.key.startsWith("Arrow")) event.stopPropagation();
};

/** @param {{ title: string, reply: { hit: Wire.Hit, place: number } | null | undefined, fault: Fault | null }} props */
function Card({ title, reply, fault }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => box.current?.focus(), []); // it is read aloud, and Escape closes it
  return html`<div class="why-card" tabindex=${-1} ref=${box} onKeyDown=${scrolls}>
    <h2 dir="auto">${title}</h2>
    ${
      fault
        ? html`<${Trouble} fault=${fault} />`
        : reply
          ? html`<${Reasons} ...${reply} />`
          : html`<p>The results have changed since. Search again to see why.</p>`
    }
  </div>`;
}

/** @param {{ row: Row, anchor: HTMLElement, onClose: () => void }} props */
function Told({ row, anchor, onClose }) {
  const { mode, key } = results.value;
  const { data: reply, fault } = useReply((signal) => explain(row.id, signal), [row.id, mode]);
  useEffect(() => {
    const moved = (/** @type {Event} */ event) =>
      event.target instanceof Element && event.target.matches(".scroll") && onClose();
    addEventListener("scroll", moved, true);
    return () => removeEventListener("scroll", moved, true);
  }, []);
  useEffect(() => () => void (open.value = ""), [key]); // of another search
  if (reply.value === undefined && !fault.value) return null;
  const title = plain(row.title, 120);
  return html`<${Menu} anchor=${anchor} label=${laterWords.why.of(title)} role="group" onClose=${onClose}>
    <${Card} title=${title} reply=${reply.value} fault=${fault.value} />
  <//>`;
}

/** The keys of what is open are not those of the list. @param {KeyboardEvent} event */
const keep = (event) => {
  if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
};

/** The button of a result that says why it is there. @param {{ row: Row, focusable: boolean }} props */
export function Why({ row, focusable }) {
  const styled = useSheet("why.css");
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  const isOpen = open.value === row.id;
  const toggle = () => {
    chosen.value = row.id; // so that it stays where it is if the order changes
    open.value = isOpen ? "" : row.id;
  };
  const close = () => {
    button.current?.focus({ preventScroll: true });
    open.value = "";
  };
  const tell = () => {
    // The keys may have walked on before this was drawn.
    const walked = document.querySelector(`.row[data-note="${chosen.peek()}"] + .why`) ?? button.current;
    /** @type {HTMLElement | null} */ (walked)?.click();
  };
  useCommands(
    () => (focusable ? [{ id: "why", name: "Say why the result is here", icon: "help", keys: ["w"], run: tell }] : []),
    [focusable],
  );
  if (!styled) return null;
  return html`
    <button
      class="why"
      ref=${button}
      tabindex=${focusable ? 0 : -1}
      aria-expanded=${isOpen}
      aria-label=${laterWords.why.of(plain(row.title, 120))}
      onClick=${toggle}
    >
      Why?
    </button>
    ${isOpen && html`<div onKeyDown=${keep}><${Told} row=${row} anchor=${button.current} onClose=${close} /></div>`}
  `;
}

/** The rows of the search that is shown, with explanations. */
let cache = { search: "", rows: /** @type {Row[]} */ ([]), cursor: /** @type {string | null} */ (null), more: true };

/** Return the explained result that is a note, and its place from 1 on. None if the results have changed since.
 * @param {string} id @param {AbortSignal} abort @returns {Promise<{ hit: Wire.Hit, place: number } | null>} */
async function explain(id, abort) {
  const { key, mode } = results.peek();
  const search = `${mode} ${revision.peek()} ${key}`;
  if (cache.search !== search) cache = { search, rows: [], cursor: null, more: true };
  const own = cache;
  for (;;) {
    const index = own.rows.findIndex((row) => row.id === id);
    if (index >= 0) return { hit: /** @type {Wire.Hit} */ (own.rows[index].hit), place: index + 1 };
    if (!own.more) return null;
    const next = await page(own.cursor, mode, abort, 0, true);
    own.rows = once([...own.rows, ...next.rows]);
    own.more = next.more;
    own.cursor = next.cursor;
  }
}
