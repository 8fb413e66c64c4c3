// "Promote to Global": a copy of a project's note in the global vault, and its way back.

import { html, useSignal } from "../../../vendor/preact.js";
import { useCommands } from "../../parts/commands.js";
import { TitledDialog } from "../../parts/dialog.js";
import { useWork } from "../../parts/reply.js";
import { sentence, toast } from "../../parts/say.js";
import { IconButton, Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { addressIn } from "../../state/address.js";
import { reopen } from "../../state/note.js";
import { switchedOn, vaults } from "../../state/vault.js";
import { ask, vaultId } from "../../wire.js";
import { laterWords } from "../../words-later.js";
/** @import { Note } from "../../state/note.js" */

const t = laterWords.promote;

/** Whether notes of this page can be promoted. */
const isPromotable = () =>
  switchedOn("memory.enabled") && vaults.value.find((vault) => vault.identity === vaultId.value)?.role === "project";
const globalVault = () => vaults.value.find((vault) => vault.role === "global")?.identity ?? "";

/** The button of a note, and its dialog. @param {{ read: Note }} props */
export function Promote({ read }) {
  const open = useSignal(false);
  const may = Boolean(isPromotable() && globalVault());
  useCommands(
    () => [{ id: "promote", name: "Promote to Global", icon: "globe", run: () => (open.value = true), hidden: !may }],
    [may],
  );
  if (!may) return null;
  const done = propertyOf(read, "promoted") === "true";
  const name = done ? "Promoted to Global" : "Promote to Global";
  return html`
    <${IconButton} icon="globe" label=${name} data-on=${done} onClick=${() => (open.value = true)} />
    ${open.value && html`<${Promoting} read=${read} done=${done} onClose=${() => (open.value = false)} />`}
  `;
}

/** The button that marks a note as superseded, so that it is not recalled. @param {{ read: Note }} props */
export function Supersede({ read }) {
  const busy = useSignal(false);
  const role = vaults.value.find((vault) => vault.identity === vaultId.value)?.role;
  const may = switchedOn("memory.enabled") && (role === "project" || role === "global");
  const superseded = propertyOf(read, "status").toLowerCase() === "superseded";
  const name = superseded ? "Not superseded any more" : "Mark as superseded";
  const toggle = async () => {
    busy.value = true;
    try {
      await ask("POST", /** @type {const} */ (`/notes/${read.id}/supersede`), { body: { superseded: !superseded } });
      reopen();
      toast(superseded ? "The note is recalled again." : "The note is superseded. It is not recalled any more.");
    } catch (error) {
      toast(sentence(error));
    }
    busy.value = false;
  };
  useCommands(() => [{ id: "supersede", name, icon: "clock", run: toggle, hidden: !may }], [may, superseded, read.id]);
  if (!may) return null;
  return html`
    <${IconButton} icon="clock" label=${name} data-on=${superseded} disabled=${busy.value} onClick=${toggle} />
  `;
}

/** The first value of a property, as text. @param {Note} read @param {string} name */
export const propertyOf = (read, name) => read.properties.find(({ key }) => key === name)?.values[0]?.text ?? "";

/**
 * A note in the global vault that says much the same.
 * @typedef {{ noteId: string, path: string, title: string }} Similar
 */

/** @param {{ read: Note, done: boolean, onClose: () => void }} props */
function Promoting({ read, done, onClose }) {
  const { busy, fault, run } = useWork();
  const path = /** @type {const} */ (`/notes/${read.id}/promote`);
  const title = plain(read.title, 120);
  /** @template Data @param {() => Promise<{ data: Data }>} work @param {(data: Data) => void} then */
  const change = (work, then) =>
    run(async () => {
      const { data } = await work();
      onClose();
      reopen();
      then(data);
    });
  /** @param {object} how */
  const promote = (how) =>
    change(
      () => ask("POST", path, { body: how, patience: 30_000 }),
      ({ global, created }) =>
        toast(
          created ? "The note is in the global vault." : "The note was in the global vault already.",
          "Open the copy",
          () => (location.hash = addressIn(globalVault(), global.noteId)),
        ),
    );
  const undo = () =>
    change(
      () => ask("DELETE", path),
      () => toast("The note is no longer promoted."),
    );
  const code = fault.value?.code;
  /** @type {{ similar?: Similar[], secrets?: { kind: string, line: number }[] }} */
  const { similar = [], secrets = [] } = fault.value?.details ?? {};
  /** @param {string} label @param {() => void} act @param {string} [look] */
  const button = (label, act, look = "quiet") =>
    html`<button class=${look} disabled=${busy.value} onClick=${act}>${label}</button>`;
  return html`<${TitledDialog}
    label="Promote to Global"
    title=${done ? "Promoted to Global" : "Promote to Global"}
    onClose=${onClose}
  >
    <p>${done ? "The global vault has a copy of this note. Undo moves the copy to the trash." : t.text(title)}</p>
    ${
      fault.value &&
      html`<div class="say bad" role="alert">
        <${Icon} name="warn" />
        <span>${t.faults[/** @type {"PROMOTE_SIMILAR"} */ (code)] ?? sentence(fault.value)}</span>
      </div>`
    }
    ${
      similar.length > 0 &&
      html`<ul class="card">
        ${similar.map(
          (note) => html`<li class="line" key=${note.noteId}>
            <${Icon} name="notes" />
            <a class="grow" href=${addressIn(globalVault(), note.noteId)}>
              <bdi>${plain(note.title, 120) || "Untitled"}</bdi>
              <small><bdi>${plain(note.path, 200)}</bdi></small>
            </a>
          </li>`,
        )}
      </ul>`
    }
    ${
      secrets.length > 0 &&
      html`<ul class="card">
        ${secrets.map(({ line, kind }, at) => html`<li class="line" key=${at}>Line ${line}: ${plain(kind, 60)}</li>`)}
      </ul>`
    }
    <div class="head">
      <span class="acts end">
        ${
          done
            ? button("Undo", undo)
            : code === "PROMOTE_SIMILAR"
              ? button("Promote all the same", () => promote({ force: true }), "primary")
              : code !== "PROMOTE_SECRETS" && button("Promote", () => promote({}), "primary")
        }
      </span>
    </div>
  <//>`;
}
