// The preview: what the server makes of the text that is typed, at most every 80 ms.

import { html, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { sentence } from "../../parts/say.js";
import { head } from "../../state/editing.js";
import { showRendered } from "../../trust.js";
import { ask, newestOnly } from "../../wire.js";

const PAUSE = 80; // ms between two questions
const LARGEST = 480 * 1024; // characters
const PATIENT = 4; // a preview that takes long is made less often

/** @typedef {{ id: string, path: string, title: string }} Shown */
/**
 * @typedef {{
 *   enhance: (prose: HTMLElement, note: Shown) => () => void,
 *   watchLinks: (element: HTMLElement) => () => void,
 *   Hover: () => unknown,
 * }} Reading
 */

const writer = new XMLSerializer();
const LINE = / data-line="\d+"/g;
/**
 * The elements of a preview, and what they were made of.
 * @type {WeakMap<Element, { element: Element, key: string }[]>}
 */
const previews = new WeakMap();

/**
 * Something added to the preview that goes on, such as what draws its diagrams.
 * @typedef {{ end: () => void, isShown: () => boolean }} Added
 */

/**
 * Show what has changed only, so that pictures stay and the reader is not thrown about. Return what was added.
 * @param {HTMLElement} prose
 * @param {string} rendered
 * @param {Reading["enhance"]} enhance
 * @param {Shown} note
 * @returns {Added}
 */
function patch(prose, rendered, enhance, note) {
  const made = document.createElement("div");
  showRendered(made, rendered);
  const fresh = [...made.children];
  const previous = previews.get(prose) ?? [];
  const keys = fresh.map((element) => writer.serializeToString(element).replace(LINE, ""));
  let first = 0;
  while (first < Math.min(previous.length, keys.length) && previous[first].key === keys[first]) first += 1;
  let last = 0;
  while (last < Math.min(previous.length, keys.length) - first && previous.at(-1 - last)?.key === keys.at(-1 - last))
    last += 1;
  const copyLines = (/** @type {Element} */ old, /** @type {Element} */ now) => {
    const from = [now, ...now.querySelectorAll("[data-line]")].filter((node) => node.hasAttribute("data-line"));
    const to = [old, ...old.querySelectorAll("[data-line]")].filter((node) => node.hasAttribute("data-line"));
    to.forEach((node, at) => from[at] && node.setAttribute("data-line", from[at].getAttribute("data-line") ?? ""));
  };
  const kept = previous.slice(previous.length - last);
  kept.forEach((block, at) => copyLines(block.element, fresh[fresh.length - last + at]));
  const added = fresh.slice(first, fresh.length - last);
  for (const block of previous.slice(first, previous.length - last)) block.element.remove();
  made.replaceChildren(...added);
  const end = enhance(made, { ...note, title: first ? "" : note.title });
  const elements = [...made.children];
  const before = kept[0]?.element ?? null;
  for (const element of elements) prose.insertBefore(element, before);
  // What is added may be wrapped, as a table is: still one element each.
  previews.set(prose, [
    ...previous.slice(0, first),
    ...elements.map((element, at) => ({ element, key: keys[first + at] })),
    ...kept,
  ]);
  return { end, isShown: () => elements.some((element) => element.isConnected) };
}

/**
 * @param {{
 *   text: () => string,
 *   version: { value: number },
 *   note: Shown,
 *   reading: Reading,
 *   box: { current: HTMLElement | null },
 *   onShown: () => void,
 * }} props
 */
export function Preview({ text, version, note, reading, box, onShown }) {
  const prose = useRef(/** @type {HTMLElement | null} */ (null));
  const fault = useSignal("");
  const state = useRef({
    due: 0,
    timer: /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined),
    added: /** @type {Added[]} */ ([]),
  });
  const render = useRef(
    newestOnly((abort, /** @type {string} */ source, /** @type {string} */ path) =>
      ask("POST", "/render", { body: { text: source, path }, signal: abort }),
    ),
  );
  useEffect(() => {
    const pending = state.current;
    clearTimeout(pending.timer);
    const show = async () => {
      const source = text();
      if (source.length > LARGEST) return void (fault.value = "This text is too large to preview.");
      pending.due = performance.now() + PAUSE;
      try {
        const answer = await render.current(source, note.path);
        if (!answer || !prose.current) return;
        const began = performance.now();
        const added = patch(prose.current, answer.data.html, reading.enhance, note);
        pending.added.filter((part) => !part.isShown()).forEach((part) => part.end());
        pending.added = [...pending.added.filter((part) => part.isShown()), added];
        pending.due = Math.max(pending.due, performance.now() + PATIENT * (performance.now() - began));
        fault.value = "";
        onShown();
      } catch (error) {
        fault.value = sentence(error);
      }
    };
    pending.timer = setTimeout(() => void show(), Math.max(0, pending.due - performance.now()));
  }, [version.value, head.value, note.path]);
  useEffect(() => {
    const stop = reading.watchLinks(/** @type {HTMLElement} */ (prose.current));
    return () => {
      clearTimeout(state.current.timer);
      render.current.stop();
      state.current.added.forEach((part) => part.end());
      stop();
    };
  }, []);
  return html`<section class="pane seen" tabindex="0" aria-label="Preview" ref=${box}>
    ${fault.value && html`<p class="say" role="status">${fault.value}</p>`}
    <div class="doc"><h1 dir="auto">${note.title}</h1><div class="prose" dir="auto" ref=${prose}></div></div>
    <${reading.Hover} />
  </section>`;
}
