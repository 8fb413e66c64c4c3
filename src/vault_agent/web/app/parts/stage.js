// A canvas that the worker of the graph draws on, in the colours of the theme.

import { useEffect, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { dark } from "../state/settings.js";
import { startWorker } from "../trust.js";
import { palette } from "./shapes.js";

/** @typedef {{ start: number, end: number, top: number, bottom: number }} Margin */
/** @typedef {(act: string, details?: object, moved?: Transferable[]) => void} Tell */

/**
 * Return the canvas, and what tells its worker what a person does.
 * @param {{
 *   margin: (width: number) => Margin,
 *   closest?: number,
 *   ground?: string,
 *   onMessage: (message: any) => void,
 * }} options `margin`: px by the width of the canvas; `ground`: the token of what is behind the picture
 * @returns {{ canvas: { current: HTMLCanvasElement | null }, tell: Tell }}
 */
export function useStage({ margin, closest, ground = "canvas", onMessage }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const worker = useRef(/** @type {Worker | null} */ (null));
  const hear = useRef(onMessage);
  hear.current = onMessage;
  /** @type {Tell} */
  const tell = (act, details = {}, moved = []) => worker.current?.postMessage({ act, ...details }, moved);
  useLayoutEffect(() => {
    const element = /** @type {HTMLCanvasElement} */ (canvas.current);
    worker.current = startWorker(new URL("../workers/graph.js", import.meta.url));
    worker.current.onmessage = ({ data }) => hear.current(data);
    const drawing = element.transferControlToOffscreen();
    tell("start", { canvas: drawing }, [drawing]);
    const tellSize = () => {
      const { clientWidth: width, clientHeight: height } = element;
      tell("size", { width, height, ratio: devicePixelRatio || 1, margin: margin(width), closest });
    };
    tellSize();
    const resized = new ResizeObserver(tellSize);
    resized.observe(element);
    let screen = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    const followScreen = () => {
      tellSize();
      screen = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
      screen.addEventListener("change", followScreen, { once: true });
    };
    screen.addEventListener("change", followScreen, { once: true });
    return () => {
      resized.disconnect();
      screen.removeEventListener("change", followScreen);
      worker.current?.terminate();
      worker.current = null;
    };
  }, []);
  useEffect(() => {
    requestAnimationFrame(() => {
      const colours = palette();
      tell("look", { colours: { ...colours, canvas: colours[ground] } });
    });
  }, [dark.value]);
  return { canvas, tell };
}
