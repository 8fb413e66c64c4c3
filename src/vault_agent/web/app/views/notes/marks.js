// The hits of the search in the text that is read: marked, counted, and walked. Text nodes are not split.

import { html, signal } from "../../../vendor/preact.js";
import { useCommands } from "../../parts/commands.js";
import { IconButton } from "../../parts/controls.js";
import { address } from "../../state/address.js";
import { laterWords } from "../../words-later.js";
import { blockAt, stayAt, uncover } from "./anchor.js";

const MOST = 300;
const CJK = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/u;
/** Words of the page itself, and those that are drawn otherwise. */
const NOT_TEXT = "button, .cap, .query > summary, .remote, math";

/** The hits of the note in their order, and which one was gone to, or -1. */
const hits = signal({ ranges: /** @type {Range[]} */ ([]), at: -1 });

/** The first range that does not begin before a place. @param {Range[]} ranges @param {Range} place */
const firstFrom = (ranges, place) =>
  ranges.findIndex((range) => range.compareBoundaryPoints(Range.START_TO_START, place) >= 0);

/** The hit on a line of the file, or after it. @param {Range[]} ranges @param {Element} prose @param {number} line */
function atLine(ranges, prose, line) {
  const block = prose.parentElement && blockAt(prose.parentElement, line);
  if (!block) return -1;
  const place = new Range();
  place.selectNodeContents(block);
  return firstFrom(ranges, place);
}

/** Mark these words, and no others. @param {HTMLElement} prose @param {string[]} words */
export function mark(prose, words) {
  if (!("highlights" in CSS)) return;
  if (!words.length) return show([], -1);
  const before = hits.peek().ranges[hits.peek().at];
  const patterns = words.map((word) => {
    const escaped = word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    return CJK.test(word) ? escaped : `(?<![\\p{L}\\p{N}])${escaped}`;
  });
  const pattern = new RegExp(patterns.join("|"), "giu");
  const ranges = [];
  const walker = document.createTreeWalker(prose, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < MOST; node = walker.nextNode()) {
    if (node.parentElement?.closest(NOT_TEXT)) continue;
    for (const match of (node.nodeValue ?? "").matchAll(pattern)) {
      const range = new Range();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      ranges.push(range);
    }
  }
  const { line } = address.peek();
  const stays = before && prose.contains(before.startContainer);
  show(ranges, stays ? firstFrom(ranges, before) : line ? atLine(ranges, prose, Number(line)) : -1);
}

/** @param {Range[]} ranges @param {number} at */
function show(ranges, at) {
  hits.value = { ranges, at };
  CSS.highlights.set("hits", new Highlight(...ranges.filter((_, index) => index !== at)));
  CSS.highlights.set("hit", new Highlight(...ranges.slice(at, at < 0 ? 0 : at + 1)));
}

/** Show the hit that the address leads to. Return whether there is one. @param {HTMLElement} scroller */
export function showHit(scroller) {
  const { ranges, at } = hits.peek();
  const range = ranges[at];
  if (!range?.startContainer.parentElement) return false;
  uncover(scroller, range.startContainer.parentElement);
  stayAt(scroller, () => {
    const { top, height } = range.getBoundingClientRect();
    if (height) scroller.scrollTop += top - scroller.getBoundingClientRect().top - scroller.clientHeight / 3;
  });
  return true;
}

/** Which hit of the note this is, and the way to the next. @param {{ box: { current: HTMLElement | null } }} props */
export function Hits({ box }) {
  const { ranges, at } = hits.value;
  const walk = (/** @type {number} */ step) => {
    const { ranges, at } = hits.peek();
    if (!box.current || !ranges.length) return;
    const top = box.current.getBoundingClientRect().top;
    const inView = ranges.findIndex((range) => range.getBoundingClientRect().top > top);
    const from = at >= 0 ? at + step : step > 0 ? Math.max(0, inView) : inView - 1;
    show(ranges, (from + ranges.length) % ranges.length);
    showHit(box.current);
  };
  const t = laterWords.note.hits;
  useCommands(
    () => [
      { id: "hit-next", name: "Next hit", icon: "down", keys: ["n"], run: () => walk(1), hidden: !ranges.length },
      { id: "hit-back", name: "Previous hit", icon: "up", keys: ["p"], run: () => walk(-1), hidden: !ranges.length },
    ],
    [Boolean(ranges.length)],
  );
  if (!ranges.length) return null;
  return html`<span class="hits" role="group" aria-label="Hits of the search">
    <span class="num" role="status">${t.at(at + 1, ranges.length, ranges.length === MOST)}</span>
    <${IconButton} icon="up" label="Previous hit" title=${`Previous hit (P)`} onClick=${() => walk(-1)} />
    <${IconButton} icon="down" label="Next hit" title=${`Next hit (N)`} onClick=${() => walk(1)} />
  </span>`;
}
