// The journals of sessions: incomplete ones with Retry first.

import { html, useEffect } from "../../../vendor/preact.js";
import { Empty, sentence, toast } from "../../parts/say.js";
import { Icon } from "../../parts/sign.js";
import { plain } from "../../parts/text.js";
import { addressIn } from "../../state/address.js";
import { journals, loadJournals, loadSession, loadSessions, makeJournal, session } from "../../state/memory.js";
import { clock, identityOf, remembered, revision, switchedOn } from "../../state/vault.js";
import { later } from "../../later.js";
import { agoWords, fullDate, timeOf } from "../../words.js";
import { agentName } from "./notes.js";

const t = later.journals;
const FIRST = ["incomplete", "pending"];
const SIGNS = /** @type {Record<string, [string, string]>} */ ({
  complete: ["check", "ok"],
  incomplete: ["warn", "warned"],
  pending: ["clock", "mute"],
  skipped: ["minus", "mute"],
});

/** @param {{ project: string }} given */
export function Journals({ project }) {
  useEffect(() => void loadJournals(project), [project, remembered.value, revision.value, clock.value]);
  if (!journals.value) return null;
  if (!journals.value.length) return html`<${Empty} icon="notes" title=${t.none.title}><p>${t.none.text}</p><//>`;
  const rank = (/** @type {Wire.ShownJournal} */ each) =>
    FIRST.includes(each.state) ? FIRST.indexOf(each.state) : FIRST.length;
  const list = [...journals.value].sort((a, b) => rank(a) - rank(b));
  return html`<ul class="card">
    ${list.map(
      (each) => html`<li class="line" key=${each.sessionId}>
        <span class="grow">
          <${JournalState} of=${each} vault=${each.vault} sessionId=${each.sessionId} />
          <small>
            ${agentName(each.agent)}
            ${each.project && html` · <bdi>${plain(each.project, 60)}</bdi>`}
            ${
              each.endedAt &&
              html`
                ${" · "}
                <time class="num" title=${fullDate(each.endedAt)}>
                  ${agoWords((Date.now() - timeOf(each.endedAt)) / 1000)}
                </time>
              `
            }
          </small>
        </span>
      </li>`,
    )}
  </ul>`;
}

/**
 * The state of a journal, and what can be done about it.
 * @param {{ of: Wire.ShownJournal, vault: string, sessionId?: string }} given
 */
export function JournalState({ of, vault, sessionId }) {
  const [icon, tone] = SIGNS[of.state] ?? ["clock", "mute"];
  const identity = identityOf(vault);
  const state = t.states[/** @type {"complete"} */ (of.state)];
  const title = plain(of.title, 120);
  /** @param {Promise<unknown>} work @param {string} done */
  const act = (work, done) =>
    void work.then(
      () => {
        toast(done);
        void loadSessions("");
        if (journals.peek()) void loadJournals("");
        const open = session.peek();
        if (open) void loadSession(open.sessionId);
      },
      (error) => toast(sentence(error)),
    );
  const said = [state, of.reason && (t.reasons[of.reason] ?? plain(of.reason, 120))].filter(Boolean);
  return html`<span class="journal">
    <span class=${`state ${tone}`}><${Icon} name=${icon} /></span>
    <span class="grow">
      ${
        of.noteId && identity
          ? html`<a href=${addressIn(identity, of.noteId)}><bdi>${title || t.open}</bdi></a>`
          : html`<bdi>${title || t.unnamed}</bdi>`
      }
      <small>${said.join(" · ")}</small>
    </span>
    ${
      switchedOn("journal.enabled") &&
      sessionId &&
      html`<span class="acts">
        ${
          (of.state === "incomplete" || of.reason === "asked") &&
          html`<button class="quiet" onClick=${() => act(makeJournal(sessionId), t.retrying)}>${t.retry}</button>`
        }
      </span>`
    }
  </span>`;
}
