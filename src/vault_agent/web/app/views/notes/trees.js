// The menus of tags and folders: the tree of the vault as a list that can be filtered.

import { html, useSignal } from "../../../vendor/preact.js";
import { Menu } from "../../parts/menu.js";
import { Entry, Field } from "../../parts/controls.js";
import { useReply } from "../../parts/reply.js";
import { Trouble } from "../../parts/say.js";
import { plain } from "../../parts/text.js";
import { address, go } from "../../state/address.js";
import { lastOf } from "../../state/query.js";
import { revision } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { count } from "../../words.js";

const MOST = 100; // entries in the document: typing finds the others

/** @typedef {{ name: string, total: number, depth: number }} Branch */

/**
 * @template {{ total: number, children: Node[] }} Node
 * @param {Node[]} nodes
 * @param {(node: Node) => string} nameOf
 * @param {number} depth
 * @returns {Branch[]}
 */
function flat(nodes, nameOf, depth = 0) {
  return nodes.flatMap((node) => [
    { name: nameOf(node), total: node.total, depth },
    ...flat(node.children, nameOf, depth + 1),
  ]);
}

/** @param {{ kind: "tags" | "folders", anchor: HTMLElement, onClose: () => void }} props */
export function TreeMenu({ kind, anchor, onClose }) {
  const sought = useSignal("");
  const tags = kind === "tags";
  const { data: entries, fault } = useReply(
    async () =>
      tags
        ? flat((await ask("GET", "/tags", { query: { sort: "count" } })).data.tags, (node) => node.tag)
        : flat((await ask("GET", "/folders")).data.folders, (node) => node.folder),
    [revision.value],
  );
  const part = sought.value.toLocaleLowerCase();
  const [label, find] = tags ? ["Tags", "Find a tag"] : ["Folder", "Find a folder"];
  const matches = (entries.value ?? []).filter(({ name }) => name.toLocaleLowerCase().includes(part));
  const chosen = tags ? address.value.tag : address.value.path.map((path) => path.replace(/\/$/, ""));
  /** @param {string} name */
  const choose = (name) => {
    if (tags) {
      go({ tag: chosen.includes(name) ? chosen.filter((tag) => tag !== name) : [...chosen, name] });
    } else {
      go({ path: chosen.includes(name) ? [] : [name] });
      onClose();
      anchor.focus();
    }
  };
  return html`<${Menu} anchor=${anchor} label=${label} role="group" onClose=${onClose}>
    <${Field}
      label=${find}
      placeholder=${find}
      value=${sought.value}
      onInput=${(/** @type {Typed} */ event) => (sought.value = event.target.value)}
    />
    ${fault.value && html`<${Trouble} fault=${fault.value} />`}
    ${entries.value && !matches.length && html`<p class="entry mute">${tags ? "No tags" : "No folders"}</p>`}
    ${
      matches.length > 0 &&
      html`<div role="menu" aria-label=${label}>
        ${matches.slice(0, MOST).map(({ name, total, depth }) => {
          const short = part || depth === 0 ? name : lastOf(name);
          return html`<${Entry}
            role="menuitemcheckbox"
            key=${name}
            checked=${chosen.includes(name)}
            onClick=${() => choose(name)}
            title=${name}
          >
            ${
              !part &&
              depth > 0 &&
              html`<span aria-hidden="true" style=${{ inlineSize: `${Math.min(depth, 6)}em` }}></span>`
            }
            <bdi class="cut">${plain(short, 80)}</bdi>
            <span class="n num">${count(total)}</span>
          <//>`;
        })}
      </div>`
    }
  <//>`;
}
