// A field with suggestions, as the combobox pattern has it: typing asks, arrows walk, Enter takes.

import { html, useRef, useSignal } from "../../vendor/preact.js";
import { newestOnly } from "../wire.js";
import { composing } from "./commands.js";

/** @typedef {{ value: string, label: string, detail?: string }} Choice */
let numbers = 0;

/**
 * @param {{
 *   label: string,
 *   value?: string,
 *   placeholder?: string,
 *   wide?: boolean,
 *   look: (text: string, signal: AbortSignal) => Promise<Choice[]>,
 *   onTake: (value: string) => void,
 *   onText?: (text: string) => void,
 *   keep?: boolean,
 *   onBack?: () => void,
 * }} props `keep`: the value stays in the field
 */
export function Combo({
  label,
  value = "",
  placeholder = "",
  wide = false,
  look,
  onTake,
  onText,
  keep = false,
  onBack,
}) {
  const id = useRef("");
  id.current ||= `combo-${++numbers}`;
  const text = useSignal(value);
  const choices = useSignal(/** @type {Choice[]} */ ([]));
  const chosen = useSignal(-1);
  const open = useSignal(false);
  const ask = useRef(newestOnly((abort, /** @type {string} */ query) => look(query, abort)));
  const edited = useRef(false); // a text that is being typed stays, whatever value comes
  if (keep && !edited.current && text.peek() !== value) text.value = value;
  const suggest = (/** @type {string} */ query) =>
    ask.current(query).then(
      (suggestions) => {
        if (!suggestions) return;
        choices.value = suggestions;
        chosen.value = -1; // Enter takes what was typed, whenever these come
        open.value = suggestions.length > 0;
      },
      () => (choices.value = []),
    );
  const onInput = (/** @type {Typed & InputEvent} */ event) => {
    text.value = event.target.value;
    edited.current = true;
    onText?.(text.peek());
    if (!event.isComposing) void suggest(text.peek());
  };
  const shut = () => {
    ask.current.stop();
    open.value = false;
    chosen.value = -1;
  };
  const take = (/** @type {string} */ taken) => {
    shut();
    if (!taken.trim() && !keep) return;
    edited.current = false;
    text.value = keep ? taken : "";
    onTake(taken.trim());
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (composing(event)) return;
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && choices.value.length) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      chosen.value = open.value ? (chosen.value + step + choices.value.length) % choices.value.length : 0;
      open.value = true;
    } else if (event.key === "Enter") {
      if (open.value || !keep) event.preventDefault();
      take(open.value && chosen.value >= 0 ? choices.value[chosen.value].value : text.value);
    } else if (event.key === "Escape" && open.value) {
      event.preventDefault();
      event.stopPropagation();
      shut();
    } else if (event.key === "Escape" && keep && text.peek() !== value) {
      event.stopPropagation();
      edited.current = false;
      text.value = value;
    } else if (event.key === "Backspace" && !text.value) onBack?.();
    else if (event.key === "," && !keep) {
      event.preventDefault();
      take(text.value);
    }
  };
  return html`<span class="combo">
    <input
      type="text"
      role="combobox"
      aria-label=${label}
      aria-expanded=${open.value}
      aria-controls=${id.current}
      aria-autocomplete="list"
      aria-activedescendant=${open.value && chosen.value >= 0 ? `${id.current}-${chosen.value}` : undefined}
      dir="auto"
      autocomplete="off"
      spellcheck=${false}
      maxlength="200"
      placeholder=${placeholder}
      value=${text.value}
      size=${wide ? undefined : Math.max(4, text.value.length + 1)}
      onInput=${onInput}
      onCompositionEnd=${onInput}
      onKeyDown=${onKeyDown}
      onFocus=${() => void suggest(text.peek())}
      onBlur=${() => {
        const last = text.peek();
        shut();
        edited.current = false;
        if (!keep && last.trim()) take(last);
        else if (keep && last !== value) onTake(last.trim());
      }}
    />
    <span class="choices" role="listbox" id=${id.current} aria-label="Results" hidden=${!open.value}>
      ${choices.value.map(
        (choice, index) => html`<span
          class="choice"
          role="option"
          id=${`${id.current}-${index}`}
          key=${choice.value}
          aria-selected=${index === chosen.value}
          onMouseDown=${(/** @type {MouseEvent} */ event) => {
            event.preventDefault();
            take(choice.value);
          }}
        >
          <bdi>${choice.label}</bdi>
          ${choice.detail && html`<small><bdi>${choice.detail}</bdi></small>`}
        </span>`,
      )}
    </span>
  </span>`;
}
