// What is said to the person: toasts, and one polite live region, at most every second.

import { html, signal } from "../../vendor/preact.js";
import { words } from "../words.js";

/** @typedef {{ id: number, text: string, act?: string, run?: () => void }} Toast */
const toasts = signal(/** @type {Toast[]} */ ([]));
const said = signal("");
let next = 0;
let saidAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

/** Say something to a screen reader. Only the newest within a second is said. @param {string} text */
export function announce(text) {
  clearTimeout(waiting);
  waiting = setTimeout(
    () => {
      saidAt = performance.now();
      said.value = text;
    },
    Math.max(120, saidAt + 1000 - performance.now()),
  );
}

/** Show a short message. @param {string} text @param {string} [act] @param {() => void} [run] */
export function toast(text, act, run) {
  const id = ++next;
  toasts.value = [...toasts.peek().slice(-2), { id, text, act, run }];
  announce(text);
  setTimeout(() => drop(id), act ? 8000 : 4000);
}

/** @param {number} id */
const drop = (id) => void (toasts.value = toasts.peek().filter((each) => each.id !== id));

/** Copy a text, also where the page has no secure context. @param {string} text */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  toast(words.copied);
}

export const Said = () => html`
  <div class="visually-hidden" role="status" aria-live="polite">${said.value}</div>
  <div class="toasts">
    ${toasts.value.map(
      (each) => html`<div class="toast" key=${each.id}>
        <span>${each.text}</span>
        ${
          each.act &&
          html`<button onClick=${() => {
            drop(each.id);
            each.run?.();
          }}>
            ${each.act}
          </button>`
        }
      </div>`,
    )}
  </div>
`;
