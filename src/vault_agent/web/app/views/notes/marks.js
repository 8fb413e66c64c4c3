// The words of the search, marked in the text that is read. Text nodes are split, no HTML is made.

import { markedWords } from "../../state/query.js";
import { searching, asked } from "../../state/results.js";

const MOST = 300;

/** @param {HTMLElement} prose */
export function mark(prose) {
  if (!searching.peek() || !("highlights" in CSS)) return;
  const sought = markedWords(asked.peek().text);
  if (!sought.length) return void CSS.highlights.delete("hits");
  const cjk = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/u;
  const pattern = new RegExp(
    sought.map((each) => (cjk.test(each) ? each : `(?<![\\p{L}\\p{N}])${each}`)).join("|"),
    "giu",
  );
  const ranges = [];
  const walker = document.createTreeWalker(prose, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < MOST; node = walker.nextNode()) {
    for (const match of (node.nodeValue ?? "").matchAll(pattern)) {
      const range = new Range();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("hits", new Highlight(...ranges));
}
