// One session: what it got at each event, why, what has changed since, and what comes next.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { sentence, toast } from "../../parts/say.js";
import { Icon } from "../../parts/sign.js";
import { plain } from "../../parts/text.js";
import { changed } from "../../state/address.js";
import { addNote, loadSession, session } from "../../state/memory.js";
import { identityOf, remembered, vaults } from "../../state/vault.js";
import { later } from "../../later.js";
import { agoWords, fullDate, timeOf } from "../../words.js";
import { overlay } from "../frame/overlay.js";
import { JournalState } from "./journals.js";
import { agentName, Tokens } from "./notes.js";
import { GotNote, LeftOut } from "./notes.js";
import { Refresh } from "./refresh.js";
/** @import { Hit } from "../frame/overlay.js" */

const t = later.memory;

/** @param {{ id: string }} given */
export function Session({ id }) {
  useEffect(() => void loadSession(id), [id, remembered.value]);
  const now = session.value?.sessionId === id ? session.value : null;
  const back = html`<a class="quiet" href=${changed({ view: "memory", session: "" })}>
    <${Icon} name="left" />
    ${t.all}
  </a>`;
  if (!now) return back;
  const open = now.state === "open";
  return html`
    ${back}
    <header>
      <div class="head">
        <h1 dir="auto">${plain(now.title, 160) || t.untitled(agentName(now.agent))}</h1>
        <${Acts} of=${now} onDone=${() => loadSession(id)} />
      </div>
      <p class="facts">
        <span>${agentName(now.agent)}</span>
        ${now.project && html`<bdi>${plain(now.project, 60)}</bdi>`}
        <time class="num" title=${fullDate(now.startedAt)}>${t.began(fullDate(now.startedAt))}</time>
        <span>${open ? t.open : t.ended}</span>
        <${Tokens} of=${now.tokens} most=${now.maxTokens} />
      </p>
    </header>
    <p class="say"><${Icon} name="info" />${t.data}</p>
    ${
      now.journal &&
      html`<div class="card">
        <div class="line"><${JournalState} of=${now.journal} vault=${now.vault} sessionId=${id} /></div>
      </div>`
    }
    ${
      now.pinned.length > 0 &&
      html`<section>
        <h2>${t.next}</h2>
        ${
          now.pinned.length > 0 &&
          html`<ul class="card got-list">
            ${now.pinned.map((each) => html`<${GotNote} key=${keyOf(each)} note=${each} />`)}
          </ul>`
        }
      </section>`
    }
    ${!now.deliveries.length && html`<p class="mute">${t.nothingYet}</p>`}
    ${[...now.deliveries]
      .reverse()
      .map((each, at) => html`<${Delivery} key=${now.deliveries.length - at} of=${each} />`)}
  `;
}

/**
 * What can be done about the notes of a session that goes on.
 * @param {{ of: Wire.SessionRow | Wire.SessionDetail, onDone: () => Promise<unknown> }} given
 */
export function Acts({ of, onDone }) {
  const refreshing = useSignal(false);
  if (of.state !== "open") return null;
  const choose = (/** @type {Hit} */ hit) =>
    void addNote(of.sessionId, hit.vault ?? "", hit.noteId ?? "").then(
      () => (toast(t.added(plain(hit.label, 60))), onDone()),
      (error) => toast(sentence(error)),
    );
  const shared = vaults.value.find((each) => each.role === "global")?.identity;
  const pick = { among: [identityOf(of.vault), shared ?? ""].filter(Boolean), choose };
  const close = () => (refreshing.value = false);
  const applied = () => {
    close();
    toast(t.applied);
    void onDone();
  };
  return html`<span class="acts">
    <button class="quiet" onClick=${() => (overlay.value = { name: "palette", only: "notes", pick })}>
      <${Icon} name="plus" />
      ${t.add}
    </button>
    <button class="quiet" onClick=${() => (refreshing.value = true)}>${t.refresh}</button>
    ${refreshing.value && html`<${Refresh} id=${of.sessionId} onClose=${close} onDone=${applied} />`}
  </span>`;
}

/** @param {{ vault: string, noteId: string }} note */
export const keyOf = (note) => `${note.vault} ${note.noteId}`;

/** @param {{ of: Wire.ShownDelivery }} given */
function Delivery({ of }) {
  const { signals, notes, leftOut } = of;
  const by = /** @type {string[]} */ (
    [
      signals.prompt && t.by.prompt,
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
          ${notes.map((each) => html`<${GotNote} key=${keyOf(each)} note=${each} />`)}
        </ul>`
        : html`<p class="mute">${t.nothing}</p>`
    }
    ${leftOut.length > 0 && html`<${LeftOut} notes=${leftOut} />`}
    ${
      of.text &&
      html`<details class="log">
        <summary>${t.text}</summary>
        <pre class="raw" dir="auto" tabindex="0">${of.text}</pre>
      </details>`
    }
  </section>`;
}
