// A view of a base as a table of its notes.

import { html, useSignal } from "../../../vendor/preact.js";
import { Choices } from "../../parts/controls.js";
import { useReply } from "../../parts/reply.js";
import { Ghost } from "../../parts/lazy.js";
import { Trouble } from "../../parts/say.js";
import { plain } from "../../parts/text.js";
import { changed, knowPath } from "../../state/address.js";
import { parseBase } from "../../state/base.js";
import { readText } from "../../state/files.js";
import { nameOf } from "../../state/query.js";
import { ask } from "../../wire.js";
import { closeOverlay } from "../frame/frame.js";
/** @import { BaseView } from "../../state/base.js" */

const MOST = 200; // notes of which the properties are read
const AT_ONCE = 10;

/** @param {{ path: string }} props */
export function Base({ path }) {
  const chosen = useSignal(0);
  const { data, fault } = useReply(async () => {
    const source = await readText(path);
    return { source, views: parseBase(source) };
  }, [path]);
  if (fault.value) return html`<${Trouble} fault=${fault.value} />`;
  if (!data.value) return html`<${Ghost} />`;
  const { source, views } = data.value;
  if (!views)
    return html`<p>This base cannot be read here. Its source:</p>
      <pre class="source" tabindex="0" dir="ltr">${source}</pre>`;
  return html`
    ${
      views.length > 1 &&
      html`<${Choices}
        label="Views"
        value=${chosen.value}
        choices=${views.map(({ name }, index) => ({ value: index, face: plain(name, 60) }))}
        onChoose=${(/** @type {number} */ index) => (chosen.value = index)}
      />`
    }
    <${Table} key=${chosen.value} label=${nameOf(path)} view=${views[chosen.value]} />
  `;
}

/** The notes of a view. @param {BaseView} view @param {AbortSignal} signal */
async function rowsOf(view, signal) {
  const { data } = await ask("GET", "/notes", { query: { ...view.query, sort: "updated", limit: MOST }, signal });
  const rows = [];
  for (let start = 0; start < data.notes.length; start += AT_ONCE) {
    const notes = data.notes.slice(start, start + AT_ONCE).map(async (note) => {
      const properties = await ask("GET", `/notes/${note.noteId}/frontmatter`, { signal }).catch(() => null);
      return { ...note, values: properties?.data.frontmatter ?? {} };
    });
    rows.push(...(await Promise.all(notes)));
  }
  for (const { noteId, path } of rows) knowPath(noteId, path);
  return {
    rows: rows.filter(view.passes).sort(view.order).slice(0, view.limit),
    looked: data.notes.length,
    isCut: data.hasMore,
  };
}

/** @param {{ label: string, view: BaseView }} props */
function Table({ label, view }) {
  const { data, fault } = useReply((signal) => rowsOf(view, signal), [view]);
  if (fault.value) return html`<${Trouble} fault=${fault.value} />`;
  if (!data.value) return html`<${Ghost} />`;
  const { rows, looked, isCut } = data.value;
  return html`
    ${
      view.unread.length > 0 &&
      html`<p class="will">Not read here, and left out: ${plain(view.unread.join(" · "), 500)}</p>`
    }
    ${isCut && html`<p class="will">Only the ${looked} notes that changed last were looked at.</p>`}
    <div class="prose">
      <div class="table base" tabindex="0" role="region" aria-label=${plain(label, 100)}>
        <table>
          <thead>
            <tr>
              ${view.columns.map(({ name }) => html`<th key=${name} scope="col"><bdi>${plain(name, 80)}</bdi></th>`)}
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              (note) => html`<tr key=${note.noteId}>
                ${view.columns.map(({ name, read, isFile }) => {
                  const text = html`<bdi>${cellText(read(note))}</bdi>`;
                  const link = isFile && html`<a href=${changed({ view: "notes", note: note.noteId })}>${text}</a>`;
                  return html`<td key=${name} onClick=${link && closeOverlay}>${link || text}</td>`;
                })}
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </div>
    ${!rows.length && html`<p>No note passes the filters.</p>`}
  `;
}

/** A value as a cell shows it: a link by its text. @param {unknown} value */
const cellText = (value) =>
  plain(
    [value ?? []]
      .flat()
      .map((part) => (part !== null && typeof part === "object" ? JSON.stringify(part) : String(part ?? "")))
      .map((text) => text.replace(/^\[\[(?:[^\]|]*\|)?([^\]]*)\]\]$/, "$1"))
      .join(", "),
    300,
  );
