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
const shown = new WeakMap();

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
  const known = shown.get(prose) ?? [];
  const keys = fresh.map((each) => writer.serializeToString(each).replace(LINE, ""));
  let first = 0;
  while (first < Math.min(known.length, keys.length) && known[first].key === keys[first]) first += 1;
  let last = 0;
  while (last < Math.min(known.length, keys.length) - first && known.at(-1 - last)?.key === keys.at(-1 - last))
    last += 1;
  const lined = (/** @type {Element} */ old, /** @type {Element} */ now) => {
    const to = [now, ...now.querySelectorAll("[data-line]")].filter((each) => each.hasAttribute("data-line"));
    const from = [old, ...old.querySelectorAll("[data-line]")].filter((each) => each.hasAttribute("data-line"));
    from.forEach((each, at) => to[at] && each.setAttribute("data-line", to[at].getAttribute("data-line") ?? ""));
  };
  const kept = known.slice(known.length - last);
  kept.forEach((each, at) => lined(each.element, fresh[fresh.length - last + at]));
  const added = fresh.slice(first, fresh.length - last);
  for (const each of known.slice(first, known.length - last)) each.element.remove();
  made.replaceChildren(...added);
  const end = enhance(made, { ...note, title: first ? "" : note.title });
  const now = [...made.children];
  const before = kept[0]?.element ?? null;
  for (const each of now) prose.insertBefore(each, before);
  // What is added may be wrapped, as a table is: still one element each.
  shown.set(prose, [
    ...known.slice(0, first),
    ...now.map((element, at) => ({ element, key: keys[first + at] })),
    ...kept,
  ]);
  return { end, isShown: () => now.some((each) => each.isConnected) };
}

/**
 * @param {{
 *   text: () => string,
 *   version: { value: number },
 *   note: Shown,
 *   reading: Reading,
 *   box: { current: HTMLElement | null },
 *   onShown: () => void,
 * }} given
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
    const now = state.current;
    clearTimeout(now.timer);
    const show = async () => {
      const source = text();
      if (source.length > LARGEST) return void (fault.value = "This text is too large to preview.");
      now.due = performance.now() + PAUSE;
      try {
        const answer = await render.current(source, note.path);
        if (!answer || !prose.current) return;
        const began = performance.now();
        const added = patch(prose.current, answer.data.html, reading.enhance, note);
        now.added.filter((each) => !each.isShown()).forEach((each) => each.end());
        now.added = [...now.added.filter((each) => each.isShown()), added];
        now.due = Math.max(now.due, performance.now() + PATIENT * (performance.now() - began));
        fault.value = "";
        onShown();
      } catch (error) {
        fault.value = sentence(error);
      }
    };
    now.timer = setTimeout(() => void show(), Math.max(0, now.due - performance.now()));
  }, [version.value, head.value, note.path]);
  useEffect(() => {
    const stop = reading.watchLinks(/** @type {HTMLElement} */ (prose.current));
    return () => {
      clearTimeout(state.current.timer);
      render.current.stop();
      state.current.added.forEach((each) => each.end());
      stop();
    };
  }, []);
  return html`<section class="pane seen" tabindex="0" aria-label="Preview" ref=${box}>
    ${fault.value && html`<p class="say" role="status">${fault.value}</p>`}
    <div class="doc"><h1 dir="auto">${note.title}</h1><div class="prose" dir="auto" ref=${prose}></div></div>
    <${reading.Hover} />
  </section>`;
}
