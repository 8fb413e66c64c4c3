// Places in a note: headings, blocks, and lines of the file.

const SETTLING = 3_000; // ms in which formulas, pictures and backlinks still change the height
const GESTURES = ["wheel", "keydown", "pointerdown"];

/** Hear of all that the reader does and that may scroll. @param {() => void} run @returns {() => void} stop hearing */
export function onGesture(run) {
  for (const type of GESTURES) addEventListener(type, run, true);
  return () => GESTURES.forEach((type) => removeEventListener(type, run, true));
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
 * Open what hides an element: folded headings and closed callouts.
 * @param {HTMLElement} scroller @param {Element} target
 */
export function uncover(scroller, target) {
  if (target.closest(".folded"))
    for (const fold of scroller.querySelectorAll(".fold[aria-expanded='false']"))
      if (fold.parentElement?.hasAttribute("data-folded")) /** @type {HTMLElement} */ (fold).click();
  for (let box = target.closest("details:not([open])"); box; box = box.closest("details:not([open])"))
    /** @type {HTMLDetailsElement} */ (box).open = true;
  const content = target.closest(".callout-content[hidden]");
  /** @type {HTMLElement | null | undefined} */ (content?.previousElementSibling?.querySelector(".fold"))?.click();
}

/** Show for a moment which element is meant. @param {Element} target */
function flash(target) {
  target.classList.add("flash");
  setTimeout(() => target.classList.remove("flash"), 1600);
}

/**
 * Scroll to a heading or block, stay there as the page settles, and show it for a moment.
 * @param {HTMLElement} scroller @param {string} id @returns {(() => void) | undefined} stop staying
 */
export function showAnchor(scroller, id) {
  const target = scroller.querySelector(`#${CSS.escape(id.startsWith("n-") ? id : `n-${id}`)}`);
  if (!target) return;
  if (/** @type {HTMLElement} */ (target).hidden) return void (scroller.scrollTop = 0);
  uncover(scroller, target);
  flash(target);
  return stayAt(scroller, () => target.scrollIntoView({ block: "start" }));
}

/** The innermost block that begins on a line of the file or before it. @param {Element} box @param {number} line */
export function blockAt(box, line) {
  let best = /** @type {HTMLElement | null} */ (null);
  for (const block of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll(".prose [data-line]"))) {
    const start = Number(block.dataset.line);
    if (start <= line && start >= Number(best?.dataset.line ?? 0)) best = block;
  }
  return best;
}

/** Scroll to what stands on a line of the file. @param {HTMLElement} scroller @param {number} line */
export function showLine(scroller, line) {
  const block = blockAt(scroller, line);
  if (!block) return;
  uncover(scroller, block);
  flash(block);
  return stayAt(scroller, () => block.scrollIntoView({ block: "center" }));
}
