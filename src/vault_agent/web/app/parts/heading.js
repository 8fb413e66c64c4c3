// The first line of a dialog: its title, and the button that closes it.

import { html } from "../../vendor/preact.js";
import { words } from "../words.js";
import { Icon } from "./sign.js";

/** @param {{ title: unknown, onClose: () => void, cut?: boolean }} given `cut`: on one line */
export const Heading = ({ title, onClose, cut = false }) => html`<div class="heading">
  <h1 class=${cut ? "cut" : undefined}>${title}</h1>
  <button type="button" class="icon end" aria-label=${words.close} onClick=${onClose}><${Icon} name="x" /></button>
</div>`;
