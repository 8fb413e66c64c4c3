// What the page adds to rendered HTML. It makes elements and text, never HTML.

import { calloutLook } from "../../parts/callouts.js";
import { copy } from "../../parts/say.js";
import { address, changed, hrefOf, knowPath } from "../../state/address.js";
import { plain } from "../../parts/text.js";
import { nameOf } from "../../state/query.js";
import { mayWrite } from "../../state/vault.js";
import { laterWords } from "../../words-later.js";
import { vaultInAddress } from "../../wire.js";
import { overlay } from "../frame/frame.js";
import { framePdfs } from "./pdfs.js";
import { tasks } from "./tick.js";

/** An icon of the sprite as an element. @param {string} name */
function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "i");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** @param {string} className @param {string} label @param {string} sign @param {() => void} run */
function button(className, label, sign, run) {
  const made = document.createElement("button");
  made.className = className;
  made.setAttribute("aria-label", label);
  made.title = label;
  made.append(icon(sign));
  made.addEventListener("click", run);
  return made;
}

/**
 * Return a function that stops what goes on.
 * @param {HTMLElement} prose
 * @param {{ id: string, path: string, title: string, hash?: string | null }} note
 */
export function enhance(prose, note) {
  let stopped = false;
  hideTitle(prose, note.title);
  tags(prose);
  footnotes(prose);
  links(prose);
  pictures(prose);
  headings(prose, note);
  callouts(prose);
  remotes(prose);
  files(prose);
  tasks(prose, note);
  tables(prose);
  codes(prose);
  void formulas(prose, () => stopped);
  const stops = [framePdfs(prose), diagrams(prose)];
  return () => {
    stopped = true;
    stops.forEach((stop) => stop());
  };
}

/**
 * The title stands above the text: a first heading that repeats it is not shown.
 * @param {HTMLElement} prose
 * @param {string} text
 */
export function hideTitle(prose, text) {
  const first = /** @type {HTMLElement | null} */ (prose.querySelector(":scope > :is(h1, h2, h3, h4, h5, h6)"));
  if (first?.tagName === "H1" && first.textContent?.trim() === text.trim()) first.hidden = true;
}

/** A tag in the text leads to the notes that have it. @param {HTMLElement} prose */
function tags(prose) {
  for (const tag of /** @type {NodeListOf<HTMLElement>} */ (prose.querySelectorAll("span.tag[data-tag]"))) {
    if (tag.closest("a")) continue;
    const link = document.createElement("a");
    link.className = "tag";
    link.dataset.tag = tag.dataset.tag;
    link.append(...tag.childNodes);
    tag.replaceWith(link);
  }
}

/** The number of a footnote says its text, where the pointer is. @param {HTMLElement} prose */
function footnotes(prose) {
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (prose.querySelectorAll(".footnote-ref > a"))) {
    const text = prose.querySelector(`#${CSS.escape((link.getAttribute("href") ?? "").slice(1))}`)?.textContent ?? "";
    link.title = plain(text.replace(/↩\s*$/, "").trim(), 300);
  }
}

/** A picture of the vault opens large. @param {HTMLElement} prose */
function pictures(prose) {
  for (const picture of /** @type {NodeListOf<HTMLImageElement>} */ (prose.querySelectorAll("img.image[data-path]"))) {
    if (picture.closest("a, .shown-file")) continue;
    const open = document.createElement("button");
    open.className = "enlarge";
    open.setAttribute("aria-label", `Show ${picture.alt || "the picture"} large`);
    picture.replaceWith(open);
    open.append(picture);
    open.addEventListener("click", () => (overlay.value = { name: "file", path: picture.dataset.path ?? "" }));
  }
}

/** Our links become addresses of the page. @param {HTMLElement} prose */
function links(prose) {
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (prose.querySelectorAll("a"))) {
    const { note, anchor, tag, host, path } = link.dataset;
    if (note && path) knowPath(note, path);
    if (note) link.setAttribute("href", changed({ view: "notes", note, at: anchor ?? "" }));
    else if (tag) link.setAttribute("href", hrefOf({ ...address.peek(), view: "notes", tag: [tag], q: "" }));
    else if (host) link.title = `Opens ${plain(host, 100)} in a new tab`;
    else if (link.classList.contains("unresolved")) missing(link);
    else if (link.getAttribute("href")?.startsWith("#n-"))
      link.setAttribute("href", changed({ at: link.getAttribute("href")?.slice(1) }));
  }
}

