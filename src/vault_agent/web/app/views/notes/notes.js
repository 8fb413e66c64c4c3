// The Notes view: the search field, the list, the note that is read, and what is about it.

import { html, signal, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { composing, Key, useCommands } from "../../parts/commands.js";
import { Empty } from "../../parts/say.js";
import { elsewhere, Ghost, Later } from "../../parts/lazy.js";
import { Field, IconButton } from "../../parts/controls.js";
import { address, go } from "../../state/address.js";
import { recent, set, settings, starred } from "../../state/settings.js";
import { busy, chosen, filtered, results, searching } from "../../state/results.js";
import { counted, embeds, mayWrite, stats } from "../../state/vault.js";
import { overlay } from "../frame/frame.js";
import { Chips, Count, FilesToggle } from "./chips.js";
import { List } from "./list.js";
import { asWord, splitQuery } from "../../state/query.js";
import { ask, newestOnly } from "../../wire.js";
import { words } from "../../words.js";

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
        name: "Show or hide the list",
        icon: "list",
        keys: ["["],
        run: () => set({ list: !settings.peek().list }),
      },
      {
        id: "files",
        name: "Show or hide the tree of files",
        icon: "folder",
        keys: ["f"],
        run: () => set({ files: !settings.peek().files, list: true }),
      },
      { id: "side", name: "Show or hide the side panel", icon: "side", keys: ["]"], run: toggleSide },
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
    <section class="list" aria-label="Notes">
      <h1 class="visually-hidden">Notes</h1>
      <${Find} />
      ${mayWrite.value && begun.value && html`<${Later} load=${UNSAVED} name="Unsaved" />`}
      ${
        counted.value &&
        (tree
          ? html`
            <div class="count">
              <h2>Files</h2>
              ${
                mayWrite.value &&
                html`<${IconButton}
                  icon="plus"
                  label="New folder"
                  onClick=${() => (overlay.value = { name: "folder" })}
                />`
              }
              <${FilesToggle} />
            </div>
            <${Later} load=${elsewhere.tree} name="Tree" />
          `
          : html`<${Chips} /><${Count} /><${List} />`)
      }
      ${begun.value && html`<${Later} load=${EDGE} name="Edge" props=${{ panel: "list", end: true }} />`}
    </section>
    ${(note || begun.value) && html`<${Later} load=${TABS} name="Tabs" />`}
    ${
      note
        ? html`<${Later}
          load=${READ}
          name="Read"
          props=${{ drawer, onSide: toggleSide }}
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
  return html`<section class="read" tabindex="0" aria-label="Note">
    ${
      isFirst &&
      html`<${Empty} icon="notes" title="Nothing is open">
      ${!none && html`<p>Choose a note in the list, or press a key:</p>`}
      <p><${Key} keys="Mod+k" /> Jump to a note or command</p>
      ${!none && html`<p><${Key} keys="j" /> <${Key} keys="k" /> Next note in the list</p>`}
      <p><${Key} keys="?" /> Show all keys</p>
    <//>`
    }
    ${begun.value && html`<${Later} load=${elsewhere.start} name="Start" />`}
  </section>`;
}

const WAIT = 60; // ms after the last key

export function Find() {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const text = useSignal(address.peek().q);
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const lastQuery = useRef(address.peek().q);

  useEffect(() => {
    // Back, a bookmark or a chip changed the query: show it.
    if (address.value.q !== lastQuery.current) {
      lastQuery.current = address.value.q;
      text.value = address.value.q;
    }
  }, [address.value.q]);

  /** @param {boolean} typing */
  const send = (typing) => {
    clearTimeout(timer.current);
    const { rest, filters: operators, any } = splitQuery(text.peek(), { typing });
    if (any) text.value = rest;
    lastQuery.current = text.peek();
    const now = address.peek();
    const filters = any
      ? {
          type: merged(now.type, operators.type),
          tag: merged(now.tag, operators.tag),
          path: merged(now.path, operators.path),
          project: merged(now.project, operators.project),
          after: operators.after || now.after,
          before: operators.before || now.before,
        }
      : {};
    if (lastQuery.current !== now.q) chosen.value = "";
    go({ q: text.peek(), ...filters }, { replace: !any });
  };
  /** @param {Typed & InputEvent} event */
  const typed = (event) => {
    text.value = event.target.value;
    clearTimeout(timer.current);
    if (!event.isComposing) timer.current = setTimeout(() => send(true), WAIT);
  };
  /** @param {KeyboardEvent} event */
  const keyed = (event) => {
    if (composing(event)) return;
    if (event.key === "Enter") {
      event.preventDefault();
      const before = lastQuery.current;
      send(false);
      const first = results.peek().rows[0];
      if (before !== lastQuery.current || !first || busy.peek()) return;
      const { id, at, line } = results.peek().rows.find((row) => row.id === chosen.peek()) ?? first;
      go({ note: id, at, line });
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      /** @type {HTMLElement | null} */ (document.querySelector(".rows .row[tabindex='0']"))?.focus();
    } else if (event.key === "Escape" && text.peek()) {
      event.preventDefault();
      clear();
    } else if (event.key === "Backspace" && input.current?.selectionStart === 0 && input.current.selectionEnd === 0) {
      if (unchip(text)) event.preventDefault();
    }
  };
  const clear = () => {
    text.value = "";
    send(false);
    input.current?.focus();
  };
  useCommands(
    () => [
      {
        id: "search",
        name: "Search all notes",
        icon: "search",
        keys: ["Mod+Shift+f", "/"],
        run: () => {
          input.current?.focus();
          input.current?.select();
        },
      },
    ],
    [],
  );

  const complete = useRef(newestOnly(completions));
  const options = useSignal(/** @type {string[]} */ ([]));
  useEffect(() => {
    complete.current(text.value).then(
      (values) => values && (options.value = values),
      () => (options.value = []),
    );
  }, [text.value]);

  const mode = searching.value
    ? /** @type {Record<string, string>} */ (words.notes.mode)[results.value.mode]
    : embeds.value
      ? words.notes.mode.hybrid
      : words.notes.mode.lexical;
  return html`<div class="find" role="search">
    <${Field}
      label="Search notes"
      id="find"
      ref=${input}
      inputmode="search"
      enterkeyhint="search"
      list="completions"
      maxlength="1000"
      value=${text.value}
      placeholder="Search notes"
      onInput=${typed}
      onKeyDown=${keyed}
      onCompositionEnd=${typed}
    >
      <datalist id="completions">
        ${options.value.map((option) => html`<option key=${option} value=${option}></option>`)}
      </datalist>
      ${text.value && html`<${IconButton} icon="x" label="Clear the search" onClick=${clear} />`}
      ${mode && embeds.value && html`<span class="mode" title="How the results were found">${mode}</span>`}
    <//>
  </div>`;
}

const STARTED = /^(.*(?:^|\s)(tag|path|type):)("?)([^\s"]*)$/isu;

/** The text with its last operator completed: each ends in a space, so that it becomes a chip.
 * @param {AbortSignal} signal @param {string} text */
async function completions(signal, text) {
  const [, before, name = "", , value] = STARTED.exec(text) ?? [];
  if (!before) return [];
  const kind = { tag: "tag", path: "folder" }[name.toLowerCase()];
  const values = kind
    ? (await ask("GET", "/suggest", { query: { q: value, kinds: kind, limit: 8 }, signal })).data.suggestions.map(
        ({ insert }) => insert,
      )
    : (stats.peek()?.types ?? []).flatMap(({ type }) => (type?.startsWith(value) ? type : []));
  return values.map((word) => `${before.slice(0, -name.length - 1)}${asWord(name, word)} `);
}

/** @param {string[]} before @param {string[]} more */
const merged = (before, more) => [...new Set([...before, ...more])];

/** Turn the last chip into text again. @param {{ value: string }} text */
function unchip(text) {
  const now = address.peek();
  for (const name of /** @type {const} */ (["path", "tag", "type"])) {
    const last = now[name].at(-1);
    if (!last) continue;
    text.value = `${asWord(name, last)}${text.value ? ` ${text.value}` : ""}`;
    go({ [name]: now[name].slice(0, -1) });
    return true;
  }
  return false;
}
