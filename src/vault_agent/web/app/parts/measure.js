// Lines of a file and their places in its rendered text.

/** What stands where in rendered text: lines with their places. @param {HTMLElement} box */
function anchors(box) {
  const top = box.getBoundingClientRect().top - box.scrollTop;
  const places = [{ line: 1, y: 0 }];
  for (const block of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll(".prose [data-line]"))) {
    const [line, y] = [Number(block.dataset.line), block.getBoundingClientRect().top - top];
    const last = /** @type {{ line: number, y: number }} */ (places.at(-1));
    if (line > last.line && y > last.y) places.push({ line, y });
  }
  return places;
}

/**
 * Read one measure of a place from the other: between two blocks, both grow evenly.
 * @param {HTMLElement} box @param {"line" | "y"} by @param {"line" | "y"} to @param {number} value
 */
function between(box, by, to, value) {
  const places = anchors(box);
  let at = 0;
  while (at + 1 < places.length && places[at + 1][by] <= value) at += 1;
  const [one, other] = [places[at], places[at + 1]];
  if (!other) return one[to];
  return one[to] + ((value - one[by]) / (other[by] - one[by])) * (other[to] - one[to]);
}

/** Where a line of the file stands in a box of rendered text. @param {HTMLElement} box @param {number} line */
export const heightOf = (box, line) => between(box, "line", "y", line);
/** Which line of the file stands at a height. @param {HTMLElement} box @param {number} y */
export const lineAt = (box, y) => between(box, "y", "line", y);
