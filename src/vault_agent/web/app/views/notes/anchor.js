// Places in a note: headings and blocks.

const SETTLING = 3_000; // ms in which formulas, pictures and backlinks still change the height
const GESTURES = ["wheel", "keydown", "pointerdown"];

/** Hear of all that the reader does and that may scroll. @param {() => void} run @returns {() => void} stop hearing */
export function onGesture(run) {
  for (const each of GESTURES) addEventListener(each, run, true);
  return () => GESTURES.forEach((each) => removeEventListener(each, run, true));
}

/**
 * Scroll to a place now, and again as the height changes, until the reader moves.
 * @param {HTMLElement} scroller @param {() => void} scroll @returns {() => void} stop
 */
export function stayAt(scroller, scroll) {
  const sized = new ResizeObserver(scroll);
  const end = () => {
    sized.disconnect();
    clearTimeout(timer);
    deaf();
  };
  const timer = setTimeout(end, SETTLING);
  const deaf = onGesture(end);
  scroll();
  const text = scroller.querySelector(".doc");
  if (text) sized.observe(text);
  return end;
}

/**
 * Scroll to a heading or block, stay there as the page settles, and show it for a moment.
 * @param {HTMLElement} scroller @param {string} id @returns {(() => void) | undefined} stop staying
 */
export function showAnchor(scroller, id) {
  const target = scroller.querySelector(`#${CSS.escape(id.startsWith("n-") ? id : `n-${id}`)}`);
  if (!target) return;
  if (/** @type {HTMLElement} */ (target).hidden) return void (scroller.scrollTop = 0);
  if (target.closest(".folded"))
    for (const each of scroller.querySelectorAll(".fold[aria-expanded='false']"))
      if (each.parentElement?.hasAttribute("data-folded")) /** @type {HTMLElement} */ (each).click();
  for (let each = target.closest("details:not([open])"); each; each = each.closest("details:not([open])"))
    /** @type {HTMLDetailsElement} */ (each).open = true;
  target.classList.add("flash");
  setTimeout(() => target.classList.remove("flash"), 1600);
  return stayAt(scroller, () => target.scrollIntoView({ block: "start" }));
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
