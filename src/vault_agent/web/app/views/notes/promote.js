// "Promote to Global": a copy of a project's note in the global vault, and its way back.

import { html, useSignal } from "../../../vendor/preact.js";
import { useCommands } from "../../parts/commands.js";
import { TitledDialog } from "../../parts/dialog.js";
import { useWork } from "../../parts/reply.js";
import { sentence, toast } from "../../parts/say.js";
import { IconButton } from "../../parts/controls.js";
import { Icon } from "../../parts/sign.js";
import { plain } from "../../parts/text.js";
import { addressIn } from "../../state/address.js";
import { reopen } from "../../state/note.js";
import { switchedOn, vaults } from "../../state/vault.js";
import { ask, vaultId } from "../../wire.js";
import { later } from "../../later.js";
import { words } from "../../words.js";
/** @import { Note } from "../../state/note.js" */

const t = later.promote;

/** Whether notes of this page can be promoted. */
const here = () =>
  switchedOn("memory.enabled") && vaults.value.find((each) => each.identity === vaultId.value)?.role === "project";
const globalVault = () => vaults.value.find((each) => each.role === "global")?.identity ?? "";

/** The button of a note, and its dialog. @param {{ read: Note }} given */
export function Promote({ read }) {
  const open = useSignal(false);
  const may = Boolean(here() && globalVault());
  useCommands(
    () => [{ id: "promote", name: t.title, icon: "globe", run: () => (open.value = true), hidden: !may }],
    [may],
  );
  if (!may) return null;
  const done = propertyOf(read, "promoted") === "true";
  const name = done ? t.done : t.title;
  return html`
    <${IconButton} icon="globe" label=${name} data-on=${done} onClick=${() => (open.value = true)} />
    ${open.value && html`<${Promoting} read=${read} done=${done} onClose=${() => (open.value = false)} />`}
  `;
}

/** The button that marks a note as superseded, so that it is not recalled. @param {{ read: Note }} given */
export function Supersede({ read }) {
  const busy = useSignal(false);
  const role = vaults.value.find((each) => each.identity === vaultId.value)?.role;
  const may = switchedOn("memory.enabled") && (role === "project" || role === "global");
  const is = propertyOf(read, "status").toLowerCase() === "superseded";
  const name = is ? t.restore : t.supersede;
  const toggle = async () => {
    busy.value = true;
    try {
      await ask("POST", /** @type {const} */ (`/notes/${read.id}/supersede`), { body: { superseded: !is } });
      reopen();
      toast(is ? t.current : t.superseded);
    } catch (error) {
      toast(sentence(error));
    }
    busy.value = false;
  };
  useCommands(() => [{ id: "supersede", name, icon: "clock", run: toggle, hidden: !may }], [may, is, read.id]);
  if (!may) return null;
  return html`
    <${IconButton} icon="clock" label=${name} data-on=${is} disabled=${busy.value} onClick=${toggle} />
  `;
}

/** The first value of a property, as text. @param {Note} read @param {string} name */
export const propertyOf = (read, name) => read.properties.find(({ key }) => key === name)?.values[0]?.text ?? "";

/**
 * A note in the global vault that says much the same.
 * @typedef {{ noteId: string, path: string, title: string }} Similar
 */

/** @param {{ read: Note, done: boolean, onClose: () => void }} given */
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
        toast(created ? t.made : t.as, t.open, () => (location.hash = addressIn(globalVault(), global.noteId))),
    );
  const undo = () =>
    change(
      () => ask("DELETE", path),
      () => toast(t.undone),
    );
  const code = fault.value?.code;
  /** @type {{ similar?: Similar[], secrets?: { kind: string, line: number }[] }} */
  const { similar = [], secrets = [] } = fault.value?.details ?? {};
  /** @param {string} label @param {() => void} act @param {string} [look] */
  const button = (label, act, look = "quiet") =>
    html`<button class=${look} disabled=${busy.value} onClick=${act}>${label}</button>`;
  return html`<${TitledDialog} label=${t.title} title=${done ? t.done : t.title} onClose=${onClose}>
    <p>${done ? t.doneText : t.text(title)}</p>
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
          (each) => html`<li class="line" key=${each.noteId}>
            <${Icon} name="notes" />
            <a class="grow" href=${addressIn(globalVault(), each.noteId)}>
              <bdi>${plain(each.title, 120) || words.untitled}</bdi>
              <small><bdi>${plain(each.path, 200)}</bdi></small>
            </a>
          </li>`,
        )}
      </ul>`
    }
    ${
      secrets.length > 0 &&
      html`<ul class="card">
        ${secrets.map((each, at) => html`<li class="line" key=${at}>${t.secret(plain(each.kind, 60), each.line)}</li>`)}
      </ul>`
    }
    <div class="head">
      <span class="acts end">
        ${
          done
            ? button(t.undo, undo)
            : code === "PROMOTE_SIMILAR"
              ? button(t.force, () => promote({ force: true }), "primary")
              : code !== "PROMOTE_SECRETS" && button(t.act, () => promote({}), "primary")
        }
      </span>
    </div>
  <//>`;
}
