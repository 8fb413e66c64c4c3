// The commands of every view.

import { effect } from "../../../vendor/preact.js";
import { add } from "../../parts/commands.js";
import { sentence, toast } from "../../parts/say.js";
import { go, parseAddress, pathOf } from "../../state/address.js";
import { set, settings } from "../../state/settings.js";
import { hasMemory, mayWrite } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { words } from "../../words.js";
import { context, overlay } from "./frame.js";

const THEMES = /** @type {const} */ (["system", "light", "dark"]);

function nextTheme() {
  const now = THEMES.indexOf(settings.peek().theme);
  set({ theme: THEMES[(now + 1) % THEMES.length] });
  toast(words.top.theme[THEMES[(now + 1) % THEMES.length]]);
}

async function index() {
  try {
    await ask("POST", "/index", { body: {} });
    toast("The job has started.");
  } catch (error) {
    toast(sentence(error));
  }
}

/** Show a menu for what was clicked, if that is a note, or a file or folder of the tree. @param {MouseEvent} event */
function askForMenu(event) {
  const origin =
    event.target instanceof Element
      ? /** @type {HTMLElement | null} */ (event.target.closest("[data-kind][data-path], .row, a[href^='#/notes/']"))
      : null;
  if (!origin || event.shiftKey) return; // with Shift it is the browser's
  const id = origin instanceof HTMLAnchorElement ? parseAddress(origin.hash).note : "";
  const kind = /** @type {"note"} */ (origin.dataset.kind ?? "note");
  if (kind === "note" && !id) return;
  event.preventDefault();
  const box = origin.getBoundingClientRect();
  const byKeys = !event.clientX && !event.clientY;
  const at = byKeys ? box : new DOMRect(event.clientX, event.clientY, 0, 0);
  context.value = { kind, id, path: origin.dataset.path ?? pathOf(id), at, origin };
}

/** Add the commands of every view. Those of a view come later, and stand before them. */
export function addEverywhere() {
  addEventListener("contextmenu", askForMenu);
  add([
    { id: "notes", name: "Show the notes", icon: "notes", run: () => go({ view: "notes" }) },
    { id: "graph", name: "Show the graph", icon: "graph", keys: ["Mod+g"], run: () => go({ view: "graph" }) },
    {
      id: "memory",
      name: "Show what agents got",
      icon: "memory",
      run: () => go({ view: "memory", session: "" }),
      get hidden() {
        return !hasMemory.peek();
      },
    },
    { id: "jobs", name: "Show the jobs", icon: "jobs", run: () => go({ view: "jobs" }) },
    { id: "settings", name: "Show the settings", icon: "gear", run: () => go({ view: "settings" }) },
    {
      id: "today",
      name: "Open today's note",
      icon: "date",
      run: () => void import("./today.js").then(({ openToday }) => openToday()),
    },
    { id: "theme", name: "Change the theme", icon: "sun", run: nextTheme },
    { id: "index", name: "Index the changes now", icon: "jobs", run: () => void index() },
    {
      id: "search",
      name: "Search all notes",
      icon: "search",
      keys: ["Mod+Shift+f"],
      run: () => {
        go({ view: "notes" });
        setTimeout(() => document.getElementById("find")?.focus(), 60);
      },
    },
    { id: "keys", name: "Show all keys", icon: "key", keys: ["?"], run: () => (overlay.value = { name: "keys" }) },
    {
      id: "palette",
      name: "Jump to a note or command",
      keys: ["Mod+k", "Mod+p"],
      run: () => (overlay.value = { name: "palette" }),
      hidden: true,
    },
    {
      id: "switcher",
      name: "Open a note",
      icon: "notes",
      keys: ["Mod+o"],
      run: () => (overlay.value = { name: "palette", only: "notes" }),
    },
    { id: "back", name: "Back", icon: "back", keys: ["Alt+ArrowLeft"], run: () => history.back() },
    {
      id: "forward",
      name: "Forward",
      icon: "right",
      keys: ["Alt+ArrowRight"],
      run: () => history.forward(),
    },
  ]);
  let remove = () => {};
  effect(() => {
    remove();
    remove = mayWrite.value
      ? add([
          {
            id: "new",
            name: "New note",
            icon: "plus",
            keys: ["Alt+n"],
            run: () => (overlay.value = { name: "create" }),
          },
          {
            id: "writes",
            name: "Show or undo the last changes",
            icon: "clock",
            run: () => (overlay.value = { name: "writes" }),
          },
        ])
      : () => {};
  });
}
