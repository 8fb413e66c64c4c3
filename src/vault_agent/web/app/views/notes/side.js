// The side of a note: local graph, outline, properties.

import { html, useEffect, useLayoutEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Edge } from "../../parts/edge.js";
import { IconButton } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { address, arrival, changed, remember, remembered } from "../../state/address.js";
import { isNote, valueName } from "../../state/note.js";
import { fullDate } from "../../words.js";
import { onGesture, showAnchor } from "./anchor.js";
import { Mini } from "./mini.js";
/** @import { Note } from "../../state/note.js" */

const OUTLINE = 400; // headings in the document

/** @param {{ read: Note, box: { current: HTMLElement | null }, drawer: { value: boolean }, }} props */
export function Side({ read, box, drawer }) {
  // Before it is painted: the first key after that may be Escape.
  useLayoutEffect(() => {
    if (!drawer.value) return;
    const closed = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], .menu")) return;
      event.preventDefault();
      drawer.value = false;
    };
    addEventListener("keydown", closed);
    return () => removeEventListener("keydown", closed);
  }, [drawer.value]);
  const properties = read.properties.filter(({ values }) => values.some(({ text }) => text.trim()));
  return html`<aside class="side" data-drawer=${drawer.value} aria-label="About this note" tabindex=${-1}>
    <${Edge} panel="side" />
    <${IconButton} icon="x" class="shut" label="Close" onClick=${() => (drawer.value = false)} />
    <p class="none">It has no links, headings or properties.</p>
    ${isNote(read) && html`<${Mini} read=${read} />`}
    ${hasParts(read) && html`<${Outline} read=${read} box=${box} />`}
    ${properties.length > 0 && html`<section><h2>Properties</h2><${Properties} list=${properties} /></section>`}
  </aside>`;
}

/** Whether there is another heading than the title. @param {Note} read */
const hasParts = ({ outline, title }) => outline.some(({ text }) => text.trim() !== title.trim());

const LINE = 96; // px below the top of the reading pane: what is above is read
const END = 2; // px from the end of the text

/** @param {{ read: Note, box: { current: HTMLElement | null } }} props */
function Outline({ read, box }) {
  const current = useSignal("");
  // Chosen by the reader: it is current, even if it cannot reach the line, until the reader scrolls.
  const chosen = useRef("");
  const moves = useRef(false);
  const stay = useRef(/** @type {(() => void) | undefined} */ (undefined));
  useEffect(() => {
    const wanted = arrival.peek() === "back" ? remembered.peek().heading : address.peek().at;
    chosen.current = read.outline.find(({ id }) => wanted && (id === wanted || id === `n-${wanted}`))?.id ?? "";
    moves.current = false;
    return () => stay.current?.();
  }, [read.id]);
  useEffect(() => {
    const scroller = box.current;
    if (!scroller) return;
    let frame = 0;
    const follow = () => {
      frame = 0;
      const { top, bottom } = scroller.getBoundingClientRect();
      const ended = scroller.scrollTop > 0 && scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop < END;
      let id = read.outline[0]?.id ?? "";
      for (const entry of read.outline.slice(0, OUTLINE)) {
        const heading = scroller.querySelector(`#${CSS.escape(entry.id)}`);
        if (!heading || heading.getBoundingClientRect().top > (ended ? bottom : top + LINE)) break;
        id = entry.id;
      }
      current.value = chosen.current || id;
    };
    const sooner = () => (frame ||= requestAnimationFrame(follow));
    const scrolled = () => {
      if (moves.current && chosen.current) remember({ heading: (chosen.current = "") });
      sooner();
    };
    const deaf = onGesture(() => (moves.current = true));
    const sized = new ResizeObserver(sooner); // formulas and pictures move headings without a scroll
    const text = scroller.querySelector(".doc");
    if (text) sized.observe(text);
    scroller.addEventListener("scroll", scrolled, { passive: true });
    sooner();
    return () => {
      cancelAnimationFrame(frame);
      sized.disconnect();
      deaf();
      scroller.removeEventListener("scroll", scrolled);
    };
  }, [read.id, read.html]);
  const top = Math.min(...read.outline.map(({ level }) => level));
  /** @param {MouseEvent} event @param {string} id */
  const jump = (event, id) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    stay.current?.();
    if (box.current) stay.current = showAnchor(box.current, id);
    current.value = chosen.current = id;
    moves.current = false;
    remember({ heading: id });
  };
  return html`<section>
    <h2>Outline</h2>
    <ul class="toc">
      ${read.outline.slice(0, OUTLINE).map(
        (heading) => html`<li key=${heading.id}>
          <a
            href=${changed({ at: heading.id })}
            data-level=${heading.level - top + 1}
            aria-current=${heading.id === current.value ? "true" : undefined}
            onClick=${(/** @type {MouseEvent} */ event) => jump(event, heading.id)}
          >
            <bdi>${plain(heading.text, 160) || "Untitled"}</bdi>
          </a>
        </li>`,
      )}
    </ul>
  </section>`;
}

/** @param {{ list: { key: string, values: { text: string, noteId: string | null }[], isList: boolean }[] }} props */
function Properties({ list }) {
  return html`<dl class="props">
    ${list.slice(0, 100).map(
      ({ key, values, isList }) => html`
        <dt key=${key}><bdi>${plain(key, 60)}</bdi></dt>
        <dd>
          ${values
            .slice(0, 50)
            .map(
              (value, index) =>
                html`<${Value} key=${index} name=${key} value=${value} many=${isList || values.length > 1} />`,
            )}
        </dd>
      `,
    )}
  </dl>`;
}

/** @param {{ name: string, value: { text: string, noteId: string | null }, many: boolean }} props */
function Value({ name, value, many }) {
  const text = plain(valueName(value), 300);
  if (value.noteId) return html`<a href=${changed({ note: value.noteId })}><bdi>${text}</bdi></a>`;
  if (name === "tags" || name === "tag")
    return html`<a class="tag" href=${changed({ tag: [text.replace(/^#/, "")], q: "" })}><bdi>${text}</bdi></a>`;
  if (/^https?:\/\/\S+$/.test(text))
    return html`<a href=${text} target="_blank" rel="noopener noreferrer"><bdi>${text}</bdi></a>`;
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return html`<time class="num" datetime=${text}>${fullDate(text)}</time>`;
  return many
    ? html`<bdi class="tag">${text}</bdi>`
    : html`<bdi class=${/^[\d\s:.TZ+-]+$/.test(text) ? "num" : ""}>${text}</bdi>`;
}
