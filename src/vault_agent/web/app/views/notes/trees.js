// The menus of tags and folders: the tree of the vault as a list that can be filtered.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { Menu } from "../../parts/menu.js";
import { Trouble } from "../../parts/say.js";
import { Check, Icon } from "../../parts/sign.js";
import { plain } from "../../parts/text.js";
import { address, go } from "../../state/address.js";
import { lastOf } from "../../state/query.js";
import { revision } from "../../state/vault.js";
import { ask } from "../../wire.js";
import { count, words } from "../../words.js";

const MOST = 100; // entries in the document: typing finds the others

/** @typedef {{ name: string, total: number, depth: number }} Entry */

/**
 * @template {{ total: number, children: Node[] }} Node
 * @param {Node[]} nodes
 * @param {(node: Node) => string} named
 * @param {number} depth
 * @returns {Entry[]}
 */
function flat(nodes, named, depth = 0) {
  return nodes.flatMap((node) => [
    { name: named(node), total: node.total, depth },
    ...flat(node.children, named, depth + 1),
  ]);
}

/** @param {{ kind: "tags" | "folders", anchor: HTMLElement, onClose: () => void }} given */
export function TreeMenu({ kind, anchor, onClose }) {
  const entries = useSignal(/** @type {Entry[]} */ ([]));
  const sought = useSignal("");
  const fault = useSignal(/** @type {Fault | null} */ (null));
  const tags = kind === "tags";
  useEffect(() => {
    const read = tags
      ? ask("GET", "/tags", { query: { sort: "count" } }).then(({ data }) => flat(data.tags, (each) => each.tag))
      : ask("GET", "/folders").then(({ data }) => flat(data.folders, (each) => each.folder));
    read.then(
      (all) => (entries.value = all),
      (error) => (fault.value = error),
    );
  }, [revision.value]);
  const words_ = sought.value.toLocaleLowerCase();
  const found = entries.value.filter(({ name }) => name.toLocaleLowerCase().includes(words_));
  const now = tags ? address.value.tag : address.value.path.map((each) => each.replace(/\/$/, ""));
  /** @param {string} name */
  const choose = (name) => {
    if (tags) {
      go({ tag: now.includes(name) ? now.filter((each) => each !== name) : [...now, name] });
    } else {
      go({ path: now.includes(name) ? [] : [name] });
      onClose();
      anchor.focus();
    }
  };
  return html`<${Menu}
    anchor=${anchor}
    label=${tags ? words.notes.tags : words.notes.folder}
    role="group"
    onClose=${onClose}
  >
    <label class="field">
      <${Icon} name="search" />
      <span class="visually-hidden">${tags ? words.notes.findTag : words.notes.findFolder}</span>
      <input
        dir="auto"
        placeholder=${tags ? words.notes.findTag : words.notes.findFolder}
        value=${sought.value}
        onInput=${(/** @type {Typed} */ event) => (sought.value = event.target.value)}
      />
    </label>
    ${fault.value && html`<${Trouble} fault=${fault.value} />`}
    ${!found.length && html`<p class="entry mute">${words.notes.noTags}</p>`}
    ${
      found.length > 0 &&
      html`<div role="menu" aria-label=${tags ? words.notes.tags : words.notes.folder}>
        ${found.slice(0, MOST).map(({ name, total, depth }) => {
          const short = words_ || depth === 0 ? name : lastOf(name);
          return html`<button
            class="entry"
            role="menuitemcheckbox"
            key=${name}
            aria-checked=${now.includes(name)}
            onClick=${() => choose(name)}
            title=${name}
          >
            <${Check} />
            ${
              !words_ &&
              depth > 0 &&
              html`<span aria-hidden="true" style=${{ inlineSize: `${Math.min(depth, 6)}em` }}></span>`
            }
            <bdi class="cut">${plain(short, 80)}</bdi>
            <span class="n num">${count(total)}</span>
          </button>`;
        })}
      </div>`
    }
  <//>`;
}
