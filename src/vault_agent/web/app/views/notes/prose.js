// The rendered text of a note, and what the page adds to it: links, code, formulas.

import { html, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { address, arrival, remembered } from "../../state/address.js";
import { showRendered } from "../../trust.js";
import { foundWords } from "../../state/results.js";
import { enhance } from "./enhance.js";
import { mark } from "./marks.js";
/** @import { Note } from "../../state/note.js" */

const LONG = 60_000; // characters of HTML

/** Whether a note is shown from its beginning. Any other place needs the height of what is above it. */
function fromBeginning() {
  const { at, line } = address.peek();
  const { scroll, top } = remembered.peek();
  return !at && !line && !top && (arrival.peek() !== "back" || !scroll);
}

/** Lay out what is in view first, and the rest when that is painted. @param {HTMLElement} prose */
function beginningFirst(prose) {
  prose.classList.add("beginning");
  const whole = () => prose.classList.remove("beginning");
  const frame = requestAnimationFrame(() => setTimeout(whole));
  return () => {
    cancelAnimationFrame(frame);
    whole();
  };
}

/** @param {{ read: Note }} props */
export function Prose({ read }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  const lastId = useRef("");
  useLayoutEffect(() => {
    const prose = /** @type {HTMLDivElement} */ (ref.current);
    showRendered(prose, read.html);
    const undo = [enhance(prose, read)];
    if (read.html.length > LONG && lastId.current !== read.id && fromBeginning()) undo.push(beginningFirst(prose));
    lastId.current = read.id;
    return () => undo.forEach((stop) => stop());
  }, [read.id, read.html]);
  const words = foundWords.value;
  useLayoutEffect(
    () => mark(/** @type {HTMLElement} */ (ref.current), words ? words.split("\n") : []),
    [read.id, read.html, words],
  );
  useLayoutEffect(() => () => mark(/** @type {HTMLElement} */ (ref.current), []), []);
  return html`<div class="prose" dir="auto" ref=${ref}></div>`;
}
