// What whole lines look like: quotes and callouts, code, lists, and lines in another direction.

import {
  Decoration,
  RangeSetBuilder,
  StateEffect,
  StateField,
  EditorView,
  ViewPlugin,
  syntaxTree,
} from "../../../vendor/codemirror.js";
import { calloutLook } from "../../parts/callouts.js";
/** @import { SyntaxNodeRef, ViewUpdate } from "../../../vendor/codemirror.js" */

const DEEPEST = 24; // spaces before the marker of a list item, for which a wrapped line hangs
const CALLOUT = /^[ \t>]*\[!([\w-]+)\]/;
const OTHER_WAY = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;
/** Marks at the start of a line. They say nothing of its direction. */
const MARKS = /^[\s>]*(?:\[![\w-]+\][+-]?)?\s*(?:[-*+]|\d+[.)])?\s*(?:\[.\])?/;

/**
 * The direction of a line, by its first letter. Without letters, none.
 * @param {string} text
 * @returns {"" | "rtl" | "ltr"}
 */
function directionOf(text) {
  const [letter] = /\p{L}/u.exec(text.slice(0, 500).replace(MARKS, "")) ?? [""];
  return letter && (OTHER_WAY.test(letter) ? "rtl" : "ltr");
}

/** @param {EditorView} view */
function decorations(view) {
  const { doc } = view.state;
  const tree = syntaxTree(view.state);
  /** @type {Map<number, string[]>} */
  const classes = new Map();
  const add = (/** @type {SyntaxNodeRef} */ node, /** @type {(first: boolean, last: boolean) => string} */ name) => {
    const [from, to] = [
      doc.lineAt(node.from),
      doc.lineAt(Math.max(node.from, node.to - (doc.sliceString(node.to - 1, node.to) === "\n" ? 1 : 0))),
    ];
    const [start, end] = [
      Math.max(from.number, doc.lineAt(view.viewport.from).number),
      Math.min(to.number, doc.lineAt(view.viewport.to).number),
    ];
    for (let number = start; number <= end; number += 1) {
      const line = doc.line(number);
      classes.set(line.from, [...(classes.get(line.from) ?? []), name(number === from.number, number === to.number)]);
    }
  };
  const ends = (/** @type {boolean} */ first, /** @type {boolean} */ last) =>
    `${first ? " first" : ""}${last ? " last" : ""}`;
  for (const { from, to } of view.visibleRanges) {
    tree.iterate({
      from,
      to,
      enter: (node) => {
        if (node.name === "Blockquote" && node.node.parent?.name !== "Blockquote") {
          const kind = CALLOUT.exec(doc.lineAt(node.from).text)?.[1].toLowerCase();
          add(node, (first, last) =>
            kind ? `ln-callout tone-${calloutLook(kind)[0]}${ends(first, last)}` : `ln-quote${ends(first, last)}`,
          );
        } else if (node.name === "FencedCode" || node.name === "CodeBlock") {
          add(node, (first, last) => `ln-code${ends(first, last)}`);
        } else if (node.name === "Frontmatter") add(node, (first, last) => `ln-code ln-front${ends(first, last)}`);
        else if (node.name === "Table") add(node, () => "ln-table");
        else if (node.name === "Task" && /^\[[xX]\]/.test(doc.sliceString(node.from, node.from + 3)))
          add(node, () => "ln-done");
      },
    });
  }
  const builder = /** @type {RangeSetBuilder<Decoration>} */ (new RangeSetBuilder());
  let reached = -1;
  let before = "";
  for (const { from, to } of view.visibleRanges) {
    for (let pos = from; pos <= to; ) {
      const line = doc.lineAt(pos);
      pos = line.to + 1;
      if (line.from <= reached) continue;
      reached = line.from;
      const names = classes.get(line.from) ?? [];
      const item = /^([ \t]*)(?:[-*+]|(\d+[.)]))[ \t]+(\[.\] )?/.exec(line.text);
      if (item && !/ln-(code|front|table)/.test(names.join())) {
        const indent = Math.min(DEEPEST, item[1].replace(/\t/g, "    ").length);
        names.push(`ln-item${item[3] ? " x" : item[2] ? " n" : ""}${indent ? ` in-${indent}` : ""}`);
      }
      const dir = directionOf(line.text) || (names.includes("ln-table") ? before : "");
      before = dir;
      // A line of this page's own direction needs no attribute, unless it holds letters of the other.
      const turned = dir === "rtl" || OTHER_WAY.test(line.text.slice(0, 500));
      if (names.length || turned)
        builder.add(
          line.from,
          line.from,
          Decoration.line({
            class: names.join(" ") || undefined,
            attributes: turned ? { dir: dir || "auto" } : undefined,
          }),
        );
    }
  }
  return builder.finish();
}

const looks = ViewPlugin.fromClass(
  class {
    /** @param {EditorView} view */
    constructor(view) {
      this.decorations = decorations(view);
      this.tree = syntaxTree(view.state);
    }

    /** @param {ViewUpdate} update */
    update(update) {
      const tree = syntaxTree(update.state);
      if (!update.docChanged && !update.viewportChanged && tree === this.tree) return;
      this.tree = tree;
      this.decorations = decorations(update.view);
    }
  },
  { decorations: (value) => value.decorations },
);

/** The spaces before a marker, by which a wrapped line hangs; one is about .26em wide. */
const indents = EditorView.theme(
  Object.fromEntries(Array.from({ length: DEEPEST }, (_, at) => [`.in-${at + 1}`, { "--in": String(at + 1) }])),
);

/** Mark the lines that others wrote: the first, and the one after the last, counted from 0. */
export const setMarks = /** @type {typeof StateEffect.define<[number, number][]>} */ (StateEffect.define)();
const marks = StateField.define({
  create: () => Decoration.none,
  update(value, change) {
    for (const effect of change.effects) {
      if (!effect.is(setMarks)) continue;
      const builder = /** @type {RangeSetBuilder<Decoration>} */ (new RangeSetBuilder());
      const { doc } = change.state;
      for (const [from, to] of effect.value) {
        for (let index = Math.max(0, from); index < Math.min(to, doc.lines); index += 1)
          builder.add(doc.line(index + 1).from, doc.line(index + 1).from, Decoration.line({ class: "ln-theirs" }));
      }
      return builder.finish();
    }
    return value.map(change.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

export const lineLooks = [looks, indents, marks, EditorView.perLineTextDirection.of(true)];
