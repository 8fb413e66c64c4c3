// The shapes of notes on a canvas: the same as in the sprite, so that a shape alone tells a type.

const TURN = Math.PI * 2;
/** The number of colours for groups. */
export const GROUPS = 12;

/** @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} to @param {number} x @param {number} y
 * @param {number} radius @param {number} corners @param {number} first @param {number} [inner] */
function corners(to, x, y, radius, corners, first, inner) {
  const steps = inner ? corners * 2 : corners;
  for (let at = 0; at < steps; at += 1) {
    const angle = first + (at * TURN) / steps;
    const from = inner && at % 2 ? radius * inner : radius;
    if (at) to.lineTo(x + Math.cos(angle) * from, y + Math.sin(angle) * from);
    else to.moveTo(x + Math.cos(angle) * from, y + Math.sin(angle) * from);
  }
  to.closePath();
}

/**
 * Add the shape of a kind to the path. Fill it with "evenodd": a note is a ring.
 * @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} to @param {string} kind
 * @param {number} x @param {number} y @param {number} r
 */
export function shape(to, kind, x, y, r) {
  if (kind === "decision") corners(to, x, y, r * 1.25, 4, 0);
  else if (kind === "module") to.rect(x - r * 0.92, y - r * 0.92, r * 1.84, r * 1.84);
  else if (kind === "pattern") corners(to, x, y, r * 1.4, 5, -Math.PI / 2, 0.48);
  else if (kind === "bug") corners(to, x, y, r * 1.35, 3, -Math.PI / 2);
  else if (kind === "snippet") corners(to, x, y, r * 1.12, 6, 0);
  else {
    to.moveTo(x + r, y);
    to.arc(x, y, r, 0, TURN);
    if (kind !== "journal") {
      to.moveTo(x + r * 0.46, y);
      to.arc(x, y, r * 0.46, 0, TURN, true);
    }
  }
}

/** The radius of a node by the number of its neighbours. @param {number} degree */
export const radius = (degree) => Math.min(14, Math.max(2, 1.9 + 1.5 * Math.sqrt(degree)));

/** The colours that a canvas draws with, from the tokens. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const names = [
    "canvas",
    "paper",
    "ink",
    "ink-2",
    "ink-3",
    "accent",
    "edge",
    "edge-hot",
    "line",
    "journal",
    "decision",
    "module",
    "note",
    "pattern",
    "bug",
    "snippet",
    "sans",
    "mark",
    ...Array.from({ length: GROUPS }, (_, at) => `group-${at}`),
  ];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}
