// Draws the diagrams of a note when they come near the view. Their source stays, folded below the picture.

import { effect, untracked } from "../../../vendor/preact.js";
import { laterWords } from "../../words-later.js";
import { GROUPS, palette } from "../../parts/shapes.js";
import { plain } from "../../parts/text.js";
import { dark } from "../../state/settings.js";

const ADDRESS = new URL("../../../diagrams.html", import.meta.url).href;
const LOADING = 20_000; // ms for the frame's script
const PATIENCE = 5_000; // ms for a diagram. The page goes on meanwhile: browsers give the frame its own process
const IDLE = 60_000; // ms until the frame goes
const LONGEST_PICTURE = 4_000_000; // characters

/**
 * A picture: its size in pixels, what kind of diagram it is and its title.
 * @typedef {{ svg: string, width: number, height: number, kind: string, title: string }} Drawn
 */
/** `silent`: nothing was heard, of the diagram or already of the frame, which did not load. `message`: what the
 * frame said, which nobody has checked. */
class Undrawn extends Error {
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
 * @param {(data: any) => boolean} isWanted
 * @param {number} patience
 * @param {"late" | "unloaded"} silent what it is if none comes
 * @returns {Promise<any>}
 */
function waitFor(element, isWanted, patience, silent) {
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
      if (source !== element.contentWindow || origin !== "null" || !data || !isWanted(data)) return;
      end();
      resolve(data);
    };
    addEventListener("message", hear);
  });
}

function openFrame() {
  if (frame) return frame;
  const element = document.createElement("iframe");
  element.className = "drawing";
  element.setAttribute("sandbox", "allow-scripts");
  element.setAttribute("aria-hidden", "true");
  element.tabIndex = -1;
  element.referrerPolicy = "no-referrer";
  element.src = ADDRESS;
  const ready = waitFor(element, (data) => data.ready === true, LOADING, "unloaded");
  document.body.append(element);
  return (frame = { element, ready });
}

function close() {
  frame?.element.remove();
  frame = null;
}

/** @param {object} request @returns {Promise<Drawn>} */
async function askFrame(request) {
  const { element, ready } = openFrame();
  try {
    await ready;
    const id = (last += 1);
    const answer = waitFor(element, (data) => data.id === id, PATIENCE, "late");
    element.contentWindow?.postMessage({ id, ...request }, "*"); // its origin has no name
    const { svg, width, height, kind, title, fault } = await answer;
    if (typeof svg !== "string" || svg.length > LONGEST_PICTURE)
      throw new Undrawn(typeof fault === "string" ? fault : "");
    return { svg, width: Number(width), height: Number(height), kind: String(kind), title: String(title) };
  } catch (error) {
    if (/** @type {Undrawn} */ (error).silent) close();
    throw error;
  }
}

/**
 * Have a diagram drawn, or null if nobody wants it any more when its turn comes. An `Undrawn` says why it was not.
 * @param {() => object | null} makeRequest what to ask then: the source, a width and a configuration
 * @returns {Promise<Drawn | null>}
 */
function draw(makeRequest) {
  const mine = turn.then(() => {
    clearTimeout(idle);
    const request = makeRequest();
    return request && askFrame(request);
  });
  turn = mine.catch(() => null).finally(() => (idle = setTimeout(close, IDLE)));
  return mine;
}

const LARGEST = 20_000; // characters of source
const MOST = 50; // diagrams in a note
const SLOW = 3; // diagrams of a note that are waited for in vain, until no more are tried
const KEPT = 30; // pictures
const LONGEST = 20_000; // pixels of a side
const NARROWEST = 640; // pixels, for what is as wide as its place
const SMALLEST = 0.55; // share of its size: a picture that would be smaller scrolls
const TITLE = 200; // characters of a line with a title
const AHEAD = "600px"; // around the view
const t = laterWords.diagrams;

/** What was drawn last, or why not, by theme, width and source.
 * @type {Map<string, Drawn | string>} */
const kept = new Map();

/** @param {string} key @param {Drawn | string} outcome a picture, or why there is none */
function keep(key, outcome) {
  kept.delete(key);
  kept.set(key, outcome);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value ?? "");
  return outcome;
}

