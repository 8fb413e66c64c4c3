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
  const treeLines = lines.value;
  const current = address.value.note;

  useEffect(followTree, []);
  const path = note.value?.id === current ? note.value?.path : "";
  useEffect(() => {
    if (!path || !hasTree.value) return;
    void reveal(path).then(() => virtual.bring(lines.peek().findIndex((line) => line.path === path)));
  }, [path, hasTree.value]);

  const rest = treeLines.slice(first.value, last + NEAR).find((line) => line.kind === "rest");
  useEffect(() => {
    if (rest) void fetchRest(rest.path);
  }, [rest?.key, rest?.at]);

  const keptAt = treeLines.findIndex((line) => line.key === focused.value);
  const here = keptAt < 0 ? treeLines.findIndex((line) => line.id && line.id === current) : keptAt;
  const focusAt = Math.max(0, here);

  /** @param {number} to */
  const walk = (to) => {
    const index = Math.max(0, Math.min(to, treeLines.length - 1));
    if (!treeLines[index]) return;
    focused.value = treeLines[index].key;
    virtual.focus(index);
  };
  const findFocused = () => lines.peek().find((line) => line.key === focused.peek()) ?? lines.peek()[focusAt];
  const rename = () => {
    const chosen = document.activeElement?.closest(".tree") ? findFocused() : null;
    const named = chosen?.path ?? note.peek()?.path;
    if (named && chosen?.kind !== "rest") overlay.value = { name: "move", path: named };
  };
  /** A folder is made in the one that has the focus, or beside the file. */
  const newFolder = () => {
    const chosen = document.activeElement?.closest(".tree") ? findFocused() : null;
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
  const onKeyDown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const line = treeLines[focusAt];
    const steps = /** @type {Record<string, () => void>} */ ({
      ArrowRight: () => (line?.kind === "folder" && !line.open ? unfold(line.path, true) : walk(focusAt + 1)),
      ArrowLeft: () =>
        line?.kind === "folder" && line.open
          ? unfold(line.path, false)
          : walk(treeLines.findIndex((above) => above.kind === "folder" && above.path === folderOf(line?.path ?? ""))),
      Enter: () => line && act(line),
      " ": () => line && act(line),
      Delete: () =>
        mayWrite.value && line && line.kind !== "rest" && (overlay.value = { name: "delete", path: line.path }),
    });
    const to = virtual.step(event.key, focusAt, treeLines.length);
    const step = to === undefined ? (steps[event.key] ?? typedTo(event.key)) : () => walk(to);
    if (!step) return;
    event.preventDefault();
    step();
  };
  /** A letter goes to the next line that begins with it. @param {string} letter */
  const typedTo = (letter) => {
    if (letter.length !== 1) return null;
    const order = [...treeLines.slice(focusAt + 1), ...treeLines.slice(0, focusAt + 1)];
    const next = order.find((line) => line.name.toLocaleLowerCase().startsWith(letter.toLocaleLowerCase()));
    return next ? () => walk(treeLines.indexOf(next)) : null;
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

  /** @param {number} index */
  const drawRow = (index) => {
    const line = treeLines[index];
    const attributes = {
      key: line.key,
      class: "leaf",
      role: "treeitem",
      "aria-level": line.depth,
      "aria-posinset": line.at,
      "aria-setsize": line.of,
      tabindex: index === focusAt ? 0 : -1,
      "data-over": line.kind === "folder" && over.value === line.path ? "" : undefined,
      draggable: mayWrite.value && line.kind !== "rest",
      style: { insetBlockStart: `${index * height.value}px` },
      title: plain(line.path, 300),
      "data-kind": line.kind === "rest" ? undefined : line.kind,
      "data-path": line.kind === "rest" ? undefined : line.path,
      onFocus: () => (focused.value = line.key),
      onDragStart: (/** @type {DragEvent} */ event) => event.dataTransfer?.setData(DRAGGED, line.path),
      onDragOver: (/** @type {DragEvent} */ event) => dragOver(event, into(line)),
      onDrop: (/** @type {DragEvent} */ event) => {
        event.stopPropagation();
        drop(event, into(line));
      },
    };
    const indent = html`<span
      aria-hidden="true"
      style=${{ inlineSize: `${line.depth - 1 + (line.kind === "note" || line.kind === "rest" ? 1 : 0)}em` }}
    ></span>`;
    const name = html`<bdi class="cut">${plain(line.name, 120)}</bdi>`;
    if (line.kind === "rest") return html`<div ...${attributes}>${indent}<span class="cut mute">More</span></div>`;
    if (line.kind === "folder")
      return html`<div ...${attributes} aria-expanded=${line.open} onClick=${() => act(line)}>
        ${indent}
        <${Icon} name=${line.open ? "down" : "right"} small />
        ${name}
        <span class="n num">${line.count > 0 && count(line.count)}</span>
      </div>`;
    if (line.kind === "file")
      return html`<div ...${attributes} aria-haspopup="dialog" onClick=${() => act(line)}>
        ${indent}
        <${Icon} name=${signOf(line.name)} small />
        ${name}
      </div>`;
    return html`<a
      ...${attributes}
      href=${changed({ note: line.id, at: "" })}
      aria-selected=${line.id === current}
      onClick=${() => (focused.value = line.key)}
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
    onKeyDown=${onKeyDown}
    data-over=${over.value === "/" ? "" : undefined}
    onDragOver=${(/** @type {DragEvent} */ event) => dragOver(event, "")}
    onDragEnd=${() => (over.value = "")}
    onDrop=${(/** @type {DragEvent} */ event) => drop(event, "")}
  >
    ${fault.value && html`<${Trouble} fault=${fault.value} again=${() => void readTree()} />`}
    <div role="tree" aria-label="Files of the vault" style=${{ blockSize: `${treeLines.length * height.value}px` }}>
      ${virtual.drawn(treeLines.length, focusAt).map(drawRow)}
    </div>
    <div class="leaf visually-hidden" ref=${probe} aria-hidden="true"></div>
    ${
      hasTree.value &&
      !treeLines.length &&
      html`<${Empty} icon="folder" title="No notes yet"><p>The folder has no notes.</p><//>`
    }
  </div>`;
}
