// Colours for code. It makes text nodes and spans, never HTML.

import { common, createLowlight } from "../../../vendor/code.js";

/** @import { Part } from "../../../vendor/code.js" */

const MOST = 60_000; // characters
const lowlight = createLowlight(common);
lowlight.registerAlias({ javascript: ["dataviewjs"], sql: ["dataview"] }); // blocks of Obsidian's plugins

/** @param {Part} part @returns {Node | string} */
function nodeOf(part) {
  if (part.type === "text") return part.value;
  const span = document.createElement("span");
  span.className = part.properties.className.join(" ");
  span.append(...part.children.map(nodeOf));
  return span;
}

/** Colour the code of an element. @param {Element} element @param {string} language as the note names it */
export function colour(element, language) {
  const text = element.textContent ?? "";
  if (text.length > MOST || !lowlight.registered(language)) return;
  element.replaceChildren(...lowlight.highlight(language, text, { prefix: "code-" }).children.map(nodeOf));
}
