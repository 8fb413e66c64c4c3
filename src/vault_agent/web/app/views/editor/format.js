// What the toolbar and its keys do to the text. Each is a command of CodeMirror.

import { EditorSelection, syntaxTree } from "../../../vendor/codemirror.js";
/** @import { EditorState, SyntaxNode, TextLine } from "../../../vendor/codemirror.js" */
/** @import { EditorView as View, TransactionSpec } from "../../../vendor/codemirror.js" */

/** @param {EditorState} state @param {number} pos */
export const inCode = (state, pos) => {
  /** @type {SyntaxNode | null} */
  let node = syntaxTree(state).resolveInner(pos, -1);
  for (; node; node = node.parent) if (/Code|Frontmatter|HTML/.test(node.name)) return true;
  return false;
};

/** Change the text as if it were typed. @param {View} view @param {TransactionSpec} spec */
function type(view, spec) {
  view.dispatch({ ...spec, userEvent: "input", scrollIntoView: true });
  view.focus();
  return true;
}

/** Put marks around what is selected, or the word, or take them away. @param {string} open @param {string} [close] */
export const wrap =
  (open, close = open) =>
  (/** @type {View} */ view) => {
    const { state } = view;
    const change = state.changeByRange((range) => {
      const { from, to } = range.empty ? (state.wordAt(range.head) ?? range) : range;
      const text = state.sliceDoc(from, to);
      const outer =
        state.sliceDoc(Math.max(0, from - open.length), from) === open &&
        state.sliceDoc(to, to + close.length) === close;
      const doubled =
        open.length === 1 &&
        state.sliceDoc(from - 2, from) === open + open &&
        state.sliceDoc(from - 3, from) !== open.repeat(3);
      if (outer && !doubled) {
        return {
          changes: [
            { from: from - open.length, to: from },
            { from: to, to: to + close.length },
          ],
          range: EditorSelection.range(range.anchor - open.length, range.head - open.length),
        };
      }
      if (text.length >= open.length + close.length && text.startsWith(open) && text.endsWith(close)) {
        return {
          changes: { from, to, insert: text.slice(open.length, -close.length) },
          range: EditorSelection.range(from, to - open.length - close.length),
        };
      }
      const shift = open.length;
      return {
        changes: [
          { from, insert: open },
          { from: to, insert: close },
        ],
        range: EditorSelection.range(range.anchor + shift, range.head + shift),
      };
    });
    return type(view, change);
  };

/** The lines that are selected. @param {EditorState} state */
function chosenLines(state) {
  const lines = new Map();
  for (const { from, to } of state.selection.ranges) {
    for (let pos = from; pos <= to; ) {
      const line = state.doc.lineAt(pos);
      lines.set(line.number, line);
      pos = line.to + 1;
    }
  }
  return [...lines.values()];
}

const START = /^(\s*)(?:([-*+]|\d+[.)])[ \t]+(?:\[(.)\][ \t]+)?)?/;

/** @param {View} view @param {(text: string, line: TextLine) => string} change */
function eachLine(view, change) {
  const { state } = view;
  const changes = [];
  for (const line of chosenLines(state)) {
    const made = change(line.text, line);
    if (made === line.text) continue;
    // Only what differs at the start is replaced, so that the selection stays.
    let same = 0;
    while (same < Math.min(made.length, line.length) && made.at(-1 - same) === line.text.at(-1 - same)) same += 1;
    changes.push({ from: line.from, to: line.to - same, insert: made.slice(0, made.length - same) });
  }
  const set = state.changes(changes);
  const map = (/** @type {number} */ pos) => set.mapPos(pos, 1);
  return type(view, {
    changes: set,
    selection: EditorSelection.create(
      state.selection.ranges.map((range) => EditorSelection.range(map(range.anchor), map(range.head))),
    ),
  });
}

/** The next level: none, 2, 3, 4, none. The title is level 1. @param {View} view */
export const heading = (view) =>
  eachLine(view, (text) => {
    const [mark, hashes] = /^(#{1,6})[ \t]+/.exec(text) ?? ["", ""];
    const rest = text.slice(mark.length);
    if (!hashes) return `## ${rest}`;
    return hashes.length < 2 || hashes.length >= 4
      ? hashes.length < 2
        ? `## ${rest}`
        : rest
      : `${"#".repeat(hashes.length + 1)} ${rest}`;
  });

/** @param {"list" | "numbers" | "task"} kind */
const asList = (kind) => (/** @type {View} */ view) => {
  const all = chosenLines(view.state).filter((line) => line.text.trim());
  const isItem = (/** @type {string} */ text) => {
    const [, , mark, box] = START.exec(text) ?? [];
    if (kind === "task") return box !== undefined;
    return Boolean(mark) && box === undefined && /\d/.test(mark) === (kind === "numbers");
  };
  const off = all.length > 0 && all.every((line) => isItem(line.text));
  let number = 0;
  return eachLine(view, (text) => {
    if (!text.trim() && all.length) return text;
    const [whole, indent = ""] = START.exec(text) ?? [""];
    const rest = text.slice(whole.length);
    number += 1;
    if (off) return indent + rest;
    return `${indent}${kind === "numbers" ? `${number}. ` : kind === "task" ? "- [ ] " : "- "}${rest}`;
  });
};
export const bullets = asList("list");
export const numbers = asList("numbers");
const task = asList("task");

/** Tick a task, or make one. @param {View} view */
export function tick(view) {
  const state = view.state;
  if (!chosenLines(state).some((line) => /^\s*(?:[-*+]|\d+[.)])\s+\[.\]/.test(line.text))) return task(view);
  return eachLine(view, (text) =>
    text.replace(/^(\s*(?:[-*+]|\d+[.)])\s+\[)(.)(\])/, (_, a, box, b) => `${a}${box === " " ? "x" : " "}${b}`),
  );
}

