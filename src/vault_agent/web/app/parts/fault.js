// What went wrong, and what to do.

import { html } from "../../vendor/preact.js";
import { words } from "../words.js";
import { Icon } from "./sign.js";

/** A sentence for an error. @param {any} fault */
export function sentence(fault) {
  if (fault?.code === "NETWORK") return words.faults.network;
  if (fault?.code === "TIMEOUT") return words.faults.timeout;
  return fault?.message || words.faults.unknown;
}

/** @param {{ fault: any, again?: () => void }} given */
export const Trouble = ({ fault, again }) => html`<div class="say bad" role="alert"><${Icon} name="warn" /><span>${sentence(fault)}</span>
  ${again && html`<button class="quiet" onClick=${again}>${words.again}</button>`}</div>`;

/** @param {{ icon: string, title: string, children?: any }} given */
export const Empty = ({ icon, title, children }) => html`<div class="empty"><${Icon} name=${icon} /><h2>${title}</h2>${children}</div>`;
