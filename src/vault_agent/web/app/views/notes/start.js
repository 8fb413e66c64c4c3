// Where a person begins while nothing is open: the start of the vault, starred and recent notes.

import { html } from "../../../vendor/preact.js";
import { useReply } from "../../parts/reply.js";
import { useSheet } from "../../parts/sheet.js";
import { Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { changed } from "../../state/address.js";
import { recent, starred } from "../../state/settings.js";
import { revision } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { Hover, watchLinks } from "./hover.js";
/** @import { Kept } from "../../state/settings.js" */

const SHOWN = 8; // recent notes

const HOMES = ["Home.md", "index.md", "README.md"];

export function Start() {
  const styled = useSheet("files.css");
  const { data } = useReply(
    async () => (await ask("GET", "/notes", { query: { path: HOMES } })).data,
    [revision.value],
  );
  if (!styled) return null;
  const homes = (data.value?.notes ?? []).map(({ noteId, ...note }) => ({ ...note, id: noteId }));
  const first = [...homes, ...starred.value];
  const others = recent.value.filter(({ id }) => !first.some((note) => note.id === id));
  return html`<div class="start" ref=${watchLinks}>
    ${homes.length > 0 && html`<section><h2>Home</h2><${Notes} list=${homes} icon="home" /></section>`}
    ${
      starred.value.length > 0 &&
      html`<section><h2>Starred</h2><${Notes} list=${starred.value} icon="star" /></section>`
    }
    ${
      others.length > 0 &&
      html`<section><h2>Opened last</h2><${Notes} list=${others.slice(0, SHOWN)} icon="notes" /></section>`
    }
  </div><${Hover} />`;
}

/** @param {{ list: Kept[], icon: string }} props */
const Notes = ({ list, icon }) => html`<ul>
  ${list.map(
    ({ id, title, path }) => html`<li key=${id}>
      <a href=${changed({ note: id, at: "" })} data-peek=${id} title=${plain(path, 300)}>
        <${Icon} name=${icon} small />
        <bdi class="cut">${plain(title, 120) || "Untitled"}</bdi>
      </a>
    </li>`,
  )}
</ul>`;