/** @param {View} view */
export const quote = (view) => {
  const all = chosenLines(view.state);
  const off = all.every((line) => /^\s*>/.test(line.text));
  return eachLine(view, (text) => (off ? text.replace(/^\s*>[ \t]?/, "") : `> ${text}`));
};

/** Code in the line, or a block of the lines. @param {View} view */
export function code(view) {
  const { state } = view;
  const { from, to } = state.selection.main;
  if (!state.sliceDoc(from, to).includes("\n")) return wrap("`")(view);
  const [first, last] = [state.doc.lineAt(from), state.doc.lineAt(to)];
  return type(view, {
    changes: [
      { from: first.from, insert: "```\n" },
      { from: last.to, insert: "\n```" },
    ],
    selection: { anchor: first.from + 3 },
  });
}

/**
 * Put a text in the place of the selection. The cursor then stands where the text has `\u0001`.
 * @param {View} view
 * @param {string} text
 * @param {boolean} [block] on lines of its own
 */
export function put(view, text, block = false) {
  const { state } = view;
  const { from, to } = state.selection.main;
  const line = state.doc.lineAt(from);
  const before = block && line.text.slice(0, from - line.from).trim() ? "\n\n" : "";
  const cursor = text.indexOf("\u0001");
  const insert = before + text.replace("\u0001", "");
  return type(view, {
    changes: { from, to, insert },
    selection: { anchor: from + before.length + (cursor < 0 ? insert.length - before.length : cursor) },
  });
}

/** @param {View} view */
export function link(view) {
  const { from, to } = view.state.selection.main;
  const text = view.state.sliceDoc(from, to);
  if (/^https?:\/\/\S+$/.test(text)) return put(view, `[\u0001](${text})`);
  return put(view, text ? `[${text}](\u0001)` : "[\u0001]()");
}

/** @param {View} view */
export function wikilink(view) {
  const { from, to } = view.state.selection.main;
  return put(view, `[[${view.state.sliceDoc(from, to)}\u0001]]`);
}

/** @param {View} view */
export const table = (view) => put(view, "| \u0001 |  |\n| --- | --- |\n|  |  |\n", true);

/** Go on with a list or a quote on the next line; an empty one ends it. @param {View} view */
export function newline(view) {
  const { state } = view;
  const { from, to, empty } = state.selection.main;
  const line = state.doc.lineAt(from);
  const [mark, quoted = "", indent = "", bullet = "", space = "", box] =
    /^((?:[ \t]*>[ \t]?)*)([ \t]*)(?:([-*+]|\d+[.)])([ \t]+)(?:\[(.)\][ \t]+)?)?/.exec(line.text) ?? [""];
  if (
    !empty ||
    state.selection.ranges.length > 1 ||
    (!quoted && !bullet) ||
    from < line.from + mark.length ||
    inCode(state, from)
  )
    return false;
  if (!line.text.slice(mark.length).trim()) {
    // Nothing stands in this entry: it ends, or goes a level out.
    const less =
      bullet && indent
        ? `${quoted}${indent.replace(/(\t| {1,4})$/, "")}${bullet}${space}${box === undefined ? "" : "[ ] "}`
        : bullet
          ? quoted
          : "";
    return type(view, {
      changes: { from: line.from, to: line.to, insert: less },
      selection: { anchor: line.from + less.length },
    });
  }
  const next = /\d/.test(bullet) ? `${Number.parseInt(bullet, 10) + 1}${bullet.at(-1)}` : bullet;
  const insert = `\n${quoted}${indent}${next}${bullet ? space : ""}${box === undefined ? "" : "[ ] "}`;
  return type(view, { changes: { from, to, insert }, selection: { anchor: from + insert.length } });
}

/** What a template leaves to be written: brackets that are no link, footnote or box. */
const PLACEHOLDER = /(?<![\])!\w[])\[(?![\^!])[^[\]\n]{2,}\](?![[(:\]])/g;

/** Choose the next placeholder, but for a list item without text, which gets another level. @param {View} view */
export function nextPlaceholder(view) {
  const { doc, selection } = view.state;
  const { head, to } = selection.main;
  if (/^[\s>]*(?:[-*+]|\d+[.)])\s+$/.test(doc.lineAt(head).text)) return false;
  PLACEHOLDER.lastIndex = to;
  const match = PLACEHOLDER.exec(doc.toString());
  if (!match || inCode(view.state, match.index + 1)) return false;
  view.dispatch({ selection: { anchor: match.index, head: PLACEHOLDER.lastIndex }, scrollIntoView: true });
  return true;
}

/** Whether the cursor stands in a list, where Tab changes the level. @param {View} view */
export const inList = (view) =>
  /^\s*(?:>\s?)*\s*(?:[-*+]|\d+[.)])\s/.test(view.state.doc.lineAt(view.state.selection.main.head).text);
