// Has diagrams drawn by a sandboxed frame, one after another. The frame is made for the first one, and is
// thrown away when it takes too long for one, or when nothing was asked for a while.

const ADDRESS = new URL("../../diagrams.html", import.meta.url).href;
const LOADING = 20_000; // ms for the frame's script
const PATIENCE = 5_000; // ms for a diagram. The page goes on meanwhile: browsers give the frame its own process
const IDLE = 60_000; // ms until the frame goes
const LARGEST = 4_000_000; // characters of a picture

/**
 * A picture: its size in pixels, what kind of diagram it is and its title.
 * @typedef {{ svg: string, width: number, height: number, kind: string, title: string }} Drawn
 */
/** `silent`: nothing was heard, of the diagram or already of the frame, which did not load. `message`: what the
 * frame said, which nobody has checked. */
export class Undrawn extends Error {
  /** @param {string} message @param {"" | "late" | "unloaded"} [silent] */
  constructor(message, silent = "") {
    super(message);
    this.silent = silent;
  }
}

/** @type {{ element: HTMLIFrameElement, ready: Promise<unknown> } | null} */
let frame = null;
let idle = 0;
let last = 0;
/** @type {Promise<unknown>} */
let turn = Promise.resolve();

/**
 * Wait for a message of the frame.
 * @param {HTMLIFrameElement} element
 * @param {(data: any) => boolean} wanted
 * @param {number} patience
 * @param {"late" | "unloaded"} silent what it is if none comes
 * @returns {Promise<any>}
 */
function heard(element, wanted, patience, silent) {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("message", hear);
    };
    const timer = setTimeout(() => {
      end();
      reject(new Undrawn("", silent));
    }, patience);
    const hear = (/** @type {MessageEvent} */ { source, origin, data }) => {
      if (source !== element.contentWindow || origin !== "null" || !data || !wanted(data)) return;
      end();
      resolve(data);
    };
    addEventListener("message", hear);
  });
}

function opened() {
  if (frame) return frame;
  const element = document.createElement("iframe");
  element.className = "drawing";
  element.setAttribute("sandbox", "allow-scripts");
  element.setAttribute("aria-hidden", "true");
  element.tabIndex = -1;
  element.referrerPolicy = "no-referrer";
  element.src = ADDRESS;
  const ready = heard(element, (data) => data.ready === true, LOADING, "unloaded");
  document.body.append(element);
  return (frame = { element, ready });
}

function close() {
  frame?.element.remove();
  frame = null;
}

/** @param {object} asked @returns {Promise<Drawn>} */
async function answered(asked) {
  const { element, ready } = opened();
  try {
    await ready;
    const id = (last += 1);
    const answer = heard(element, (data) => data.id === id, PATIENCE, "late");
    element.contentWindow?.postMessage({ id, ...asked }, "*"); // its origin has no name
    const { svg, width, height, kind, title, fault } = await answer;
    if (typeof svg !== "string" || svg.length > LARGEST) throw new Undrawn(typeof fault === "string" ? fault : "");
    return { svg, width: Number(width), height: Number(height), kind: String(kind), title: String(title) };
  } catch (error) {
    if (/** @type {Undrawn} */ (error).silent) close();
    throw error;
  }
}

/**
 * Have a diagram drawn, or null if nobody wants it any more when its turn comes. An `Undrawn` says why it was not.
 * @param {() => object | null} wanted what to ask then: the source, a width and a configuration
 * @returns {Promise<Drawn | null>}
 */
export function draw(wanted) {
  const mine = turn.then(() => {
    clearTimeout(idle);
    const asked = wanted();
    return asked && answered(asked);
  });
  turn = mine.catch(() => null).finally(() => (idle = setTimeout(close, IDLE)));
  return mine;
}
