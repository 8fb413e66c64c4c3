// Lines of one height, of which only those near the view are in the document. Keys walk them.

import { useLayoutEffect, useRef, useSignal } from "../../vendor/preact.js";

/**
 * The box is `scroll`, and `probe` is a hidden line, by which all are measured.
 * @param {{ usual: number, near: number, isReady?: boolean }} options `usual`: px of a line until it is measured;
 *   `near`: lines beyond the view
 */
export function useVirtual({ usual, near, isReady = true }) {
  const scroll = useRef(/** @type {HTMLDivElement | null} */ (null));
  const probe = useRef(/** @type {HTMLElement | null} */ (null));
  const first = useSignal(0);
  const visible = useSignal(12);
  const height = useSignal(usual);
  const measure = () => {
    const box = scroll.current;
    if (!box) return;
    height.value = probe.current?.offsetHeight || usual;
    first.value = Math.floor(box.scrollTop / height.value);
    visible.value = Math.ceil(box.clientHeight / height.value);
  };
  useLayoutEffect(() => {
    if (!isReady) return;
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(/** @type {Element} */ (scroll.current));
    return () => resized.disconnect();
  }, [isReady]);
  /** Bring a line into the view. @param {number} at @param {boolean} [middle] into its middle, unless it is in view */
  const bring = (at, middle = false) => {
    const box = scroll.current;
    if (!box || at < 0) return;
    const [top, room] = [at * height.peek(), box.clientHeight - height.peek()];
    const above = top < box.scrollTop;
    if (!above && top <= box.scrollTop + room) return;
    box.scrollTop = middle ? top - room / 2 : above ? top : top - room;
    measure();
  };
  return {
    scroll,
    probe,
    first,
    height,
    /** The first line after the view. */
    last: first.value + visible.value,
    measure,
    bring,
    /** Bring a line into the view, and give it the focus once it has the only tab stop. @param {number} at */
    focus: (at) => {
      bring(at);
      requestAnimationFrame(() =>
        /** @type {HTMLElement | null | undefined} */ (scroll.current?.querySelector("[tabindex='0']"))?.focus({
          preventScroll: true,
        }),
      );
    },
    /** The lines near the view, and the one with the focus. @param {number} size @param {number} focus */
    drawn: (size, focus) => {
      const from = Math.max(0, first.value - near);
      const lines = [...Array(Math.max(0, Math.min(size, first.value + visible.value + near) - from)).keys()];
      const indices = lines.map((line) => line + from);
      return focus < size && !indices.includes(focus) ? [...indices, focus] : indices;
    },
    /** Where a key leads from a line, or undefined. @param {string} key @param {number} at @param {number} size */
    step: (key, at, size) =>
      ({
        ArrowDown: at + 1,
        ArrowUp: at - 1,
        Home: 0,
        End: size - 1,
        PageDown: at + visible.value - 1,
        PageUp: at - visible.value + 1,
      })[key],
  };
}