/** What Mermaid is told. It derives all other colours from these. @param {boolean} isDark */
function lookOf(isDark) {
  const colours = palette();
  const { ink, paper, canvas, accent, sans, "ink-3": quiet } = colours;
  const groups = Array.from({ length: GROUPS }, (_, at) => colours[`group-${at}`]);
  const numbered = (/** @type {string} */ word, first = 0) =>
    Object.fromEntries(groups.map((colour, at) => [`${word}${at + first}`, colour]));
  return {
    theme: "base",
    themeVariables: {
      darkMode: isDark,
      background: paper,
      fontFamily: sans,
      primaryColor: canvas,
      primaryTextColor: ink,
      primaryBorderColor: accent,
      lineColor: quiet,
      textColor: ink,
      ...numbered("pie", 1),
      ...numbered("cScale"),
      pieOpacity: "1",
      pieSectionTextColor: paper,
      scaleLabelColor: paper,
    },
    fontFamily: sans,
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    htmlLabels: false,
    deterministicIds: true,
    maxTextSize: LARGEST,
    maxEdges: 500,
    // A diagram may set none of these: they keep it in the page's colours, and within its bounds.
    secure: [
      ...["secure", "securityLevel", "startOnLoad", "suppressErrorRendering", "maxTextSize", "maxEdges", "htmlLabels"],
      ...["deterministicIds", "fontFamily", "theme", "look"],
    ],
  };
}

/** Say in plain words why there is no picture. @param {Undrawn} fault @param {string} source */
function reasonOf({ silent, message }, source) {
  if (silent) return t.silent[silent];
  const first = plain(message.split("\n")[0], 200).replace(/[:,.\s]+$/, "");
  const [, line] = /\b(?:error|unexpected) (?:on|at) line (\d+)/i.exec(first) ?? [];
  // What is never closed is wrong at the end, which Mermaid counts differently.
  const wrong = line && Math.min(Number(line), source.trimEnd().split("\n").length);
  if (wrong) return `This diagram cannot be drawn: line ${wrong} cannot be read`;
  if (/^No diagram type detected/i.test(first))
    return "This diagram cannot be drawn: its first line names no known kind";
  if (/^Left out/.test(first))
    return first.includes("katex")
      ? "This diagram cannot be drawn: it has a formula"
      : "This diagram cannot be drawn: the page has no architecture diagrams";
  if (/^Edge limit exceeded/.test(first)) return "A diagram that is too large to be drawn";
  return first ? `This diagram cannot be drawn: ${first}` : "This diagram cannot be drawn";
}

/** The title that a source gives its diagram. @param {string} source of others: what is tried is one short line */
function titleIn(source) {
  for (const line of source.split("\n")) {
    const start = line.trimStart().slice(0, TITLE);
    const match = /^(?:accTitle *:|(?:pie +(?:showData +)?)?title\b *:?) *([^ :].*)/.exec(start);
    if (match) return match[1];
  }
  return "";
}

