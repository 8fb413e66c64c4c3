// The Jobs view: the running one with its progress, and the history.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { Dialog } from "../../parts/dialog.js";
import { Empty, sentence, toast, Trouble } from "../../parts/say.js";
import { useSheet } from "../../parts/sheet.js";
import { Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { changed, identify } from "../../state/address.js";
import { withoutEnding } from "../../state/query.js";
import { job as newest, revision } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { laterWords } from "../../words-later.js";
import { agoWords, count, duration, fullDate, timeOf } from "../../words.js";
import { eventsOf } from "../../events.js";

const MOST_JOBS = 50; // in the history

/** @param {"index" | "reindex"} kind */
async function begin(kind) {
  try {
    newest.value = (await ask("POST", `/${kind}`, { body: {} })).data.job;
  } catch (error) {
    toast(/** @type {Fault} */ (error).code === "INDEX_BUSY" ? "A job is already running." : sentence(error));
  }
}

export function View() {
  const styled = useSheet("jobs.css");
  const jobs = useSignal(/** @type {Wire.Job[] | null} */ (null));
  const running = useSignal(/** @type {Wire.Job | null} */ (null));
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const load = () =>
    ask("GET", "/jobs").then(
      ({ data }) => {
        jobs.value = data.jobs;
        fault.value = null;
        const live = data.jobs.find((job) => !job.finishedAt);
        if (live && running.peek()?.id !== live.id) running.value = live;
      },
      (error) => (fault.value = error),
    );
  useEffect(() => void load(), [newest.value?.id, newest.value?.state, revision.value]);
  const id = running.value?.id;
  useEffect(() => {
    if (!id) return;
    return follow(id, (state) => {
      running.value = state.finishedAt ? null : state;
      if (state.finishedAt) void load();
    });
  }, [id]);
  if (!styled) return null;
  const past = (jobs.value ?? []).filter((job) => job.finishedAt).slice(0, MOST_JOBS);
  return html`<section class="page" tabindex="0" aria-label="Jobs">
    <div>
      <div class="head">
        <h1>Jobs</h1>
        <span class="acts">
          <button
            class="quiet"
            aria-disabled=${Boolean(running.value)}
            onClick=${() => running.peek() || void begin("reindex")}
          >
            Rebuild the index
          </button>
          <button
            class="primary"
            aria-disabled=${Boolean(running.value)}
            onClick=${() => running.peek() || void begin("index")}
          >
            Index changes
          </button>
        </span>
      </div>
      ${fault.value && html`<${Trouble} fault=${fault.value} again=${load} />`}
      ${running.value && html`<${Running} job=${running.value} />`}
      <section>
        <h2>History</h2>
        ${
          past.length
            ? html`<div class="card">${past.map((job) => html`<${Past} key=${job.id} job=${job} />`)}</div>`
            : jobs.value && html`<${Empty} icon="jobs" title="Nothing has run yet." />`
        }
      </section>
    </div>
  </section>`;
}

/** The word for a name of the server, or the name. @param {Record<string, string>} texts @param {string} name */
const wordFor = (texts, name) => texts[name] ?? name;

/** @param {{ job: Wire.Job }} props */
function Running({ job }) {
  const sure = useSignal(false);
  const cancel = () => {
    sure.value = false;
    ask("DELETE", `/jobs/${job.id}`).catch((error) => toast(sentence(error)));
  };
  return html`<section aria-label="Running now">
    <h2>Running now</h2>
    <div class="card">
      <div class="line">
        <${Icon} name="jobs" />
        <span class="grow">
          <b>${wordFor(laterWords.jobs.kinds, job.kind)}</b>
          <small class="num">
            ${
              [
                job.rate && `${count(Math.round(job.rate))} per second`,
                job.waiting && `waiting for ${job.waiting.address} (${duration(job.waiting.seconds)})`,
                job.etaSeconds && `${duration(job.etaSeconds)} left`,
              ]
                .filter(Boolean)
                .join(" · ") || wordFor(laterWords.jobs.states, job.state)
            }
          </small>
        </span>
        <button class="quiet danger" onClick=${() => (sure.value = true)}>Cancel</button>
      </div>
      <div class="phases">
        ${job.phases.map((phase) => {
          const share = phase.total ? Math.min(1, phase.done / phase.total) : 0;
          const name = wordFor(laterWords.jobs.phases, phase.name);
          return html`<div class="phase" key=${phase.name}>
            <span>${name}</span>
            <span
              class="bar"
              role="progressbar"
              aria-label=${name}
              aria-valuemin="0"
              aria-valuemax=${phase.total ?? undefined}
              aria-valuenow=${phase.done}
            >
              <i style=${{ inlineSize: `${share * 100}%` }}></i>
            </span>
            <span class="num mute">
              ${phase.total === null ? count(phase.done) : `${count(phase.done)} of ${count(phase.total)}`}
            </span>
          </div>`;
        })}
      </div>
      <${Warnings} job=${job} />
    </div>
    ${
      sure.value &&
      html`<${Dialog} label="Cancel" onClose=${() => (sure.value = false)}>
        <div class="boxed">
          <p>Cancel this job? The last complete index still serves.</p>
          <div class="head">
            <span class="acts end">
              <button class="quiet" onClick=${() => (sure.value = false)}>Let it run</button>
              <button class="primary" onClick=${cancel}>Cancel the job</button>
            </span>
          </div>
        </div>
      <//>`
    }
  </section>`;
}

/** Numbers as they are shown, without zeros. @param {Wire.JobSummary} counts */
const formatCounts = (counts) =>
  Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, typeof n === "number" && n > 0 ? count(n) : ""]));

const SIGNS = /** @type {Record<string, [string, string]>} */ ({
  succeeded: ["check", "ok"],
  failed: ["warn", "bad"],
  cancelled: ["x", "mute"],
  interrupted: ["warn", "warned"],
});

/** @param {{ job: Wire.Job }} props */
function Past({ job }) {
  const [icon, tone] = SIGNS[job.state] ?? ["clock", "mute"];
  const took = job.startedAt ? (timeOf(job.finishedAt) - timeOf(job.startedAt)) / 1000 : 0;
  return html`<div>
    <div class="line">
      <span class=${`state ${tone}`}><${Icon} name=${icon} /></span>
      <span class=${job.error ? "grow long" : "grow"}>
        <b>${wordFor(laterWords.jobs.kinds, job.kind)}</b> <span class="mute">
          ${wordFor(laterWords.jobs.triggers, job.trigger)}
        </span>
        <small>
          ${
            job.error
              ? plain(job.error.message)
              : job.summary
                ? laterWords.jobs.summary(formatCounts(job.summary))
                : wordFor(laterWords.jobs.states, job.state)
          }
        </small>
      </span>
      <span class="mute num" title=${fullDate(job.finishedAt)}>
        ${agoWords((Date.now() - timeOf(job.finishedAt)) / 1000)} · took ${duration(took)}
      </span>
    </div>
    <${Warnings} job=${job} />
  </div>`;
}

const WARNINGS = 20; // of a code

/** The file of a warning. A note is opened. @param {{ path: string }} props */
const Place = ({ path }) =>
  withoutEnding(path) === path
    ? html`<bdi>${plain(path, 200)}</bdi>: `
    : html`<a href=${changed({ view: "notes", note: identify(path) })}><bdi>${plain(path, 200)}</bdi></a>: `;

/** Warnings by code, each with its place and what to do. @param {{ job: Wire.Job }} props */
function Warnings({ job }) {
  if (!job.warningCount) return null;
  /** @type {Map<string, Wire.Warning[]>} */
  const codes = new Map();
  for (const warning of job.warnings) codes.set(warning.code, [...(codes.get(warning.code) ?? []), warning]);
  return html`<details class="log">
    <summary>${laterWords.jobs.warnings(job.warningCount)}</summary>
    ${[...codes].map(
      ([code, list]) => html`<div key=${code}>
        <code>${code}</code> <span class="num">${list.length}</span>
        <ul>
          ${list.slice(0, WARNINGS).map(
            (warning, index) => html`<li key=${index}>
              ${warning.details?.path && html`<${Place} path=${String(warning.details.path)} />`}
              ${plain(warning.message, 400)}
            </li>`,
          )}
          ${list.length > WARNINGS && html`<li>${count(list.length - WARNINGS)} more</li>`}
        </ul>
      </div>`,
    )}
  </details>`;
}

/**
 * Call `hear` with each state of a job. Return a function that stops it.
 * @param {string} id
 * @param {(job: Wire.Job) => void} hear
 */
function follow(id, hear) {
  const abort = new AbortController();
  const read = async () => {
    for await (const { type, data } of eventsOf(`/jobs/${id}/events`, null, abort))
      if (type === "job" && !abort.signal.aborted) hear(/** @type {Wire.Job} */ (data));
  };
  read().catch(() => undefined); // the list of jobs says how it ended
  return () => abort.abort();
}
