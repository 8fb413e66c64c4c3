// The search field: results as one types, and operators that become chips.

import { html, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { composing, useCommands } from "../../parts/commands.js";
import { Field, IconButton } from "../../parts/controls.js";
import { address, go } from "../../state/address.js";
import { asWord, split } from "../../state/query.js";
import { busy, chosen, results, searching } from "../../state/results.js";
import { embeds, stats } from "../../state/vault.js";
import { ask, newestOnly } from "../../wire.js";
import { words } from "../../words.js";

const WAIT = 60; // ms after the last key

export function Find() {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const text = useSignal(address.peek().q);
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const sent = useRef(address.peek().q);

  useEffect(() => {
    // Back, a bookmark or a chip changed the query: show it.
    if (address.value.q !== sent.current) {
      sent.current = address.value.q;
      text.value = address.value.q;
    }
  }, [address.value.q]);

  /** @param {boolean} typing */
  const send = (typing) => {
    clearTimeout(timer.current);
    const { rest, found, any } = split(text.peek(), { typing });
    if (any) text.value = rest;
    sent.current = text.peek();
    const now = address.peek();
    const filters = any
      ? {
          type: merged(now.type, found.type),
          tag: merged(now.tag, found.tag),
          path: merged(now.path, found.path),
          project: merged(now.project, found.project),
          after: found.after || now.after,
          before: found.before || now.before,
        }
      : {};
    if (sent.current !== now.q) chosen.value = "";
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
      const before = sent.current;
      send(false);
      const first = results.peek().rows[0];
      if (before !== sent.current || !first || busy.peek()) return;
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
        name: words.commands.search,
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
      (found) => found && (options.value = found),
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
      label=${words.notes.find}
      id="find"
      ref=${input}
      inputmode="search"
      enterkeyhint="search"
      list="completions"
      maxlength="1000"
      value=${text.value}
      placeholder=${words.notes.find}
      onInput=${typed}
      onKeyDown=${keyed}
      onCompositionEnd=${typed}
    >
      <datalist id="completions">
        ${options.value.map((option) => html`<option key=${option} value=${option}></option>`)}
      </datalist>
      ${text.value && html`<${IconButton} icon="x" label=${words.notes.clear} onClick=${clear} />`}
      ${mode && embeds.value && html`<span class="mode" title=${words.notes.modeTitle}>${mode}</span>`}
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
  return values.map((each) => `${before.slice(0, -name.length - 1)}${asWord(name, each)} `);
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
