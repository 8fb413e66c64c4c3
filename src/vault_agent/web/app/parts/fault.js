// What went wrong, and what to do.

import { html } from "../../vendor/preact.js";
import { job } from "../state/vault.js";
import { ask } from "../wire.js";
import { count, words } from "../words.js";
import { toast } from "./say.js";
import { Icon } from "./sign.js";

/** A sentence for an error. @param {unknown} error what was thrown */
export function sentence(error) {
  const { code, message } = /** @type {Partial<Fault>} */ (error ?? {});
  if (code === "NETWORK") return words.faults.network;
  if (code === "TIMEOUT") return words.faults.timeout;
  return message || words.faults.unknown;
}

/**
 * Whether an index is missing only because it is being made: the events say when it is complete.
 * @param {Fault | null} fault
 */
export const building = (fault) => fault?.code === "INDEX_NOT_FOUND" && Boolean(fault.details?.jobId);

/** Whether the index must be made anew, and nothing makes it yet. @param {Fault | null} fault */
const unusable = (fault) => fault?.code === "INDEX_INCOMPATIBLE" && !fault.details?.jobId;

const rebuild = () =>
  ask("POST", "/reindex", { body: {} }).then(
    () => toast(words.jobs.started),
    (/** @type {unknown} */ error) => toast(sentence(error)),
  );

/** @param {{ fault: Fault | null, again?: () => void }} given */
export const Trouble = ({ fault, again }) =>
  building(fault)
    ? html`<${Building} />`
    : html`<div class="say bad" role="alert">
      <${Icon} name="warn" />
      <span>${sentence(fault)}</span>
      ${
        unusable(fault)
          ? html`<button class="quiet" onClick=${rebuild}>${words.jobs.reindex}</button>`
          : again && html`<button class="quiet" onClick=${again}>${words.again}</button>`
      }
    </div>`;

/** The first index is being made: no fault, and nothing to do. */
function Building() {
  const phase = job.value?.finishedAt ? null : job.value?.phases?.findLast((each) => each.done > 0);
  return html`<div class="say" role="status">
    <${Icon} name="jobs" />
    <span>
      ${words.building.text}
      ${
        phase &&
        html`<small class="num">
          ${words.building.sofar(
            words.jobs.phases[/** @type {"scan"} */ (phase.name)] ?? phase.name,
            count(phase.done),
            phase.total ? count(phase.total) : "",
          )}
        </small>`
      }
    </span>
  </div>`;
}

/** @param {{ icon: string, title: string, children?: unknown }} given */
export const Empty = ({ icon, title, children }) =>
  html`<div class="empty"><${Icon} name=${icon} /><h2>${title}</h2>${children}</div>`;
