// The row of the note that is open, above a list that does not have it yet.

import { html } from "../../../vendor/preact.js";
import { address } from "../../state/address.js";
import { note } from "../../state/note.js";
import { Row } from "./list.js";

export function Opened() {
  const read = note.value;
  if (read?.id !== address.value.note) return null;
  return html`<div class="opened">
    <${Row}
      row=${{ ...read, text: "", ranges: [], connections: null, heading: null }}
      query=""
      current
      focusable
      onOpen=${() => {}}
    />
  </div>`;
}
