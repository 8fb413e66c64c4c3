// The first line of a dialog: its title, and the button that closes it.

import { html } from "../../vendor/preact.js";
import { words } from "../words.js";
import { IconButton } from "./controls.js";

/** @param {{ title: unknown, onClose: () => void, cut?: boolean }} given `cut`: on one line */
export const Heading = ({ title, onClose, cut = false }) => html`<div class="heading">
  <h1 class=${cut ? "cut" : undefined}>${title}</h1>
  <${IconButton} icon="x" class="end" label=${words.close} type="button" onClick=${onClose} />
</div>`;
