// Text that was not saved, above the list until it is taken up or dropped.

import { html, useEffect } from "../../../vendor/preact.js";
import { IconButton, Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { address, changed } from "../../state/address.js";
import { drafts, dropDraft, readDrafts, takeOverDrafts } from "../../state/drafts.js";
import { vaultId } from "../../wire.js";
import { fullDate } from "../../words.js";

const SHOWN = 3;

export function Unsaved() {
  useEffect(() => {
    if (!vaultId.value) return;
    readDrafts();
    void takeOverDrafts().catch(() => {}); // a browser without databases kept none
  }, [vaultId.value]);
  const { note, edit } = address.value;
  const others = drafts.value.filter(({ id }) => !(edit && id === note)); // its editor says it
  if (!others.length) return null;
  return html`<ul class="unsaved" aria-label="Text that is not saved">
    ${others.slice(0, SHOWN).map(
      ({ id, title, at }) => html`<li key=${id}>
        <a href=${changed({ note: id, at: "", edit: "1" })} title=${fullDate(new Date(at).toISOString())}>
          <${Icon} name="clock" small />
          <span class="cut">Not saved: ${plain(title, 80) || "Untitled"}</span>
        </a>
        <${IconButton} icon="x" small label=${`Drop the unsaved text of ${title}`} onClick=${() => dropDraft(id)} />
      </li>`,
    )}
  </ul>`;
}
