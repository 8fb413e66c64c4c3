// Places in a note: headings and blocks.

/** Scroll to a heading or block, and show it for a moment. @param {HTMLElement} scroller @param {string} id */
export function showAnchor(scroller, id) {
  const target = scroller.querySelector(`#${CSS.escape(id.startsWith("n-") ? id : `n-${id}`)}`);
  if (!target) return;
  if (/** @type {HTMLElement} */ (target).hidden) return void (scroller.scrollTop = 0);
  for (let each = target.closest("details:not([open])"); each; each = each.closest("details:not([open])"))
    /** @type {HTMLDetailsElement} */ (each).open = true;
  target.scrollIntoView({ block: "start" });
  target.classList.add("flash");
  setTimeout(() => target.classList.remove("flash"), 1600);
}

/** Scroll to what stands on a line of the file. @param {HTMLElement} scroller @param {number} line */
export function showLine(scroller, line) {
  let best = /** @type {HTMLElement | null} */ (null);
  for (const each of /** @type {NodeListOf<HTMLElement>} */ (scroller.querySelectorAll(".prose [data-line]"))) {
    if (Number(each.dataset.line) <= line && Number(each.dataset.line) >= Number(best?.dataset.line ?? 0)) best = each;
  }
  if (!best) return;
  best.scrollIntoView({ block: "center" });
  best.classList.add("flash");
  setTimeout(() => best.classList.remove("flash"), 1600);
}
