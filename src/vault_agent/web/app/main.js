// Where the page begins.

import { effect, html, render, useEffect } from "../vendor/preact.js";
import { onKey } from "./parts/commands.js";
import { elsewhere, Ghost, Later } from "./parts/lazy.js";
import { Said } from "./parts/say.js";
import { address, arrival } from "./state/address.js";
import { followAddress } from "./state/results.js";
import { start } from "./state/vault.js";
import { addEverywhere } from "./views/frame/everywhere.js";
import { Banner, Gate, Stats, Thumbs, Top, context, overlay } from "./views/frame/frame.js";
import { Notes } from "./views/notes/notes.js";
import { stopped } from "./wire.js";
import { words } from "./words.js";
import "./trust.js"; // before anything else can make the policy

const title = document.title;

/** Views that are loaded when they are first opened. */
const LATER = /** @type {Record<string, () => Promise<Record<string, unknown>>>} */ ({
  graph: () => import("./views/graph/graph.js"),
  memory: () => import("./views/memory/memory.js"),
  jobs: () => import("./views/jobs/jobs.js"),
  settings: () => import("./views/settings/settings.js"),
});
/** A dialog, with the sheet of all dialogs. @param {() => Promise<Record<string, unknown>>} load */
const dialog = (load) => async () => {
  const styled = async () => (await import("./parts/sheet.js")).loadSheet("dialogs.css");
  const [module] = await Promise.all([load(), styled()]);
  return module;
};

const OVERLAYS = /** @type {Record<string, ReturnType<typeof dialog>>} */ ({
  palette: dialog(() => import("./views/frame/palette.js")),
  keys: dialog(() => import("./views/frame/keys.js")),
  create: dialog(() => import("./views/editor/create.js")),
  move: dialog(() => import("./views/files/move.js")),
  delete: dialog(() => import("./views/files/delete.js")),
  file: dialog(() => import("./views/notes/file.js")),
  folder: dialog(() => import("./views/files/folder.js")),
  writes: dialog(() => import("./views/files/writes.js")),
});

const CONTEXT = () => import("./views/frame/context.js");
const [SOON, TRIES] = [50, 40]; // ms

/** Another view took what had the focus away: give it to what is shown now. Return a function that stops it. */
function regain() {
  let left = TRIES;
  const timer = setInterval(() => {
    const lost = document.activeElement === document.body;
    const target = /** @type {HTMLElement | null} */ (
      document.querySelector("main article.read") ?? document.querySelector("main [tabindex='0']")
    );
    if (lost) target?.focus({ preventScroll: true });
    if (!lost || target || !(left -= 1)) clearInterval(timer);
  }, SOON);
  return () => clearInterval(timer);
}

function App() {
  const { view } = address.value;
  useEffect(() => {
    document.title =
      view === "notes" ? title : `${/** @type {Record<string, string>} */ (words.views)[view]} · ${title}`;
  }, [view]);
  useEffect(() => (arrival.peek() === "start" ? undefined : regain()), [view]);
  if (stopped.value) return html`<${Gate} />`;
  return html`
    <a
      class="visually-hidden"
      href="#view"
      onClick=${(/** @type {Event} */ event) => {
        event.preventDefault();
        /** @type {HTMLElement | null} */
        (document.querySelector("main input, main [tabindex='0'], main button, main a"))?.focus();
      }}
    >
      Skip to the view
    </a>
    <${Top} />
    <main class="view" id="view">
      <${Banner} />
      ${
        view === "notes"
          ? html`<${Notes} />`
          : html`<${Later} key=${view} load=${LATER[view]} name="View" waiting=${html`<${Ghost} />`} />`
      }
      ${
        context.value &&
        html`<${Later}
          key=${`${context.value.at.x} ${context.value.at.y}`}
          load=${CONTEXT}
          name="Context"
          props=${context.value}
        />`
      }
    </main>
    <${Stats} />
    <${Thumbs} />
    ${
      overlay.value &&
      html`<${Later}
        key=${overlay.value.name}
        load=${OVERLAYS[overlay.value.name]}
        name="Overlay"
        props=${overlay.value}
      />`
    }
    <${Said} />
  `;
}

elsewhere.tree = () => import("./views/files/tree.js");
elsewhere.start = () => import("./views/notes/start.js");
elsewhere.editor = () => import("./views/editor/editor.js");
addEverywhere();
addEventListener("keydown", onKey);
// Only Tab puts a ring around a whole pane.
addEventListener("keydown", ({ key }) => document.documentElement.toggleAttribute("data-tabbing", key === "Tab"), true);
render(html`<${App} />`, /** @type {Element} */ (document.getElementById("app")));
followAddress();
effect(() => void (address.value.note && import("./state/note.js"))); // it follows the address once loaded
void start();