/** A link to no note offers to make one, where writing is on. @param {HTMLAnchorElement} link */
function missing(link) {
  const name = (link.dataset.target ?? "").replace(/[#|].*$/s, "");
  link.title = mayWrite.peek() && name ? "No such note yet. Create it?" : "No such note yet";
  if (!mayWrite.peek() || !name) return;
  link.setAttribute("role", "button");
  link.tabIndex = 0;
  const create = () => (overlay.value = { name: "create", title: name });
  link.addEventListener("click", create);
  link.addEventListener("keydown", (event) => event.key === "Enter" && create());
}

/** @param {HTMLElement} prose @param {{ id: string, path: string }} note */
function headings(prose, note) {
  for (const heading of prose.querySelectorAll("h1[id], h2[id], h3[id], h4[id], h5[id], h6[id]")) {
    if (heading.closest(".embed")) continue;
    const name = nameOf(note.path);
    const text = (heading.textContent ?? "").trim();
    if (heading.parentElement === prose) heading.prepend(foldButton(prose, heading));
    heading.append(button("anchor", "Copy a link to this heading", "link", () => void copy(`[[${name}#${text}]]`)));
  }
}

/** A button that folds what stands below a heading. @param {HTMLElement} prose @param {Element} heading */
function foldButton(prose, heading) {
  const made = button("fold", "Show or hide what is below this heading", "down", () => {
    heading.toggleAttribute("data-folded");
    showFolds(prose);
  });
  made.setAttribute("aria-expanded", "true");
  return made;
}

/** Hide what is below folded headings, up to the next heading of their level. @param {HTMLElement} prose */
function showFolds(prose) {
  let level = Infinity; // of the heading that hides what follows
  for (const block of prose.children) {
    const own = /^H[1-6]$/.test(block.tagName) ? Number(block.tagName[1]) : Infinity;
    if (own <= level) level = Infinity;
    block.classList.toggle("folded", level < Infinity);
    if (own === Infinity) continue;
    const folded = block.hasAttribute("data-folded");
    block.querySelector(":scope > .fold")?.setAttribute("aria-expanded", String(!folded));
    if (folded && level === Infinity) level = own;
  }
}

/** @param {HTMLElement} prose */
function callouts(prose) {
  for (const callout of /** @type {NodeListOf<HTMLElement>} */ (prose.querySelectorAll(".callout[data-callout]"))) {
    const title = callout.querySelector(":scope > .callout-title");
    const content = /** @type {HTMLElement | null} */ (callout.querySelector(":scope > .callout-content"));
    const text = document.createElement("span"); // one part, which the sign and the arrow stand beside
    text.append(...(title?.childNodes ?? []));
    title?.append(text);
    title?.prepend(icon(calloutLook(callout.dataset.callout)[1]));
    if (title && content && callout.dataset.fold) foldable(title, content, callout.dataset.fold === "open");
  }
}

/** @param {Element} title @param {HTMLElement} content @param {boolean} open */
function foldable(title, content, open) {
  const made = document.createElement("button");
  made.className = "fold";
  made.append(...title.childNodes);
  title.append(made);
  const show = (/** @type {boolean} */ isOpen) => {
    content.hidden = !isOpen;
    made.setAttribute("aria-expanded", String(isOpen));
  };
  made.addEventListener("click", (event) => {
    if (!(/** @type {Element} */ (event.target).closest("a"))) show(Boolean(content.hidden));
  });
  show(open);
}

/** The pictures of the same server that stand right beside one. @param {HTMLElement} place */
function besides(place) {
  const others = [];
  for (let next = place.nextSibling; next; next = next.nextSibling) {
    if (next instanceof HTMLElement && next.matches(".remote") && next.dataset.host === place.dataset.host)
      others.push(next);
    else if (next.nodeName !== "BR" && next.textContent?.trim() !== "") break;
  }
  return others;
}

/** A picture of another server, which the settings allow to load. @param {HTMLElement} place */
function loadPicture(place) {
  const picture = document.createElement("img");
  picture.referrerPolicy = "no-referrer";
  picture.loading = "lazy";
  picture.alt = plain(place.textContent, 300);
  picture.src = place.dataset.url ?? "";
  place.replaceWith(picture);
}

/**
 * What is on another server is asked for only if the settings say so: else its place says where it is.
 * @param {HTMLElement} prose
 */
function remotes(prose) {
  const loads = document.documentElement.dataset.remotePictures === "true" && !vaultInAddress;
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (prose.querySelectorAll(".remote"))) {
    if (!prose.contains(place)) continue; // one of the same host speaks for it
    const { host = "" } = place.dataset;
    if (loads && place.dataset.url?.startsWith("https:")) {
      loadPicture(place);
      continue;
    }
    const all = [place, ...besides(place)];
    const texts = all.map((picture) => plain(picture.textContent, 80));
    const urls = all.flatMap((picture) => picture.dataset.url ?? []).join("\n");
    const name = document.createElement("bdi");
    name.textContent = all[1]
      ? `${all.length} pictures not loaded from ${plain(host, 100)}`
      : laterWords.note.remote(texts[0], plain(host, 100));
    if (all[1]) place.title = texts.filter(Boolean).join("\n");
    place.replaceChildren(icon("image"), name);
    if (urls) place.append(button("icon", "Copy the address", "copy", () => void copy(urls)));
    while (all[1] && place.nextSibling !== all.at(-1)) place.nextSibling?.remove();
    if (all[1]) all.at(-1)?.remove();
  }
  for (const place of prose.querySelectorAll(".missing")) {
    place.prepend(icon("file"));
    /** @type {HTMLElement} */ (place).title = "No such note yet";
  }
}

/** A file is a card. A base or a canvas is shown by the page, others by the browser. @param {HTMLElement} prose */
function files(prose) {
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (prose.querySelectorAll("a.file"))) {
    link.prepend(icon("file"));
    const { path = "" } = link.dataset;
    if (!/\.(base|canvas)$/i.test(path)) continue;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      overlay.value = { name: "file", path };
    });
  }
}

