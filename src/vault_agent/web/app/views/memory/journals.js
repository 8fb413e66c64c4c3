// The journals of sessions, and the parts that sessions have too: an agent's name, and a note that it got.

import { html, useEffect } from "../../../vendor/preact.js";
import { Empty, sentence, toast } from "../../parts/say.js";
import { Icon, Shape, typeName } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { address, addressIn } from "../../state/address.js";
import { journals, loadJournals, makeJournal, reloadShown } from "../../state/memory.js";
import { clock, identityOf, remembered, revision, switchedOn, vaultName } from "../../state/vault.js";
import { laterWords, percent } from "../../words-later.js";
import { agoWords, count, fullDate, timeOf } from "../../words.js";

const t = laterWords.memory;

/** Why a note was recalled. @param {string[] | undefined} reasons */
function why(reasons) {
  return (reasons ?? []).map((reason) => {
    const [, kind, value] = /^(\w+):(.*)$/s.exec(reason) ?? [];
    if (kind === "file") return `is about ${plain(value, 120)}`;
    if (kind === "tag") return `has the tag ${plain(value, 60)}`;
    return t.why[/** @type {"words"} */ (reason)] ?? plain(reason, 80);
  });
}

/** @param {{ note: Wire.ChosenNote & Partial<Wire.DeliveredNote>, sign?: string, }} props */
export function GotNote({ note, sign }) {
  const identity = identityOf(note.vault);
  const title = plain(note.title, 160) || "Untitled";
  const reasons = why(note.reasons);
  const more = [note.matchType && t.match[/** @type {"tag"} */ (note.matchType)], ...reasons].filter(Boolean);
  return html`<li class="line got-note" data-sign=${sign}>
    ${sign && html`<${Icon} name=${sign} />`}
    ${note.type !== undefined && html`<${Shape} type=${note.type} />`}
    <span class="grow">
      <span class="name">
        ${
          identity
            ? html`<a href=${addressIn(identity, note.noteId)}><bdi>${title}</bdi></a>`
            : html`<bdi>${title}</bdi>`
        }
        ${note.changed && html`<span class="tag warned"><${Icon} name="clock" small />changed since</span>`}
      </span>
      <small dir="auto">
        ${note.type && `${typeName(note.type)} · `}
        ${identity && vaultName(identity) && html`<bdi>${plain(vaultName(identity), 40)}</bdi> · `}
        ${more.length ? more.join(" · ") : plain(note.path, 200)}
      </small>
    </span>
    ${
      note.leftOut
        ? html`<span class="mute">
          ${t.leftOutWhy[/** @type {"limit"} */ (note.leftOut)] ?? plain(note.leftOut, 60)}
        </span>`
        : note.score !== undefined &&
          html`<span
            class="score num"
            title=${[
              `Tags and files ${percent(note.tag)}`,
              `text ${percent(note.semantic)}`,
              `recency ${percent(note.recency)}`,
            ].join(", ")}
          >
            ${percent(note.score)}
          </span>`
    }
  </li>`;
}

/** @param {{ notes: Wire.RecalledNote[] }} props */
export const LeftOut = ({ notes }) => html`<details class="log">
  <summary>${notes.length} left out</summary>
  <ul class="got-list">
    ${notes.map((note) => html`<${GotNote} key=${`${note.vault} ${note.noteId}`} note=${note} />`)}
  </ul>
</details>`;

/** @param {string} agent */
export const agentName = (agent) =>
  /** @type {Record<string, string>} */ (laterWords.agents)[agent] ?? plain(agent, 40);

/** Tokens, of how many there might have been. @param {{ of: number, most: number }} props */
export const Tokens = ({
  of,
  most,
}) => html`<span class="tokens num" title="Tokens that the agent got, of those it might have had">
  ${laterWords.memory.tokens(count(of), most ? count(most) : "")}
  ${
    most > 0 &&
    html`<span class="bar" aria-hidden="true">
      <i style=${{ inlineSize: `${Math.min(100, (of / most) * 100)}%` }}></i>
    </span>`
  }
</span>`;

const FIRST = ["incomplete", "pending"];
const SIGNS = /** @type {Record<string, [string, string]>} */ ({
  complete: ["check", "ok"],
  incomplete: ["warn", "warned"],
  pending: ["clock", "mute"],
  skipped: ["minus", "mute"],
});

/** @param {{ project: string }} props */
export function Journals({ project }) {
  useEffect(() => void loadJournals(project), [project, remembered.value, revision.value, clock.value]);
  if (!journals.value) return null;
  if (!journals.value.length)
    return html`<${Empty} icon="notes" title="No journal yet">
      <p>When a session of an agent ends, its journal appears here.</p>
    <//>`;
  const rank = (/** @type {Wire.ShownJournal} */ journal) =>
    FIRST.includes(journal.state) ? FIRST.indexOf(journal.state) : FIRST.length;
  const list = [...journals.value].sort((a, b) => rank(a) - rank(b));
  return html`<ul class="card">
    ${list.map(
      (journal) => html`<li class="line" key=${journal.sessionId}>
        <span class="grow">
          <${JournalState} of=${journal} vault=${journal.vault} sessionId=${journal.sessionId} />
          <small>
            ${agentName(journal.agent)}
            ${journal.project && html` · <bdi>${plain(journal.project, 60)}</bdi>`}
            ${
              journal.endedAt &&
              html`
                ${" · "}
                <time class="num" title=${fullDate(journal.endedAt)}>
                  ${agoWords((Date.now() - timeOf(journal.endedAt)) / 1000)}
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
 * @param {{ of: Wire.ShownJournal, vault: string, sessionId?: string }} props
 */
export function JournalState({ of, vault, sessionId }) {
  const [icon, tone] = SIGNS[of.state] ?? ["clock", "mute"];
  const identity = identityOf(vault);
  const state = laterWords.journals.states[/** @type {"complete"} */ (of.state)];
  const title = plain(of.title, 120);
  /** @param {Promise<unknown>} work @param {string} done */
  const act = (work, done) =>
    void work.then(
      () => {
        toast(done);
        reloadShown(address.peek().project[0] ?? "");
      },
      (error) => toast(sentence(error)),
    );
  const facts = [state, of.reason && (laterWords.journals.reasons[of.reason] ?? plain(of.reason, 120))].filter(Boolean);
  return html`<span class="journal">
    <span class=${`state ${tone}`}><${Icon} name=${icon} /></span>
    <span class="grow">
      ${
        of.noteId && identity
          ? html`<a href=${addressIn(identity, of.noteId)}><bdi>${title || "Open the journal"}</bdi></a>`
          : html`<bdi>${title || "Journal of the session"}</bdi>`
      }
      <small>${facts.join(" · ")}</small>
    </span>
    ${
      switchedOn("journal.enabled") &&
      sessionId &&
      html`<span class="acts">
        ${
          (of.state === "incomplete" || of.reason === "asked") &&
          html`<button class="quiet" onClick=${() => act(makeJournal(sessionId), "The journal is being written.")}>
            Write it
          </button>`
        }
      </span>`
    }
  </span>`;
}
