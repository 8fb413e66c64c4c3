// The canvas of the graph: it takes what a person does and tells the worker, which draws.

import { html, useEffect, useLayoutEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { composing, useCommands } from "../../parts/commands.js";
import { IconButton } from "../../parts/controls.js";
import { useStage } from "../../parts/stage.js";
/** @import { Tell } from "../../parts/stage.js" */
/** @import { Told } from "../../workers/graph.js" */

const STEP = 60; // px for an arrow key
const FAR = 4; // px that a pointer may move during a click

/** @typedef {{ tell: Tell }} Stage */

/** Room for the panels, by the width of the canvas. @param {number} width */
const marginOf = (width) =>
  width > 1240 ? { start: 300, end: 40, top: 30, bottom: 30 } : { start: 44, end: 44, top: 90, bottom: 30 };

/**
 * @param {{
 *   label: string,
 *   stage: { current: Stage | null },
 *   onMessage: (message: Told) => void,
 *   onOpen: (edits: boolean) => void,
 *   onEscape: () => void,
 * }} props
 */
export function Canvas({ label, stage, onMessage, onOpen, onEscape }) {
  const over = useSignal(false);
  const moving = useSignal(false);
  const drawn = useSignal(0);
  const pointers = useRef(/** @type {Map<number, { x: number, y: number }>} */ (new Map()));
  const press = useRef({ x: 0, y: 0, moved: false, node: /** @type {boolean | null} */ (null) });

  const { canvas, tell } = useStage({
    margin: marginOf,
    onMessage: (message) => {
      if (message.type === "hover") over.value = message.at >= 0;
      if (message.type === "drawn") drawn.value += 1;
      if (message.type === "grabbed") press.current.node = message.at >= 0;
      onMessage(message);
    },
  });
  useLayoutEffect(() => {
    stage.current = { tell };
    return () => void (stage.current = null);
  }, []);

  const pointOf = (/** @type {PointerEvent | WheelEvent} */ event) => {
    const box = /** @type {HTMLElement} */ (canvas.current).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const down = (/** @type {PointerEvent} */ event) => {
    canvas.current?.setPointerCapture(event.pointerId);
    pointers.current.set(event.pointerId, pointOf(event));
    press.current = { ...pointOf(event), moved: false, node: null };
    if (pointers.current.size === 1 && event.button === 0) tell("grab", pointOf(event));
  };
  const move = (/** @type {PointerEvent} */ event) => {
    const point = pointOf(event);
    const before = pointers.current.get(event.pointerId);
    if (!before) return void tell("hover", point);
    if (pointers.current.size === 2) {
      const other = /** @type {{ x: number, y: number }} */ (
        [...pointers.current].find(([id]) => id !== event.pointerId)?.[1]
      );
      const [oldGap, newGap] = [
        Math.hypot(before.x - other.x, before.y - other.y),
        Math.hypot(point.x - other.x, point.y - other.y),
      ];
      if (oldGap > 0) tell("zoom", { factor: newGap / oldGap, x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 });
      press.current.moved = true;
    } else if (press.current.moved || Math.hypot(point.x - press.current.x, point.y - press.current.y) > FAR) {
      press.current.moved = true;
      moving.value = true;
      if (press.current.node) tell("drag", point);
      else tell("pan", { dx: point.x - before.x, dy: point.y - before.y });
    }
    pointers.current.set(event.pointerId, point);
  };
  const up = (/** @type {PointerEvent} */ event) => {
    pointers.current.delete(event.pointerId);
    moving.value = false;
    if (press.current.moved && press.current.node) tell("drop", {});
    else if (!press.current.moved && event.type === "pointerup") tell("pick", pointOf(event));
  };
  const wheel = (/** @type {WheelEvent} */ event) => {
    event.preventDefault();
    const factor = Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : event.ctrlKey ? 0.01 : 0.0016));
    tell("zoom", { factor, ...pointOf(event) });
  };
  useEffect(() => {
    const element = /** @type {HTMLCanvasElement} */ (canvas.current);
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (composing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[event.key];
    if (step) tell("pan", { dx: step[0], dy: step[1] });
    else if (event.key === "+" || event.key === "=") tell("zoom", { factor: 1.3 });
    else if (event.key === "-") tell("zoom", { factor: 1 / 1.3 });
    else if (event.key === "Enter") onOpen(false);
    else if (event.key === "Escape") onEscape();
    else return;
    event.preventDefault();
  };
  useCommands(
    () => [{ id: "fit", name: "Fit the graph into the view", icon: "fit", keys: ["0"], run: () => tell("fit", {}) }],
    [],
  );
  return html`
    <canvas
      ref=${canvas}
      role="img"
      aria-label=${label}
      tabindex="0"
      data-over=${over.value}
      data-moving=${moving.value}
      data-drawn=${drawn.value}
      onPointerDown=${down}
      onPointerMove=${move}
      onPointerUp=${up}
      onPointerCancel=${up}
      onPointerLeave=${() => tell("leave", {})}
      onDblClick=${() => onOpen(true)}
      onKeyDown=${onKey}
    ></canvas>
    <div class="panel zoom">
      <${IconButton} icon="minus" label="Zoom out" onClick=${() => tell("zoom", { factor: 1 / 1.4 })} />
      <${IconButton} icon="fit" label="Fit into the view" onClick=${() => tell("fit", {})} />
      <${IconButton} icon="plus" label="Zoom in" onClick=${() => tell("zoom", { factor: 1.4 })} />
    </div>
  `;
}
