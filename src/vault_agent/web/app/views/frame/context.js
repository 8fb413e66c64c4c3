// The menu of a note, a file or a folder, where it was asked for.

import { html } from "../../../vendor/preact.js";
import { Menu } from "../../parts/menu.js";
import { Entry } from "../../parts/controls.js";
import { copy } from "../../parts/say.js";
import { address, go, hrefOf } from "../../state/address.js";
import { mayWrite } from "../../state/vault.js";
import { openBeside } from "../../state/tabs.js";
import { context, overlay } from "./frame.js";

/** @typedef {{ name: string, icon: string, run: () => void, hidden?: boolean }} Action */

/** @param {import("./frame.js").Context} target @returns {Action[]} */
function entriesOf({ kind, id, path }) {
  const changes = [
    {
      name: "Rename or move",
      icon: "edit",
      run: () => (overlay.value = { name: "move", path }),
      hidden: !path || !mayWrite.value,
    },
    {
      name: "Delete",
      icon: "x",
      run: () => (overlay.value = { name: "delete", path }),
      hidden: !path || !mayWrite.value,
    },
  ];
  if (kind === "folder")
    return [
      {
        name: "New note here",
        icon: "plus",
        run: () => (overlay.value = { name: "create", title: `${path}/` }),
        hidden: !mayWrite.value,
      },
      {
        name: "New folder here",
        icon: "folder",
        run: () => (overlay.value = { name: "folder", folder: path }),
        hidden: !mayWrite.value,
      },
      { name: "List its notes", icon: "list", run: () => go({ view: "notes", path: [path], q: "" }) },
      ...changes,
    ];
  if (kind === "file")
    return [{ name: "Show", icon: "eye", run: () => (overlay.value = { name: "file", path }) }, ...changes];
  const link = hrefOf({ view: "notes", note: id, vault: address.peek().vault });
  return [
    { name: "Open", icon: "notes", run: () => go({ view: "notes", note: id }) },
    {
      name: "Open in a tab",
      icon: "columns",
      run: () => void openBeside(Object.assign(document.createElement("a"), { href: link })),
    },
    { name: "Copy the link", icon: "link", run: () => void copy(new URL(link, location.href).href) },
    { name: "Show in the graph", icon: "graph", run: () => go({ view: "graph", near: id }) },
    ...changes,
  ];
}

/** @param {import("./frame.js").Context} target */
export function Context(target) {
  const { at, origin } = target;
  const close = () => (context.value = null);
  const anchor = {
    getBoundingClientRect: () => at,
    contains: () => false,
    focus: () => origin.focus(),
  };
  return html`<${Menu} anchor=${anchor} label="What can be done" onClose=${close}>
    ${entriesOf(target)
      .filter(({ hidden }) => !hidden)
      .map(
        ({ name, icon, run }) => html`<${Entry}
          key=${name}
          icon=${icon}
          onClick=${() => {
            close();
            run();
          }}
        >
          ${name}
        <//>`,
      )}
  <//>`;
}
