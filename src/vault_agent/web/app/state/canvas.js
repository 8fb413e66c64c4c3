// A canvas as Obsidian writes it (JSON Canvas 1.0): its nodes and edges, checked. Pure.

/**
 * @typedef {{
 *   id: string,
 *   type: "text" | "file" | "link" | "group",
 *   x: number,
 *   y: number,
 *   width: number,
 *   height: number,
 *   text: string,
 *   color: string,
 * }} CanvasNode `text`: of a text; the path of a file; the address of a link; the name of a group
 */
/** @typedef {{ from: [number, number], to: [number, number], label: string }} CanvasEdge */
/** @typedef {{ nodes: CanvasNode[], edges: CanvasEdge[], box: [number, number, number, number] }} Canvas */

const MOST = 2000; // nodes, and edges
const MARGIN = 40;
const TEXTS = /** @type {const} */ ({ text: "text", file: "file", link: "url", group: "label" });

/** The middle of a side of a node. @param {CanvasNode} node @param {unknown} side @returns {[number, number]} */
function sideOf({ x, y, width, height }, side) {
  if (side === "top") return [x + width / 2, y];
  if (side === "bottom") return [x + width / 2, y + height];
  return [side === "left" ? x : x + width, y + height / 2];
}

/** Read a canvas. What is not as it must be is left out. Return null if it is no canvas.
 * @param {string} source @returns {Canvas | null} */
export function parseCanvas(source) {
  let data;
  try {
    data = JSON.parse(source || "{}");
  } catch {
    return null;
  }
  const listOf = (/** @type {unknown} */ list) => (Array.isArray(list) ? list.slice(0, MOST) : []);
  const nodes = /** @type {CanvasNode[]} */ (
    listOf(data?.nodes)
      .filter(
        (node) =>
          Object.hasOwn(TEXTS, node?.type) &&
          [node.x, node.y, node.width, node.height].every((n) => Number.isFinite(n)),
      )
      .map(({ id, type, x, y, width, height, color, ...node }) => {
        const text = node[TEXTS[/** @type {CanvasNode["type"]} */ (type)]];
        return { id, type, x, y, width, height, text: String(text ?? ""), color: String(color ?? "") };
      })
  );
  const nodesById = new Map(nodes.map((node) => [node.id, node]));
  const edges = listOf(data?.edges).flatMap((edge) => {
    const [from, to] = [nodesById.get(edge?.fromNode), nodesById.get(edge?.toNode)];
    return from && to
      ? [
          {
            from: sideOf(from, edge.fromSide ?? "right"),
            to: sideOf(to, edge.toSide ?? "left"),
            label: String(edge.label ?? ""),
          },
        ]
      : [];
  });
  const all = nodes.length ? nodes : [{ x: 0, y: 0, width: 0, height: 0 }];
  const x = Math.min(...all.map((node) => node.x)) - MARGIN;
  const y = Math.min(...all.map((node) => node.y)) - MARGIN;
  const right = Math.max(...all.map((node) => node.x + node.width)) + MARGIN;
  const bottom = Math.max(...all.map((node) => node.y + node.height)) + MARGIN;
  return { nodes, edges, box: [x, y, right - x, bottom - y] };
}
