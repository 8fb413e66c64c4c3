// The text and its preview scroll together, by the lines of the source.

import { heightOf, lineAt } from "../../parts/measure.js";
/** @import { EditorView } from "../../../vendor/codemirror.js" */

const LEADS = 160; // ms in which the side that was moved leads

/**
 * Show the line of the cursor in the preview.
 * @param {EditorView} view
 * @param {HTMLElement} preview
 * @param {() => number} above lines of the file above the text
 */
export function showCursor(view, preview, above) {
  const line = view.state.doc.lineAt(view.state.selection.main.head).number + above();
  preview.scrollTop = heightOf(preview, line) - preview.clientHeight / 3;
}

/**
 * Let two boxes scroll together. Return a function that ends it.
 * @param {EditorView} view
 * @param {HTMLElement} source the box of the text
 * @param {HTMLElement} preview
 * @param {() => number} above lines of the file above the text
 */
export function together(view, source, preview, above) {
  /** @type {HTMLElement | null} */
  let leader = null;
  let until = 0;
  const leads = (/** @type {HTMLElement} */ box) => {
    if (leader !== box && performance.now() < until) return false;
    leader = box;
    until = performance.now() + LEADS;
    return true;
  };
  const fromSource = () => {
    if (!leads(source)) return;
    const y = source.getBoundingClientRect().top - view.documentTop;
    if (y <= 0) return void (preview.scrollTop = 0);
    if (source.scrollTop + source.clientHeight >= source.scrollHeight - 2)
      return void (preview.scrollTop = preview.scrollHeight);
    const block = view.lineBlockAtHeight(y);
    const line = view.state.doc.lineAt(block.from).number + above() + (y - block.top) / Math.max(1, block.height);
    preview.scrollTop = heightOf(preview, line);
  };
  const fromPreview = () => {
    if (!leads(preview)) return;
    if (preview.scrollTop <= 0) return void (source.scrollTop = 0);
    const line = lineAt(preview, preview.scrollTop) - above();
    const number = Math.max(1, Math.min(view.state.doc.lines, Math.floor(line)));
    const block = view.lineBlockAt(view.state.doc.line(number).from);
    source.scrollTop +=
      view.documentTop + block.top + (line - number) * block.height - source.getBoundingClientRect().top;
  };
  leads(source);
  showCursor(view, preview, above);
  let frame = 0;
  const soon = (/** @type {() => void} */ run) => () => {
    if (!frame)
      frame = requestAnimationFrame(() => {
        frame = 0;
        run();
      });
  };
  const [onSource, onPreview] = [soon(fromSource), soon(fromPreview)];
  source.addEventListener("scroll", onSource, { passive: true });
  preview.addEventListener("scroll", onPreview, { passive: true });
  return () => {
    cancelAnimationFrame(frame);
    source.removeEventListener("scroll", onSource);
    preview.removeEventListener("scroll", onPreview);
  };
}
