// Small parts of the Memory view.

import { html } from "../../../vendor/preact.js";
import { plain } from "../../parts/text.js";
import { count, words } from "../../words.js";

/** @param {string} agent */
export const agentName = (agent) => /** @type {Record<string, string>} */ (words.agents)[agent] ?? plain(agent, 40);

/** Tokens, of how many there might have been. @param {{ of: number, most: number }} given */
export const Tokens = ({ of, most }) =>
  html`<span class="tokens num" title=${words.memory.tokensTitle}>${words.memory.tokens(count(of), most ? count(most) : "")}${most > 0 && html`<span class="bar" aria-hidden="true"><i style=${{ inlineSize: `${Math.min(100, (of / most) * 100)}%` }}></i></span>`}</span>`;
