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
import { checkNew, makeNote, newPath, readTemplates } from "../../state/templates.js";
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

/** @param {{ title?: string }} props */
export function Overlay({ title: first = "" }) {
  const slash = first.lastIndexOf("/");
  const title = useSignal(first.slice(slash + 1).replace(/\.md$/i, ""));
  const folder = useSignal(slash >= 0 ? first.slice(0, slash) : firstFolder());
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
  const path = newPath(folder.value, title.value);
  const chosen = templates.value.find((choice) => choice.name === template.value);
  const isNamed = Boolean(title.value.trim());

  useEffect(
    () =>
      void readTemplates().then(
        (list) => (templates.value = list),
        () => {},
      ),
    [],
  );
  useEffect(() => {
    fault.value = null;
    checked.value = "";
    if (!isNamed) return check.current.stop();
    const missing = chosen?.variables.some((name) => !variables.value[name]);
    const timer = setTimeout(
      () =>
        check.current(path, missing ? "" : template.value, variables.value).then(
          () => (checked.value = path),
          (error) => (fault.value = error),
        ),
      PAUSE,
    );
    return () => clearTimeout(timer);
  }, [path, template.value, variables.value, isNamed]);

  const make = () =>
    run(async () => {
      const made = await makeNote(newPath(folder.peek(), title.peek()), template.value, variables.value, key.current);
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
    const reply = await ask("GET", "/resolve", { query: { name: fault.value?.details.path ?? path } }).catch(
      () => null,
    );
    closeOverlay();
    if (reply?.data.notes?.[0]) go({ view: "notes", note: reply.data.notes[0].noteId });
  };
  const taken = fault.value && (fault.value.code === "NOTE_EXISTS" || fault.value.code === "NAME_COLLISION");
  return html`<${Asking}
    title="New note"
    act="Create"
    ready=${isNamed && !busy.value && !fault.value}
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
        (choice) => html`<label key=${choice.name} class="template">
          <input
            type="radio"
            name="template"
            value=${choice.name}
            checked=${template.value === choice.name}
            onChange=${() => (template.value = choice.name)}
          />
          ${KINDS.has(choice.name) ? html`<${Shape} type=${choice.name} quiet />` : html`<${Icon} name="file" small />`}
          <bdi class="cut">
            ${
              choice.name
                ? plain(choice.builtIn ? choice.name[0].toUpperCase() + choice.name.slice(1) : choice.name, 60)
                : "Empty note"
            }
          </bdi>
        </label>`,
      )}
    </fieldset>
    ${chosen?.variables.map(
      (name) => html`<${NameField}
        key=${name}
        label=${html`<bdi>${plain(name, 60)}</bdi>`}
        value=${variables.value[name] ?? ""}
        onText=${(/** @type {string} */ text) => (variables.value = { ...variables.peek(), [name]: text })}
      />`,
    )}
    <p id="create-says" class="will" role="status">
      ${
        !isNamed
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
