// PDFs that a note embeds: the browser's own view of them in a frame. Else a link with name and size.

import { plain } from "../../parts/text.js";
import { fileOf } from "../../wire.js";
import { fileSize } from "../../words.js";

const HEIGHT = /(?:^|&)height=(\d{2,4})(?:&|$)/; // as Obsidian reads it, in pixels
const viewed = navigator.pdfViewerEnabled === true;

/** Frame the PDFs of a text when they come into view. Return a function that stops it. @param {HTMLElement} prose */
export function framePdfs(prose) {
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      void show(/** @type {HTMLElement} */ (target));
    }
  });
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (prose.querySelectorAll("a.pdf"))) {
    const place = document.createElement("span");
    place.className = "pdf-view";
    if (viewed) {
      place.dataset.frame = ""; // which has a height of its own, so that nothing moves when it is there
      const [, height] = HEIGHT.exec(link.dataset.fragment ?? "") ?? [];
      if (height) place.style.blockSize = `${height}px`;
    }
    link.replaceWith(place);
    place.append(link);
    near.observe(place);
  }
  return () => near.disconnect();
}

/** @param {HTMLElement} place */
async function show(place) {
  const link = /** @type {HTMLAnchorElement} */ (place.firstElementChild);
  const file = await fileOf(link.href).catch(() => null);
  if (file) {
    const size = document.createElement("small");
    size.textContent = fileSize(file.size);
    link.append(size);
  }
  // What is no PDF by its first bytes would be saved, which nobody has asked for.
  if (viewed && file?.type === "application/pdf") place.append(frameOf(link));
  else {
    delete place.dataset.frame;
    place.style.blockSize = "";
  }
}

/** @param {HTMLAnchorElement} link */
function frameOf(link) {
  const frame = document.createElement("iframe");
  frame.title = `PDF ${plain(link.dataset.path, 200)}`;
  frame.referrerPolicy = "no-referrer";
  frame.src = `${link.href}${link.hash ? "&" : "#"}navpanes=0`; // without a list of its pages
  return frame;
}
