// The Notes view: the list, the note that is read, and what is about it.

import { html, signal, useEffect, useSignal } from "../../../vendor/preact.js";
import { Key, useCommands } from "../../parts/commands.js";
import { Empty } from "../../parts/say.js";
import { elsewhere, Ghost, Later } from "../../parts/later.js";
import { IconButton } from "../../parts/controls.js";
import { address } from "../../state/address.js";
import { recent, set, settings, starred } from "../../state/settings.js";
import { filtered, results, searching } from "../../state/results.js";
import { counted, mayWrite } from "../../state/vault.js";
import { words } from "../../words.js";
import { overlay } from "../frame/overlay.js";
import { Chips, Count, FilesToggle } from "./chips.js";
import { Find } from "./find.js";
import { List } from "./list.js";

const READ = () => import("./read.js");
const UNSAVED = () => import("./unsaved.js");
const EDGE = () => import("../../parts/edge.js");
const TABS = () => import("./tabs.js");
const AFTER = 1500; // ms after the list
/** Whether the list has been shown for a while: then what is not needed at once is fetched. */
const begun = signal(false);

export function Notes() {
  const { note, edit } = address.value;
  const writes = Boolean(edit && note && mayWrite.value);
  const { side, list, files, listWidth, sideWidth } = settings.value;
  const tree = files && !searching.value && !filtered.value; // what is sought is a list
  const drawer = useSignal(false);
  const listed = Boolean(results.value.key);
  useEffect(() => void (drawer.value = false), [note]);
  useEffect(() => {
    const ready = () => {
      begun.value = true;
      void READ();
    };
    const timer = listed && setTimeout(ready, AFTER);
    return () => void (timer && clearTimeout(timer));
  }, [listed]);
  const toggleSide = () => {
    if (matchMedia("(max-width: 1240px)").matches) drawer.value = !drawer.peek();
    else set({ side: !settings.peek().side });
  };
  useCommands(
    () => [
      {
        id: "list",
        name: words.commands.list,
        icon: "list",
        keys: ["["],
        run: () => set({ list: !settings.peek().list }),
      },
      {
        id: "files",
        name: words.commands.files,
        icon: "folder",
        keys: ["f"],
        run: () => set({ files: !settings.peek().files, list: true }),
      },
      { id: "side", name: words.commands.side, icon: "side", keys: ["]"], run: toggleSide },
    ],
    [],
  );
  return html`<div
    class="notes"
    data-open=${note ? "note" : "list"}
    data-list=${String(list || !note)}
    data-side=${String(side && Boolean(note) && !writes)}
    style=${{
      "--col-list": listWidth ? `${listWidth}px` : undefined,
      "--col-side": sideWidth ? `${sideWidth}px` : undefined,
    }}
  >
    <section class="list" aria-label=${words.notes.title}>
      <h1 class="visually-hidden">${words.notes.title}</h1>
      <${Find} />
      ${mayWrite.value && begun.value && html`<${Later} load=${UNSAVED} name="Unsaved" />`}
      ${
        counted.value &&
        (tree
          ? html`
            <div class="count">
              <h2>${words.notes.files}</h2>
              ${
                mayWrite.value &&
                html`<${IconButton}
                  icon="plus"
                  label=${words.commands.folder}
                  onClick=${() => (overlay.value = { name: "folder" })}
                />`
              }
              <${FilesToggle} />
            </div>
            <${Later} load=${elsewhere.tree} name="Tree" />
          `
          : html`<${Chips} /><${Count} /><${List} />`)
      }
      ${begun.value && html`<${Later} load=${EDGE} name="Edge" given=${{ panel: "list", end: true }} />`}
    </section>
    ${(note || begun.value) && html`<${Later} load=${TABS} name="Tabs" />`}
    ${
      note
        ? html`<${Later}
          load=${READ}
          name="Read"
          given=${{ drawer, onSide: toggleSide }}
          waiting=${html`<section class="read"><${Ghost} /></section>`}
        />`
        : html`<${Nothing} />`
    }
  </div>`;
}

/** What stands where a note would. */
function Nothing() {
  const none = results.value.key && !results.value.rows.length && !searching.value && !filtered.value;
  const isFirst = !recent.value.length && !starred.value.length;
  return html`<section class="read" tabindex="0" aria-label=${words.note.label}>
    ${
      isFirst &&
      html`<${Empty} icon="notes" title=${words.note.choose.title}>
      ${!none && html`<p>${words.note.choose.text}</p>`}
      <p><${Key} keys="Mod+k" /> ${words.commands.palette}</p>
      ${!none && html`<p><${Key} keys="j" /> <${Key} keys="k" /> ${words.commands.next}</p>`}
      <p><${Key} keys="?" /> ${words.commands.keys}</p>
    <//>`
    }
    ${begun.value && html`<${Later} load=${elsewhere.start} name="Start" />`}
  </section>`;
}
