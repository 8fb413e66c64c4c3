// The palette and the quick switcher: a combobox over notes and commands.

import { html, useEffect, useLayoutEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { commands, composing, Key, keyName } from "../../parts/commands.js";
import { Field, Icon, Shape } from "../../parts/controls.js";
import { Dialog } from "../../parts/dialog.js";
import { announce } from "../../parts/say.js";
import { hitsOf, Marked, plain } from "../../parts/text.js";
import { go } from "../../state/address.js";
import { drafts } from "../../state/drafts.js";
import { recent, starred } from "../../state/settings.js";
import { mayWrite, typed } from "../../state/vault.js";
import { ask, newestOnly } from "../../wire.js";
import { closeOverlay, overlay, takeTyped } from "./frame.js";
/** @import { Kept } from "../../state/settings.js" */
/** @import { Hit, Pick } from "./frame.js" */

const MOST = 20;
/**
 * @typedef {{
 *   id: string,
 *   icon?: string,
 *   type?: string | null,
 *   name: string,
 *   detail: string,
 *   ranges: [number, number][],
 *   keys?: string,
 *   group: string,
 *   run: () => void,
 * }} Option
 */

/** @param {Hit} hit @param {Pick | undefined} pick @returns {Option} */
const asOption = (hit, pick) => ({
  id: hit.noteId ? `note-${hit.vault ?? ""}${hit.noteId}` : `file-${hit.path}`,
  name: plain(hit.label, 160),
  detail: plain(hit.detail, 160),
  icon: hit.kind === "attachment" ? "file" : undefined,
  type: hit.type,
  ranges: hit.match,
  group: "Results",
  run: () => {
    if (pick) pick.choose(hit);
    else if (hit.kind === "attachment") overlay.value = { name: "file", path: hit.path ?? "" };
    else go({ view: "notes", note: hit.noteId ?? "" });
  },
});

/** @param {string} text @returns {Option[]} */
function commandOptions(text) {
  const sought = text.toLocaleLowerCase().trim();
  return commands
    .peek()
    .filter((command) => !command.hidden && command.name.toLocaleLowerCase().includes(sought))
    .map((command) => ({
      id: `command-${command.id}`,
      icon: command.icon ?? "right",
      name: command.name,
      detail: "",
      ranges: hitsOf(command.name, text),
      keys: command.keys?.[0],
      group: "Commands",
      run: command.run,
    }));
}

/** With `pick`, a note is chosen for something else than to be read. @param {{ only?: string, pick?: Pick }} props */
export function Overlay({ only, pick }) {
  const text = useSignal("");
  const entered = useRef(false); // before the results of what was typed are here
  useLayoutEffect(() => {
    const ahead = takeTyped();
    text.value = ahead.text;
    entered.current = ahead.entered;
  }, []);
  const hits = useSignal(/** @type {Option[]} */ ([]));
  const hitsText = useSignal(""); // the text that has these hits
  const at = useSignal(0);
  const leaves = useRef(false); // for the note that is opened
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const look = useRef(
    newestOnly(async (abort, /** @type {string} */ q) => {
      const query = { q, kinds: only || pick ? "note" : "note,attachment", limit: MOST };
      if (!pick)
        return (await ask("GET", "/suggest", { query, signal: abort })).data.suggestions.map((hit) =>
          asOption(hit, pick),
        );
      const replies = await Promise.allSettled(
        pick.among.map(async (vault) => {
          const { data } = await ask("GET", `/vaults/${vault}/suggest`, { whole: true, query, signal: abort });
          return data.suggestions.map((hit) => asOption({ ...hit, vault }, pick));
        }),
      );
      const failures = replies.filter((reply) => reply.status === "rejected");
      if (failures.length && failures.length === replies.length) throw failures[0].reason;
      return replies.flatMap((reply) => (reply.status === "fulfilled" ? reply.value : []));
    }),
  );

  const input = text.value;
  const onlyCommands = input.startsWith(">") && !only;
  const sought = onlyCommands ? input.slice(1) : input.trim();
  useLayoutEffect(() => {
    // at once: an effect would ask a frame later
    at.value = 0;
    const show = (/** @type {Option[]} */ results) => {
      hits.value = results;
      hitsText.value = onlyCommands ? "" : sought;
    };
    if (onlyCommands || !sought) return show([]);
    look.current(sought).then(
      (results) => {
        if (!results) return;
        show(results);
        announce(`${results.length} results`);
      },
      () => show([]),
    );
  }, [sought, onlyCommands]);

  /** @param {Kept[]} notes @param {string} group */
  const noteOptions = (notes, group) =>
    notes.map((note) => ({
      id: `note-${note.id}`,
      type: note.type,
      name: plain(note.title, 160),
      detail: plain(note.path, 160),
      ranges: [],
      group,
      run: () => go({ view: "notes", note: note.id }),
    }));
  const last = () => {
    if (pick) return [];
    const others = recent.value.filter(({ id }) => !starred.value.some((note) => note.id === id));
    return [
      ...drafts.value.map(({ id, title, path }) => ({
        id: `draft-${id}`,
        icon: "clock",
        name: plain(title, 160),
        detail: plain(path, 160),
        ranges: [],
        group: "Text that is not saved",
        run: () => go({ view: "notes", note: id, edit: "1" }),
      })),
      ...noteOptions(starred.value.slice(0, MOST), "Starred"),
      ...noteOptions(others.slice(0, only ? MOST : 6), "Opened last"),
    ];
  };
  /** @type {Option[]} */
  const options = onlyCommands
    ? commandOptions(sought)
    : sought
      ? [...hits.value, ...(only ? [] : commandOptions(sought).slice(0, 5))]
      : [...last(), ...(only ? [] : commandOptions(""))];
  const chosen = Math.min(at.value, options.length - 1);

  useEffect(
    () => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }),
    [chosen, options.length],
  );

  /** @param {Option | undefined} option */
  const run = (option) => {
    leaves.current = Boolean(option?.id.startsWith("note-") && !pick);
    closeOverlay();
    if (option) setTimeout(option.run);
    else if (sought && !onlyCommands && !pick) setTimeout(() => go({ view: "notes", q: sought, note: "" }));
  };
  const isCurrent = onlyCommands || !sought || hitsText.value === sought;
  const runChosen = () => {
    entered.current = !isCurrent || text.peek() !== input; // then when they are shown
    if (!entered.current) run(options[chosen]);
  };
  useLayoutEffect(() => {
    if (entered.current) runChosen();
  });
  const create = () => {
    closeOverlay();
    setTimeout(() => (overlay.value = { name: "create", title: sought }));
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (composing(event)) return;
    if (event.key === "Enter" && event.shiftKey && mayWrite.value && !onlyCommands && !pick) {
      event.preventDefault();
      return create();
    }
    const to = {
      ArrowDown: chosen + 1,
      ArrowUp: chosen - 1 + options.length,
      PageDown: Math.min(chosen + 8, options.length - 1),
      PageUp: Math.max(chosen - 8, 0),
    }[event.key];
    if (to !== undefined && options.length) {
      event.preventDefault();
      at.value = to % options.length;
    } else if (event.key === "Enter") {
      event.preventDefault();
      runChosen();
    }
  };
  let group = "";
  return html`<${Dialog}
    label=${only ? "Open a note" : "Jump to a note or command"}
    className="palette"
    returns=${() => !leaves.current}
    onClose=${closeOverlay}
  >
    <${Field}
      label="Jump to a note or command"
      role="combobox"
      aria-expanded="true"
      aria-controls="options"
      aria-autocomplete="list"
      aria-activedescendant=${options[chosen]?.id}
      maxlength="200"
      placeholder=${only ? "Open a note" : "Notes, or > for commands"}
      value=${text.value}
      onInput=${(/** @type {Typed & InputEvent} */ event) => {
        entered.current = false;
        if (!event.isComposing) text.value = event.target.value;
      }}
      onCompositionEnd=${(/** @type {Typed & InputEvent} */ event) => (text.value = event.target.value)}
      onKeyDown=${onKeyDown}
    />
    <div class="options" id="options" role="listbox" aria-label="Results" ref=${list} tabindex=${-1}>
      ${options.map((option, index) => {
        const head = option.group !== group && option.group !== "Results" ? option.group : "";
        group = option.group;
        return html`
          ${head && html`<div class="group" role="presentation">${head}</div>`}
          <div
            class="option"
            role="option"
            id=${option.id}
            key=${option.id}
            aria-selected=${index === chosen}
            onClick=${() => run(option)}
            onPointerMove=${() => (at.value = index)}
          >
            ${
              option.icon || !typed.value
                ? html`<${Icon} name=${option.icon ?? "file"} />`
                : html`<${Shape} type=${option.type} quiet />`
            }
            <span class="name cut" dir="auto"><${Marked} text=${option.name} ranges=${option.ranges} as="b" /></span>
            <small class="cut"><bdi>${option.detail}</bdi></small>
            ${option.keys && html`<${Key} keys=${option.keys} />`}
          </div>
        `;
      })}
    </div>
    ${
      !options.length &&
      sought &&
      html`<p class="empty" role="status">
        ${onlyCommands ? "No such command." : "Nothing found. Enter searches the text of all notes."}
      </p>`
    }
    <div class="foot" aria-hidden="true">
      <span><kbd>↑</kbd><kbd>↓</kbd>move</span>
      <span><kbd>${keyName("Enter")}</kbd>open</span>
      ${mayWrite.value && html`<span><kbd>${keyName("Shift+Enter")}</kbd>create</span>`}
    </div>
  <//>`;
}
