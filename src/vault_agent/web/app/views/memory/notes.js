// Small parts of the Memory view: names, numbers of tokens, and a note that a session got or that was left out.

import { html } from "../../../vendor/preact.js";
import { Icon, Shape, typeName } from "../../parts/sign.js";
import { plain } from "../../parts/text.js";
import { addressIn } from "../../state/address.js";
import { identityOf, vaultName } from "../../state/vault.js";
import { later, percent } from "../../later.js";
import { count, words } from "../../words.js";

const t = later.memory;

/** Why a note was recalled. @param {string[] | undefined} reasons */
function why(reasons) {
  return (reasons ?? []).map((each) => {
    const [, kind, value] = /^(\w+):(.*)$/s.exec(each) ?? [];
    if (kind === "file") return t.why.file(plain(value, 120));
    if (kind === "tag") return t.why.tag(plain(value, 60));
    return t.why[/** @type {"words"} */ (each)] ?? plain(each, 80);
  });
}

/** @param {{ note: Wire.ChosenNote & Partial<Wire.DeliveredNote>, sign?: string, }} given */
export function GotNote({ note, sign }) {
  const identity = identityOf(note.vault);
  const title = plain(note.title, 160) || words.untitled;
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
        ${note.changed && html`<span class="tag warned"><${Icon} name="clock" small />${t.changed}</span>`}
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
            title=${t.parts(percent(note.tag), percent(note.semantic), percent(note.recency))}
          >
            ${percent(note.score)}
          </span>`
    }
  </li>`;
}

/** @param {{ notes: Wire.RecalledNote[] }} given */
export const LeftOut = ({ notes }) => html`<details class="log">
  <summary>${t.leftOut(notes.length)}</summary>
  <ul class="got-list">
    ${notes.map((each) => html`<${GotNote} key=${`${each.vault} ${each.noteId}`} note=${each} />`)}
  </ul>
</details>`;

/** @param {string} agent */
export const agentName = (agent) => /** @type {Record<string, string>} */ (later.agents)[agent] ?? plain(agent, 40);

/** Tokens, of how many there might have been. @param {{ of: number, most: number }} given */
export const Tokens = ({ of, most }) => html`<span class="tokens num" title=${later.memory.tokensTitle}>
  ${later.memory.tokens(count(of), most ? count(most) : "")}
  ${
    most > 0 &&
    html`<span class="bar" aria-hidden="true">
      <i style=${{ inlineSize: `${Math.min(100, (of / most) * 100)}%` }}></i>
    </span>`
  }
</span>`;
