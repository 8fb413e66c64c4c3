// What is said to the person: toasts, one polite live region, at most every second, and what went wrong.
// They are one module because the first view needs all of it.

import { html, signal } from "../../vendor/preact.js";
import { ask } from "../wire.js";
import { Icon } from "./controls.js";

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
const drop = (id) => void (toasts.value = toasts.peek().filter((message) => message.id !== id));

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
  toast("Copied");
}

export const Said = () => html`
  <div class="visually-hidden" role="status" aria-live="polite">${said.value}</div>
  <div class="toasts" role="region" aria-label="Messages">
    ${toasts.value.map(
      (message) => html`<div class="toast" key=${message.id}>
        <span>${message.text}</span>
        ${
          message.act &&
          html`<button onClick=${() => {
            drop(message.id);
            message.run?.();
          }}>
            ${message.act}
          </button>`
        }
      </div>`,
    )}
  </div>
`;

/** A sentence for an error. @param {unknown} error what was thrown */
export function sentence(error) {
  const { code, message } = /** @type {Partial<Fault>} */ (error ?? {});
  if (code === "NETWORK") return "The server cannot be reached. The page goes on trying.";
  if (code === "TIMEOUT") return "The server did not reply in time.";
  return message || "Something went wrong.";
}

/**
 * Whether an index is missing only because it is being made: the events say when it is complete.
 * @param {Fault | null} fault
 */
const building = (fault) => fault?.code === "INDEX_NOT_FOUND" && Boolean(fault.details?.jobId);

/** Whether the index must be made anew, and nothing makes it yet. @param {Fault | null} fault */
const unusable = (fault) => fault?.code === "INDEX_INCOMPATIBLE" && !fault.details?.jobId;

const rebuild = () =>
  ask("POST", "/reindex", { body: {} }).then(
    () => toast("The job has started."),
    (/** @type {unknown} */ error) => toast(sentence(error)),
  );

/** @param {{ fault: Fault | null, again?: false | (() => void), act?: string }} props `act`: what `again` is called */
export const Trouble = ({ fault, again, act = "Try again" }) =>
  building(fault)
    ? html`<div class="say" role="status">
      <${Icon} name="jobs" />
      <span>The index is being built. The notes appear as soon as it is complete.</span>
    </div>`
    : html`<div class="say bad" role="alert">
      <${Icon} name="warn" />
      <span>${sentence(fault)}</span>
      ${
        unusable(fault)
          ? html`<button class="quiet" onClick=${rebuild}>Rebuild the index</button>`
          : again && html`<button class="quiet" onClick=${again}>${act}</button>`
      }
    </div>`;

/** @param {{ icon: string, title: string, children?: unknown }} props */
export const Empty = ({ icon, title, children }) =>
  html`<div class="empty"><${Icon} name=${icon} /><h2>${title}</h2>${children}</div>`;
