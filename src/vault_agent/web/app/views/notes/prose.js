// The rendered text of a note, and what the page adds to it: links, code, formulas, previews.

import { html, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { showRendered } from "../../trust.js";
import { enhance } from "./enhance.js";
import { Hover, watchLinks } from "./hover.js";

/** @param {{ read: import("../../state/note.js").Note }} given */
export function Prose({ read }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => {
    const prose = /** @type {HTMLDivElement} */ (ref.current);
    showRendered(prose, read.html);
    const undo = [enhance(prose, read), watchLinks(prose)];
    return () => undo.forEach((each) => each());
  }, [read.id, read.html]);
  return html`<div class="prose" dir="auto" ref=${ref}></div><${Hover} />`;
}
