// The properties of a note as a form. A change goes to the file by itself, and touches no other byte.

import { html, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Combo } from "../../parts/combo.js";
import { announce, sentence, toast } from "../../parts/say.js";
import { composing } from "../../parts/commands.js";
import { IconButton, Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { changeHead, editing, head, headAsText, showHead } from "../../state/editing.js";
import { readOfVault, writeOfVault } from "../../state/settings.js";
import { ask, newestOnly } from "../../wire.js";
import { laterWords } from "../../words-later.js";

const FIELDS = ["type", "tags", "aliases", "status", "date", "links", "created", "updated", "title"];
const LISTS = new Set(["tags", "aliases", "links"]);
const DATES = new Set(["date", "created", "updated"]);
const TYPES = ["journal", "decision", "module", "note", "pattern", "bug", "snippet"];
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Suggestions for the values of a property. @param {string} name */
const lookFor = (name) => async (/** @type {string} */ text, /** @type {AbortSignal} */ signal) => {
  if (name === "type")
    return TYPES.filter((type) => type.startsWith(text.toLowerCase())).map((type) => ({ value: type, label: type }));
  if (name !== "tags" && name !== "links" && !text.startsWith("[[")) return [];
  const { data } = await ask("GET", "/suggest", {
    query: {
      q: text.replace(/^#|^\[\[|\]\]$/g, ""),
      kinds: name === "tags" ? "tag" : "note",
      from: editing.peek()?.id,
      limit: 8,
    },
    signal,
  });
  return data.suggestions.map((hit) =>
    name === "tags"
      ? { value: hit.insert, label: hit.label }
      : { value: `[[${hit.insert}]]`, label: hit.label, detail: hit.detail },
  );
};

export function Properties() {
  const values = useSignal(/** @type {Record<string, unknown> | null} */ (null));
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const open = useSignal(readOfVault("properties", true));
  const adding = useSignal(false);
  const form = useRef(/** @type {HTMLElement | null} */ (null));
  const id = editing.value?.id ?? "";
  const headText = head.value;

  const changes = useRef(0); // that are on their way: until the last is saved, what they make is shown
  const read = useRef(newestOnly((abort) => ask("GET", `/notes/${id}/frontmatter`, { signal: abort })));
  const load = () =>
    read.current().then(
      (reply) => {
        if (!reply || changes.current) return;
        values.value = reply.data.frontmatter;
        fault.value = null;
      },
      (error) => {
        if (error.code !== "FRONTMATTER_INVALID") return;
        fault.value = error;
        values.value = null;
        if (!headAsText.peek()) showHead(true);
      },
    );
  useEffect(() => {
    if (!changes.current && (!headAsText.peek() || fault.peek())) void load();
    return () => read.current.stop();
  }, [id, headText]);

  /** @param {{ set?: Record<string, unknown>, delete?: string[] }} change */
  const write = async (change) => {
    const next = { ...values.peek(), ...change.set };
    for (const name of change.delete ?? []) delete next[name];
    values.value = next;
    changes.current += 1;
    try {
      const saved = await changeHead(async (expectedHash) => {
        const { data } = await ask("POST", "/write/frontmatter", {
          body: { noteId: id, ...change, expectedHash, waitMs: 0 },
        });
        return data.changed ? data.hashAfter : null;
      });
      if (saved) announce(laterWords.edit.state.saved);
      else toast("Save or resolve your text first.");
    } catch (error) {
      toast(sentence(error));
    } finally {
      changes.current -= 1;
      if (!changes.current && editing.peek()?.id === id) void load();
    }
  };

  const showForm = () => {
    fault.value = null;
    showHead(false);
  };
  const asForm = html`<button class="quiet" onClick=${showForm}>As a form</button>`;
  if (fault.value)
    return html`<div class="fm">
      <p class="say" role="status">
        <${Icon} name="warn" />
        <span>The properties cannot be read, so they are shown as text. ${sentence(fault.value)}</span>
        ${asForm}
      </p>
    </div>`;
  if (headAsText.value) return html`<div class="fm">${asForm}</div>`;
  const list = Object.entries(values.value ?? {});
  const toggle = () => {
    open.value = !open.peek();
    writeOfVault("properties", open.peek());
  };
  const rest = FIELDS.filter((name) => !(values.value && name in values.value));
  const add = (/** @type {string} */ name) => {
    adding.value = false;
    if (!name || (values.peek() && name in (values.peek() ?? {}))) return;
    values.value = { ...values.peek(), [name]: LISTS.has(name) ? [] : "" };
    requestAnimationFrame(() =>
      /** @type {HTMLElement | null} */ (form.current?.querySelector("dl > div:last-of-type input"))?.focus(),
    );
  };
  return html`<section class="fm" aria-label="Properties" ref=${form}>
    <header>
      <button class="fold" aria-expanded=${open.value} onClick=${toggle}>
        <${Icon} name="right" small />
        <span>Properties</span>
        ${!open.value && list.length > 0 && html`<span class="num">${list.length}</span>`}
      </button>
      ${open.value && head.value && html`<button class="quiet" onClick=${() => showHead(true)}>As text</button>`}
    </header>
    ${
      open.value &&
      html`
        <dl>
          ${list.map(
            ([name, value]) => html`<div key=${name}>
              <dt title=${name}><bdi>${plain(name, 60)}</bdi></dt>
              <dd>
                <${Value}
                  name=${name}
                  value=${value}
                  onChange=${(/** @type {unknown} */ next) => void write({ set: { [name]: next } })}
                />
                <${IconButton}
                  icon="x"
                  small
                  label=${`Remove ${name}`}
                  onClick=${() => (head.peek() ? void write({ delete: [name] }) : (values.value = null))}
                />
              </dd>
            </div>`,
          )}
        </dl>
        ${
          adding.value
            ? html`<div class="add">
              <${Combo}
                label="Name"
                placeholder="Name"
                wide
                look=${async (/** @type {string} */ text) =>
                  rest
                    .filter((name) => name.startsWith(text.toLowerCase()))
                    .map((name) => ({ value: name, label: name }))}
                onTake=${add}
              />
            </div>`
            : html`<button
              class="plus"
              onClick=${() => {
                adding.value = true;
                requestAnimationFrame(() =>
                  /** @type {HTMLElement | null} */ (form.current?.querySelector(".add input"))?.focus(),
                );
              }}
            >
              <${Icon} name="plus" small />
              Add property
            </button>`
        }
      `
    }
  </section>`;
}

/** @param {{ name: string, value: unknown, onChange: (value: unknown) => void }} props */
function Value({ name, value, onChange }) {
  const t = laterWords.edit.properties;
  if (Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null))
    return html`<${Many} name=${name} list=${value} onChange=${onChange} />`;
  if (typeof value === "boolean")
    return html`<input
      type="checkbox"
      aria-label=${t.value(name)}
      checked=${value}
      onChange=${(/** @type {Typed} */ event) => onChange(event.target.checked)}
    />`;
  if (typeof value === "object" && value !== null)
    return html`<button class="nested" onClick=${() => showHead(true)} title="Edit this value as text">
      <code dir="ltr">${plain(JSON.stringify(value), 120)}</code>
    </button>`;
  if (LISTS.has(name) && value !== null && value !== "")
    return html`<${Many} name=${name} list=${[value]} onChange=${onChange} />`;
  const current = value === null || value === undefined ? "" : String(value);
  if (DATE.test(current) || (DATES.has(name) && !current))
    return html`<${Day} name=${name} value=${current} onChange=${onChange} />`;
  const take = (/** @type {string} */ text) => {
    const number = typeof value === "number" && text && Number.isFinite(Number(text));
    if (text !== current) onChange(number ? Number(text) : text);
  };
  return html`<${Combo} label=${t.value(name)} value=${current} wide keep look=${lookFor(name)} onTake=${take} />`;
}

/** @param {{ name: string, value: string, onChange: (value: unknown) => void }} props */
function Day({ name, value, onChange }) {
  const draft = useSignal(/** @type {string | null} */ (null)); // what is typed, until the field is left
  const leave = (/** @type {Typed} */ { target }) => {
    const text = draft.peek();
    const half = target.validity.badInput; // of a date
    draft.value = null;
    if (half) target.value = value;
    if (!half && text !== null && text !== value) onChange(text);
  };
  return html`<input
    type="date"
    aria-label=${laterWords.edit.properties.value(name)}
    value=${draft.value ?? value}
    onInput=${(/** @type {Typed} */ { target }) => (draft.value = target.validity.badInput ? null : target.value)}
    onBlur=${leave}
    onKeyDown=${(/** @type {KeyboardEvent & { target: HTMLInputElement }} */ event) => {
      if (composing(event)) return;
      if (event.key === "Escape" && draft.peek() !== null) {
        event.stopPropagation();
        draft.value = null;
      } else if (event.key === "Enter") event.target.blur();
    }}
  />`;
}

/** @param {{ name: string, list: unknown[], onChange: (value: unknown) => void }} props */
function Many({ name, list: items, onChange }) {
  const list = items.filter((item) => item !== null && item !== ""); // templates leave empty items
  const textOf = (/** @type {unknown} */ item) => plain(String(item ?? ""), 100).replace(/^\[\[(.*)\]\]$/, "$1");
  const add = (/** @type {string} */ text) => {
    const clean =
      name === "tags"
        ? text.replace(/^#+/, "").replace(/\s+/g, "-")
        : name === "links" && !/^\[\[.*\]\]$/.test(text)
          ? `[[${text}]]`
          : text;
    if (clean && !list.includes(clean)) onChange([...list, clean]);
  };
  return html`<span class="pills">
    ${list.map(
      (item, index) => html`<span class="tag" key=${`${index} ${item}`}>
        <bdi>${textOf(item)}</bdi>
        <button
          aria-label=${`Remove ${textOf(item)}`}
          onClick=${() => onChange(list.filter((_, place) => place !== index))}
        >
          <${Icon} name="x" small />
        </button>
      </span>`,
    )}
    <${Combo}
      label=${`Add to ${name}`}
      placeholder=${list.length ? "" : "…"}
      look=${async (/** @type {string} */ text, /** @type {AbortSignal} */ signal) =>
        (await lookFor(name)(text, signal)).filter((hit) => !list.includes(hit.value))}
      onTake=${add}
      onBack=${() => list.length && onChange(list.slice(0, -1))}
    />
  </span>`;
}