/** What is wider than the text scrolls by itself, and by keys. @param {HTMLElement} prose */
function tables(prose) {
  for (const table of prose.querySelectorAll("table")) {
    const frame = document.createElement("div");
    frame.className = "table";
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "Table");
    table.replaceWith(frame);
    frame.append(table);
  }
}

/** @param {HTMLElement} prose */
function codes(prose) {
  for (const pre of prose.querySelectorAll("pre")) {
    const code = pre.querySelector("code") ?? pre;
    const text = code.textContent ?? "";
    let frame = pre.closest(".code");
    if (!frame) {
      frame = document.createElement("div");
      frame.className = "code";
      pre.replaceWith(frame);
      frame.append(pre);
    }
    const language = /** @type {HTMLElement} */ (frame).dataset.language ?? "";
    const caption = document.createElement("div");
    caption.className = "cap";
    const name = document.createElement("bdi");
    name.textContent = plain(language, 30);
    caption.append(
      name,
      button("icon", "Copy the code", "copy", () => void copy(text)),
    );
    pre.tabIndex = 0;
    pre.dir = "ltr";
    pre.setAttribute("role", "region");
    pre.setAttribute("aria-label", "Code");
    frame.append(caption);
    if (language) void import("./code.js").then(({ colour }) => colour(code, language.toLowerCase())).catch(() => null);
    queries(/** @type {HTMLElement} */ (frame), language);
  }
}

/**
 * What only Obsidian and its plugins show is named, and its source is folded.
 * @param {HTMLElement} frame
 * @param {string} language
 */
function queries(frame, language) {
  const name = laterWords.blocks[/** @type {"base"} */ (language.toLowerCase())];
  if (!name) return;
  const made = document.createElement("details");
  made.className = "query";
  made.classList.toggle("mermaid", language.toLowerCase() === "mermaid");
  const title = document.createElement("summary");
  const text = document.createElement("bdi");
  text.textContent = name;
  title.append(icon(made.classList.contains("mermaid") ? "graph" : "table"), text);
  frame.replaceWith(made);
  made.append(title, frame);
}

/** What draws diagrams, once it was needed. @type {typeof import("./diagrams.js") | null} */
let drawing = null;

/** Diagrams are drawn if the settings say so. Return a function that stops it. @param {HTMLElement} prose */
function diagrams(prose) {
  const blocks = [...prose.querySelectorAll("details.mermaid")];
  if (!blocks.length || document.documentElement.dataset.diagrams !== "true") return () => {};
  const figures = blocks.map((block) => {
    const figure = document.createElement("figure");
    figure.className = "diagram";
    block.replaceWith(figure);
    figure.append(block);
    return figure;
  });
  if (drawing) return drawing.drawDiagrams(figures);
  let stop = () => {};
  let stopped = false;
  import("./diagrams.js").then(
    (loaded) => {
      drawing = loaded;
      if (!stopped) stop = loaded.drawDiagrams(figures);
    },
    () => null, // sources stay
  );
  return () => {
    stopped = true;
    stop();
  };
}

const FORMULA = 5000; // characters
const FORMULA_TIME = 2000; // ms for all of a note

/** TeX becomes MathML, as elements. @param {HTMLElement} prose @param {() => boolean} stopped */
async function formulas(prose, stopped) {
  const places = /** @type {NodeListOf<HTMLElement>} */ (prose.querySelectorAll(".math"));
  if (!places.length) return;
  const loaded = await import("../../../vendor/temml.js").catch(() => null);
  if (!loaded) return; // formulas stay as they are written
  const { render } = loaded;
  const until = performance.now() + FORMULA_TIME;
  for (const place of places) {
    if (stopped() || performance.now() > until) return;
    const tex = place.textContent ?? "";
    if (!tex.trim() || tex.length > FORMULA) continue;
    const made = document.createElement("span");
    try {
      render(tex, made, {
        displayMode: place.dataset.display === "true",
        trust: false,
        maxExpand: 100,
        throwOnError: true,
      });
      place.replaceChildren(...made.childNodes);
      if (place.dataset.display === "true") place.tabIndex = 0;
    } catch {
      place.classList.add("raw"); // not TeX: it stays as it is written
    }
  }
}
