// The tree of files: virtual, with lines of one height. Arrow keys walk it as in other trees.

import { html, useEffect, useSignal } from "../../../vendor/preact.js";
import { useCommands } from "../../parts/commands.js";
import { Empty, Trouble } from "../../parts/say.js";
import { useSheet } from "../../parts/sheet.js";
import { Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { useVirtual } from "../../parts/virtual.js";
import { address, changed, go } from "../../state/address.js";
import { fault, fetchRest, followTree, hasTree, lines, readTree, reveal, unfold } from "../../state/files.js";
import { folderOf } from "../../state/query.js";
import { note } from "../../state/note.js";
import { mayWrite } from "../../state/vault.js";
import { count } from "../../words.js";
import { overlay } from "../frame/frame.js";
/** @import { Line } from "../../state/files.js" */

const NEAR = 10; // lines beyond the view
const DRAGGED = "application/x-vault-agent-path";

/** @param {string} name of an attachment */
const signOf = (name) =>
  /\.(png|jpe?g|gif|webp|avif|svg|bmp)$/i.test(name) ? "image" : /\.canvas$/i.test(name) ? "graph" : "file";

export function Tree() {
  const styled = useSheet("files.css");
  const { scroll, probe, first, height, last, ...virtual } = useVirtual({ usual: 28, near: NEAR, isReady: styled });
  const focused = useSignal("");
  const over = useSignal("");
  const shown = lines.value;
  const current = address.value.note;

  useEffect(followTree, []);
  const path = note.value?.id === current ? note.value?.path : "";
  useEffect(() => {
    if (!path || !hasTree.value) return;
    void reveal(path).then(() => virtual.bring(lines.peek().findIndex((each) => each.path === path)));
  }, [path, hasTree.value]);

  const rest = shown.slice(first.value, last + NEAR).find((each) => each.kind === "rest");
  useEffect(() => {
    if (rest) void fetchRest(rest.path);
  }, [rest?.key, rest?.at]);

  const found = shown.findIndex((each) => each.key === focused.value);
  const here = found < 0 ? shown.findIndex((each) => each.id && each.id === current) : found;
  const focusAt = Math.max(0, here);

  /** @param {number} to */
  const walk = (to) => {
    const at = Math.max(0, Math.min(to, shown.length - 1));
    if (!shown[at]) return;
    focused.value = shown[at].key;
    virtual.focus(at);
  };
  const line = () => lines.peek().find((each) => each.key === focused.peek()) ?? lines.peek()[focusAt];
  const rename = () => {
    const chosen = document.activeElement?.closest(".tree") ? line() : null;
    const named = chosen?.path ?? note.peek()?.path;
    if (named && chosen?.kind !== "rest") overlay.value = { name: "move", path: named };
  };
  /** A folder is made in the one that has the focus, or beside the file. */
  const newFolder = () => {
    const chosen = document.activeElement?.closest(".tree") ? line() : null;
    overlay.value = { name: "folder", folder: chosen ? into(chosen) : folderOf(note.peek()?.path ?? "") };
  };
  useCommands(
    () =>
      mayWrite.value
        ? [
            { id: "rename", name: "Rename or move", keys: ["F2"], run: rename, icon: "edit" },
            { id: "folder", name: "New folder", run: newFolder, icon: "folder" },
          ]
        : [],
    [mayWrite.value, focusAt],
  );

  /** @param {KeyboardEvent} event */
  const keyed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = shown[focusAt];
    const steps = /** @type {Record<string, () => void>} */ ({
      ArrowRight: () => (at?.kind === "folder" && !at.open ? unfold(at.path, true) : walk(focusAt + 1)),
      ArrowLeft: () =>
        at?.kind === "folder" && at.open
          ? unfold(at.path, false)
          : walk(shown.findIndex((each) => each.kind === "folder" && each.path === folderOf(at?.path ?? ""))),
      Enter: () => at && act(at),
      " ": () => at && act(at),
      Delete: () => mayWrite.value && at && at.kind !== "rest" && (overlay.value = { name: "delete", path: at.path }),
    });
    const to = virtual.step(event.key, focusAt, shown.length);
    const step = to === undefined ? (steps[event.key] ?? typedTo(event.key)) : () => walk(to);
    if (!step) return;
    event.preventDefault();
    step();
  };
  /** A letter goes to the next line that begins with it. @param {string} letter */
  const typedTo = (letter) => {
    if (letter.length !== 1) return null;
    const order = [...shown.slice(focusAt + 1), ...shown.slice(0, focusAt + 1)];
    const next = order.find((each) => each.name.toLocaleLowerCase().startsWith(letter.toLocaleLowerCase()));
    return next ? () => walk(shown.indexOf(next)) : null;
  };
  /** @param {Line} chosen */
  const act = (chosen) => {
    focused.value = chosen.key;
    if (chosen.kind === "folder") unfold(chosen.path, !chosen.open);
    else if (chosen.kind === "note") go({ note: chosen.id });
    else if (chosen.kind === "file") overlay.value = { name: "file", path: chosen.path };
  };
  /** The folder that a file would be dropped into. @param {Line} target */
  const into = (target) => (target.kind === "folder" ? target.path : folderOf(target.path));
  /** @param {DragEvent} event @param {string} folder */
  const drop = (event, folder) => {
    event.preventDefault();
    over.value = "";
    const dragged = event.dataTransfer?.getData(DRAGGED) ?? "";
    if (dragged && folderOf(dragged) !== folder && dragged !== folder)
      overlay.value = { name: "move", path: dragged, folder };
  };
  /** @param {DragEvent} event @param {string} folder */
  const dragOver = (event, folder) => {
    if (!event.dataTransfer?.types.includes(DRAGGED)) return;
    event.preventDefault();
    event.stopPropagation();
    over.value = folder || "/";
  };

  /** @param {number} at */
  const row = (at) => {
    const each = shown[at];
    const given = {
      key: each.key,
      class: "leaf",
      role: "treeitem",
      "aria-level": each.depth,
      "aria-posinset": each.at,
      "aria-setsize": each.of,
      tabindex: at === focusAt ? 0 : -1,
      "data-over": each.kind === "folder" && over.value === each.path ? "" : undefined,
      draggable: mayWrite.value && each.kind !== "rest",
      style: { insetBlockStart: `${at * height.value}px` },
      title: plain(each.path, 300),
      "data-kind": each.kind === "rest" ? undefined : each.kind,
      "data-path": each.kind === "rest" ? undefined : each.path,
      onFocus: () => (focused.value = each.key),
      onDragStart: (/** @type {DragEvent} */ event) => event.dataTransfer?.setData(DRAGGED, each.path),
      onDragOver: (/** @type {DragEvent} */ event) => dragOver(event, into(each)),
      onDrop: (/** @type {DragEvent} */ event) => {
        event.stopPropagation();
        drop(event, into(each));
      },
    };
    const indent = html`<span
      aria-hidden="true"
      style=${{ inlineSize: `${each.depth - 1 + (each.kind === "note" || each.kind === "rest" ? 1 : 0)}em` }}
    ></span>`;
    const name = html`<bdi class="cut">${plain(each.name, 120)}</bdi>`;
    if (each.kind === "rest") return html`<div ...${given}>${indent}<span class="cut mute">More</span></div>`;
    if (each.kind === "folder")
      return html`<div ...${given} aria-expanded=${each.open} onClick=${() => act(each)}>
        ${indent}
        <${Icon} name=${each.open ? "down" : "right"} small />
        ${name}
        <span class="n num">${each.count > 0 && count(each.count)}</span>
      </div>`;
    if (each.kind === "file")
      return html`<div ...${given} aria-haspopup="dialog" onClick=${() => act(each)}>
        ${indent}
        <${Icon} name=${signOf(each.name)} small />
        ${name}
      </div>`;
    return html`<a
      ...${given}
      href=${changed({ note: each.id, at: "" })}
      aria-selected=${each.id === current}
      onClick=${() => (focused.value = each.key)}
    >
      ${indent}
      ${name}
    </a>`;
  };
  if (!styled) return null;
  return html`<div
    class="scroll tree"
    ref=${scroll}
    onScroll=${virtual.measure}
    onKeyDown=${keyed}
    data-over=${over.value === "/" ? "" : undefined}
    onDragOver=${(/** @type {DragEvent} */ event) => dragOver(event, "")}
    onDragEnd=${() => (over.value = "")}
    onDrop=${(/** @type {DragEvent} */ event) => drop(event, "")}
  >
    ${fault.value && html`<${Trouble} fault=${fault.value} again=${() => void readTree()} />`}
    <div role="tree" aria-label="Files of the vault" style=${{ blockSize: `${shown.length * height.value}px` }}>
      ${virtual.drawn(shown.length, focusAt).map(row)}
    </div>
    <div class="leaf visually-hidden" ref=${probe} aria-hidden="true"></div>
    ${
      hasTree.value &&
      !shown.length &&
      html`<${Empty} icon="folder" title="No notes yet"><p>The folder has no notes.</p><//>`
    }
  </div>`;
}
