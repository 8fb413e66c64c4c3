// A preview of the note behind a link: on hovering for a while, or with Space. It can be pinned.

import { html, signal, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { IconButton, NoteShape } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { changed } from "../../state/address.js";
import { readNote } from "../../state/note.js";
import { showRendered } from "../../trust.js";
import { placeBelow } from "../../parts/menu.js";
import { hideTitle } from "./enhance.js";
/** @import { Note } from "../../state/note.js" */

const WAIT = 300;
const LEAVE = 220;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
const card = signal(/** @type {{ note: Note, box: DOMRect, pinned: boolean } | null} */ (null));

/** @param {HTMLElement} link */
const target = (link) => link.dataset.note ?? link.dataset.peek ?? "";

/** @param {HTMLElement} link */
async function show(link) {
  try {
    const note = await readNote(target(link));
    if (link.isConnected) card.value = { note, box: link.getBoundingClientRect(), pinned: false };
  } catch {
    // No preview: the link itself says what is wrong.
  }
}

const hide = () => {
  clearTimeout(timer);
  // The link loses the focus to the button that pins, so what is pinned is known only then.
  timer = setTimeout(() => {
    if (!card.peek()?.pinned) card.value = null;
  }, LEAVE);
};

/** Follow the links of an element. Return a function that stops it. @param {HTMLElement} element */
export function watchLinks(element) {
  const over = (/** @type {Event} */ event) => {
    const link = /** @type {HTMLElement | null} */ (
      /** @type {Element} */ (event.target).closest("a[data-note], a[data-peek]")
    );
    if (!link || !target(link) || card.peek()?.pinned) return;
    clearTimeout(timer);
    timer = setTimeout(() => void show(link), WAIT);
  };
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    const link = /** @type {HTMLElement | null} */ (
      /** @type {Element} */ (event.target).closest("a[data-note], a[data-peek]")
    );
    if (event.key === " " && link && target(link)) {
      event.preventDefault();
      clearTimeout(timer); // of the pointer that has just left another one
      void show(link);
    }
  };
  element.addEventListener("pointerover", over);
  element.addEventListener("pointerout", hide);
  element.addEventListener("keydown", keyed);
  element.addEventListener("focusout", hide);
  return () => {
    clearTimeout(timer);
    card.value = null;
    element.removeEventListener("pointerover", over);
    element.removeEventListener("pointerout", hide);
    element.removeEventListener("keydown", keyed);
    element.removeEventListener("focusout", hide);
  };
}

export function Hover() {
  const preview = card.value;
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const prose = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (!preview || !ref.current || !prose.current) return;
    showRendered(prose.current, preview.note.html);
    hideTitle(prose.current, preview.note.title);
    placeBelow(ref.current, preview.box);
  }, [preview?.note]);
  useLayoutEffect(() => {
    if (!preview) return;
    const closed = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      card.value = null;
    };
    addEventListener("keydown", closed, true);
    return () => removeEventListener("keydown", closed, true);
  }, [Boolean(preview)]);
  if (!preview) return null;
  return html`<aside
    class="hovercard"
    ref=${ref}
    aria-label="Preview"
    onPointerEnter=${() => clearTimeout(timer)}
    onPointerLeave=${hide}
  >
    <header>
      <h2 dir="auto">
        <${NoteShape} type=${preview.note.type} quiet />
        ${" "}
        <a class="plain" href=${changed({ view: "notes", note: preview.note.id })}>${plain(preview.note.title, 200)}</a>
      </h2>
      <${IconButton}
        icon=${preview.pinned ? "x" : "pin"}
        label="Keep this preview open"
        aria-pressed=${preview.pinned}
        onClick=${() => (card.value = preview.pinned ? null : { ...preview, pinned: true })}
      />
    </header>
    <div class="prose" dir="auto" ref=${prose} inert></div>
  </aside>`;
}