/** @param {Drawn} drawn @param {string} source */
function pictureOf({ svg, width, height, kind, title }, source) {
  const picture = document.createElement("img");
  const name = t.kinds[/** @type {"sequence"} */ (kind)] ?? "Diagram";
  const called = plain(title || titleIn(source), 200).replace(/^(["'])(.*)\1$/, "$2");
  picture.alt = called ? `${name}: ${called}` : name;
  picture.width = width;
  picture.height = height;
  picture.style.minInlineSize = `${Math.round(width * SMALLEST)}px`;
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const revoke = () => URL.revokeObjectURL(address);
  picture.addEventListener("load", revoke, { once: true });
  picture.addEventListener("error", revoke, { once: true });
  picture.src = address;
  return picture;
}

/** A block with its source, and the picture above it if there is one. */
class Diagram {
  /** @param {HTMLElement} figure with the source @param {boolean} beyond whether it is one too many */
  constructor(figure, beyond) {
    this.figure = figure;
    this.folded = /** @type {HTMLDetailsElement} */ (figure.querySelector("details"));
    this.source = figure.querySelector("code")?.textContent ?? "";
    this.title = /** @type {HTMLElement} */ (figure.querySelector("summary > bdi"));
    this.frame = document.createElement("div");
    this.refused = beyond
      ? "A diagram that is not drawn: the note has too many"
      : this.source.length > LARGEST
        ? "A diagram that is too large to be drawn"
        : "";
    this.title.textContent = this.refused || "Source";
  }

  get width() {
    return Math.max(NARROWEST, Math.round(this.figure.getBoundingClientRect().width));
  }

  /** @param {HTMLImageElement} picture */
  put(picture) {
    this.frame.replaceChildren(picture);
    if (!this.frame.parentNode) this.figure.prepend(this.frame);
    this.title.textContent = "Source";
    this.reach();
  }

  /** Make a picture that scrolls a place that keys reach. Only what is in the document scrolls. */
  reach() {
    const picture = this.frame.querySelector("img");
    if (!picture || !this.figure.isConnected) return;
    const scrolls = Number.parseInt(picture.style.minInlineSize, 10) > this.figure.clientWidth;
    const region = { tabindex: "0", role: "region", "aria-label": picture.alt };
    for (const [name, value] of Object.entries(region)) {
      if (scrolls) this.frame.setAttribute(name, value);
      else this.frame.removeAttribute(name);
    }
  }

  /** @param {Drawn | string} outcome */
  async show(outcome) {
    if (typeof outcome === "string") {
      this.title.textContent = outcome;
      this.folded.open = !this.frame.firstChild; // a picture of what it was before stays
      this.reach();
      return;
    }
    const picture = pictureOf(outcome, this.source);
    await picture.decode().catch(() => null); // the one before stays until then
    this.put(picture);
  }
}

/** Draw the diagrams of a text when they come near the view. Return a function that stops it.
 * @param {HTMLElement[]} figures */
export function drawDiagrams(figures) {
  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        const diagram = isIntersecting && all.get(target);
        if (!diagram) continue;
        near.unobserve(target);
        seen.add(diagram);
        void show(diagram);
      }
    },
    { rootMargin: AHEAD, scrollMargin: AHEAD }, // the second one for what scrolls in the page
  );
  /** @type {Map<Element, Diagram>} */
  const all = new Map();
  /** @type {Set<Diagram>} */
  const seen = new Set();
  let stopped = false;
  let slow = 0;
  let ended = ""; // why no more are tried

  /** @param {Diagram} diagram */
  async function show(diagram) {
    const { source } = diagram;
    const keyOf = () => JSON.stringify([dark.peek(), diagram.width, source]);
    let key = keyOf();
    const outcome = kept.get(key);
    if (outcome) return diagram.show(keep(key, outcome));
    let theme = dark.peek();
    // After a change of theme it is asked for again. A picture for another width is better than none.
    const isWanted = () => !stopped && diagram.figure.isConnected && theme === dark.peek();
    try {
      const drawn = await draw(() => {
        theme = dark.peek();
        key = keyOf(); // while it waited, its place may have got another width
        if (ended || kept.has(key) || !isWanted()) return null;
        return { source, width: diagram.width, config: lookOf(theme) };
      });
      const fits = !drawn || Math.max(drawn.width, drawn.height) <= LONGEST;
      if (drawn) keep(key, fits ? drawn : "A diagram that is too large to be drawn");
      if (isWanted()) await diagram.show(kept.get(key) ?? ended);
    } catch (error) {
      const fault = /** @type {Undrawn} */ (error);
      const reason = reasonOf(fault, source);
      const unloaded = fault.silent === "unloaded"; // which says nothing of the diagram, so it is not kept
      if (fault.silent) slow += 1;
      if (slow >= SLOW) ended ||= unloaded ? reason : "A diagram that is not drawn: others took too long";
      if (!unloaded) keep(key, reason);
      if (isWanted()) await diagram.show(reason);
    }
  }

  for (const figure of figures) {
    const diagram = new Diagram(figure, all.size >= MOST);
    all.set(figure, diagram);
    if (diagram.refused) continue;
    near.observe(figure);
  }
  const unwatch = effect(() => {
    void dark.value;
    untracked(() => seen.forEach((diagram) => void show(diagram)));
  });
  return () => {
    stopped = true;
    near.disconnect();
    unwatch();
  };
}
