// Small parts of the Memory view.

import { html } from "../../../vendor/preact.js";
import { plain } from "../../parts/text.js";
import { later } from "../../later.js";
import { count } from "../../words.js";

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
