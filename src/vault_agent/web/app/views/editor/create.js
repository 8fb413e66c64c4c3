// The dialog of a new note: template, title, folder, and the file that it will be.

import { html, useEffect, useLayoutEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { Asking, FolderField, NameField } from "../../parts/dialog.js";
import { useWork } from "../../parts/reply.js";
import { sentence } from "../../parts/say.js";
import { Icon, Shape } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { address, go } from "../../state/address.js";
import { note } from "../../state/note.js";
import { newKey } from "../../state/files.js";
import { folderOf } from "../../state/query.js";
import { readOfVault, writeOfVault } from "../../state/settings.js";
import { checkNew, makeNote, pathOf, readTemplates } from "../../state/templates.js";
import { ask, newestOnly } from "../../wire.js";
import { closeOverlay, takeTyped } from "../frame/frame.js";
/** @import { Template } from "../../state/templates.js" */

const PAUSE = 150; // ms after a key, when the name is checked
const KINDS = new Set(["decision", "bug", "module", "pattern", "journal", "snippet"]);

/** The folder that has the focus in the tree, or that of the note that is open, or of the last new note. */
function firstFolder() {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement?.closest(".leaf[data-path]"))?.dataset;
  if (focused) return focused.kind === "folder" ? (focused.path ?? "") : folderOf(focused.path ?? "");
  const path = note.peek()?.path;
  if (address.peek().note && path) return folderOf(path);
  return readOfVault("folder", "");
}

/** @param {{ title?: string }} given */
export function Overlay({ title: first = "" }) {
  const at = first.lastIndexOf("/");
  const title = useSignal(first.slice(at + 1).replace(/\.md$/i, ""));
  const folder = useSignal(at >= 0 ? first.slice(0, at) : firstFolder());
  const template = useSignal("");
  const templates = useSignal(/** @type {Template[]} */ ([]));
  const variables = useSignal(/** @type {Record<string, string>} */ ({}));
  const { busy, fault, run } = useWork();
  const checked = useSignal("");
  const key = useRef(newKey());
  const check = useRef(
    newestOnly(
      (abort, /** @type {string} */ path, /** @type {string} */ from, /** @type {Record<string, string>} */ values) =>
        checkNew(path, from, values, abort),
    ),
  );
  const path = pathOf(folder.value, title.value);
  const chosen = templates.value.find((each) => each.name === template.value);
  const named = Boolean(title.value.trim());

  useEffect(
    () =>
      void readTemplates().then(
        (found) => (templates.value = found),
        () => {},
      ),
    [],
  );
  useEffect(() => {
    fault.value = null;
    checked.value = "";
    if (!named) return check.current.stop();
    const missing = chosen?.variables.some((each) => !variables.value[each]);
    const timer = setTimeout(
      () =>
        check.current(path, missing ? "" : template.value, variables.value).then(
          () => (checked.value = path),
          (error) => (fault.value = error),
        ),
      PAUSE,
    );
    return () => clearTimeout(timer);
  }, [path, template.value, variables.value, named]);

  const make = () =>
    run(async () => {
      const made = await makeNote(pathOf(folder.peek(), title.peek()), template.value, variables.value, key.current);
      writeOfVault("folder", folder.value);
      closeOverlay();
      go({ view: "notes", note: made.noteId, edit: "1" });
    });
  useLayoutEffect(() => {
    const ahead = takeTyped();
    title.value += ahead.text;
    if (ahead.entered && ahead.text.trim()) void make();
  }, []);
  const openTaken = async () => {
    const found = await ask("GET", "/resolve", { query: { name: fault.value?.details.path ?? path } }).catch(
      () => null,
    );
    closeOverlay();
    if (found?.data.notes?.[0]) go({ view: "notes", note: found.data.notes[0].noteId });
  };
  const taken = fault.value && (fault.value.code === "NOTE_EXISTS" || fault.value.code === "NAME_COLLISION");
  return html`<${Asking}
    title="New note"
    act="Create"
    ready=${named && !busy.value && !fault.value}
    onAct=${make}
    onClose=${closeOverlay}
  >
    <${NameField}
      label="Title"
      value=${title.value}
      onText=${(/** @type {string} */ text) => (title.value = text)}
      autofocus
      maxlength="200"
      aria-describedby="create-says"
    />
    <${FolderField} folder=${folder} />
    <fieldset class="templates">
      <legend>Template</legend>
      ${[{ name: "", builtIn: true }, ...templates.value].map(
        (each) => html`<label key=${each.name} class="template">
          <input
            type="radio"
            name="template"
            value=${each.name}
            checked=${template.value === each.name}
            onChange=${() => (template.value = each.name)}
          />
          ${KINDS.has(each.name) ? html`<${Shape} type=${each.name} quiet />` : html`<${Icon} name="file" small />`}
          <bdi class="cut">
            ${
              each.name
                ? plain(each.builtIn ? each.name[0].toUpperCase() + each.name.slice(1) : each.name, 60)
                : "Empty note"
            }
          </bdi>
        </label>`,
      )}
    </fieldset>
    ${chosen?.variables.map(
      (each) => html`<${NameField}
        key=${each}
        label=${html`<bdi>${plain(each, 60)}</bdi>`}
        value=${variables.value[each] ?? ""}
        onText=${(/** @type {string} */ text) => (variables.value = { ...variables.peek(), [each]: text })}
      />`,
    )}
    <p id="create-says" class="will" role="status">
      ${
        !named
          ? "Give the note a title."
          : fault.value
            ? html`
              <span class="bad">${taken ? "There is a note of this name." : sentence(fault.value)}</span>
              ${taken && html`<button type="button" class="quiet" onClick=${() => void openTaken()}>Open it</button>`}
            `
            : html`
              Creates <bdi><code>${path}</code></bdi>
              ${checked.value === path && html`<span class="ok"><${Icon} name="check" small /></span>`}
            `
      }
    </p>
  <//>`;
}
