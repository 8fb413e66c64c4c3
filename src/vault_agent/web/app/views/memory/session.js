// A session: what its agent got, what would be recalled now, and what a person adds.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { sentence, toast, Trouble } from "../../parts/say.js";
import { Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { changed } from "../../state/address.js";
import { addNote, difference, loadSession, refreshed, session } from "../../state/memory.js";
import { identityOf, remembered, vaults } from "../../state/vault.js";
import { laterWords } from "../../words-later.js";
import { agoWords, fullDate, timeOf } from "../../words.js";
import { overlay } from "../frame/frame.js";
import { agentName, GotNote, JournalState, LeftOut, Tokens } from "./journals.js";
import { TitledDialog } from "../../parts/dialog.js";
/** @import { Hit } from "../frame/frame.js" */

const t = laterWords.memory;

/** @param {{ id: string }} props */
export function Session({ id }) {
  useEffect(() => void loadSession(id), [id, remembered.value]);
  const detail = session.value?.sessionId === id ? session.value : null;
  const back = html`<a class="quiet" href=${changed({ view: "memory", session: "" })}>
    <${Icon} name="left" />
    All sessions
  </a>`;
  if (!detail) return back;
  const open = detail.state === "open";
  return html`
    ${back}
    <header>
      <div class="head">
        <h1 dir="auto">${plain(detail.title, 160) || t.untitled(agentName(detail.agent))}</h1>
        <${Acts} of=${detail} onDone=${() => loadSession(id)} />
      </div>
      <p class="facts">
        <span>${agentName(detail.agent)}</span>
        ${detail.project && html`<bdi>${plain(detail.project, 60)}</bdi>`}
        <time class="num" title=${fullDate(detail.startedAt)}>since ${fullDate(detail.startedAt)}</time>
        <span>${open ? "Open" : "Ended"}</span>
        <${Tokens} of=${detail.tokens} most=${detail.maxTokens} />
      </p>
    </header>
    <p class="say"><${Icon} name="info" />Notes are data, not instructions. The agent is told so too.</p>
    ${
      detail.journal &&
      html`<div class="card">
        <div class="line"><${JournalState} of=${detail.journal} vault=${detail.vault} sessionId=${id} /></div>
      </div>`
    }
    ${
      detail.pinned.length > 0 &&
      html`<section>
        <h2>Sent with the next prompt</h2>
        ${
          detail.pinned.length > 0 &&
          html`<ul class="card got-list">
            ${detail.pinned.map((note) => html`<${GotNote} key=${keyOf(note)} note=${note} />`)}
          </ul>`
        }
      </section>`
    }
    ${!detail.deliveries.length && html`<p class="mute">This session got nothing yet.</p>`}
    ${[...detail.deliveries]
      .reverse()
      .map((delivery, index) => html`<${Delivery} key=${detail.deliveries.length - index} of=${delivery} />`)}
  `;
}

/**
 * What can be done about the notes of a session that goes on.
 * @param {{ of: Wire.SessionRow | Wire.SessionDetail, onDone: () => Promise<unknown> }} props
 */
export function Acts({ of, onDone }) {
  const refreshing = useSignal(false);
  if (of.state !== "open") return null;
  const choose = (/** @type {Hit} */ hit) =>
    void addNote(of.sessionId, hit.vault ?? "", hit.noteId ?? "").then(
      () => (toast(`${plain(hit.label, 60)} is sent with the next prompt.`), onDone()),
      (error) => toast(sentence(error)),
    );
  const shared = vaults.value.find((vault) => vault.role === "global")?.identity;
  const pick = { among: [identityOf(of.vault), shared ?? ""].filter(Boolean), choose };
  const close = () => (refreshing.value = false);
  const applied = () => {
    close();
    toast("It is sent with the next prompt of the session.");
    void onDone();
  };
  return html`<span class="acts">
    <button class="quiet" onClick=${() => (overlay.value = { name: "palette", only: "notes", pick })}>
      <${Icon} name="plus" />
      Add a note
    </button>
    <button class="quiet" onClick=${() => (refreshing.value = true)}>Refresh</button>
    ${refreshing.value && html`<${Refresh} id=${of.sessionId} onClose=${close} onDone=${applied} />`}
  </span>`;
}

/** @param {{ vault: string, noteId: string }} note */
export const keyOf = (note) => `${note.vault} ${note.noteId}`;

/** @param {{ of: Wire.ShownDelivery }} props */
function Delivery({ of }) {
  const { signals, notes, leftOut } = of;
  const by = /** @type {string[]} */ (
    [
      signals.prompt && "the prompt",
      signals.files.length > 0 && t.by.files(signals.files),
      signals.tags.length > 0 && t.by.tags(signals.tags),
    ].filter(Boolean)
  );
  return html`<section class="delivery">
    <div class="head">
      <h2>${t.events[/** @type {"start"} */ (of.event)] ?? of.event}</h2>
      <time class="mute num" title=${fullDate(of.at)}>${agoWords((Date.now() - timeOf(of.at)) / 1000)}</time>
      <span class="acts"><${Tokens} of=${of.tokens} most=${of.maxTokens} /></span>
    </div>
    ${by.length > 0 && html`<p class="mute cut-words" dir="auto">${t.comparedWith(by)}</p>`}
    ${
      notes.length
        ? html`<ul class="card got-list">
          ${notes.map((note) => html`<${GotNote} key=${keyOf(note)} note=${note} />`)}
        </ul>`
        : html`<p class="mute">No note scored high enough. The agent got nothing.</p>`
    }
    ${leftOut.length > 0 && html`<${LeftOut} notes=${leftOut} />`}
    ${
      of.text &&
      html`<details class="log">
        <summary>Text that the agent got</summary>
        <pre class="raw" dir="auto" tabindex="0">${of.text}</pre>
      </details>`
    }
  </section>`;
}

/** @param {{ id: string, onClose: () => void, onDone: () => void }} props */
export function Refresh({ id, onClose, onDone }) {
  const refresh = useSignal(/** @type {Wire.SessionRefresh | null} */ (null));
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const ask = () =>
    refreshed(id, false).then(
      (data) => ((refresh.value = data), (fault.value = null)),
      (error) => (fault.value = error),
    );
  useEffect(() => void ask(), [id]);
  const apply = () => refreshed(id, true).then(onDone, (error) => (fault.value = error));
  const parts = refresh.value && difference(refresh.value.before, refresh.value.after);
  const same = parts && !parts.come.length && !parts.go.length && !parts.changed.length;
  /** @param {Wire.DeliveredNote[]} notes @param {string} sign @param {string} title */
  const list = (notes, sign, title) =>
    notes.length > 0 &&
    html`<section>
      <h2>${title}</h2>
      <ul class="card got-list">
        ${notes.map((note) => html`<${GotNote} key=${`${note.vault} ${note.noteId}`} note=${note} sign=${sign} />`)}
      </ul>
    </section>`;
  return html`<${TitledDialog} label="Refresh" title="What would be recalled now" className="memory" onClose=${onClose}>
    ${fault.value && html`<${Trouble} fault=${fault.value} again=${ask} />`}
    ${!refresh.value && !fault.value && html`<p role="status">Asking</p>`}
    ${
      parts &&
      html`
        <p>
          ${
            same
              ? "The same notes would be recalled. There is nothing to apply."
              : t.difference(parts.come.length, parts.go.length, parts.changed.length)
          }
        </p>
        ${list(parts.come, "plus", "New")}
        ${list(parts.go, "minus", "No longer")}
        ${list(parts.changed, "edit", "Changed since")}
        ${list(parts.stay, "check", "As before")}
        <div class="head">
          <span class="acts end">
            <button class="quiet" onClick=${onClose}>${same ? "Close" : "Cancel"}</button>
            ${!same && html`<button class="primary" onClick=${apply}>Apply</button>`}
          </span>
        </div>
      `
    }
  <//>`;
}
