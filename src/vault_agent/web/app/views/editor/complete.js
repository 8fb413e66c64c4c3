// Completion while a person types: links, headings, blocks, tags, files, and blocks of text after `/`.

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  keymap,
  pickedCompletion,
  startCompletion,
} from "../../../vendor/codemirror.js";
import { plain } from "../../parts/text.js";
import { kindOf } from "../../parts/controls.js";
import { inUnits } from "../../state/query.js";
import { dayName } from "../../state/days.js";
import { readTemplates, templateText } from "../../state/templates.js";
import { ask } from "../../wire.js";
import { inCode, put } from "./format.js";
/** @import { Completion, CompletionContext, EditorView } from "../../../vendor/codemirror.js" */

const LINK = /(!?)\[\[([^[\]|\n]{0,200})$/;
const TAG = /(?:^|[\s([{,;])#([\p{L}\p{N}_/\p{M}-]*)$/u;
const SLASH = /^\s*\/([\p{L}\p{N} _-]{0,40})$/u;
const LOOK_BACK = 250; // characters

/** @typedef {{ id: string, path: string }} From */
/** @typedef {(view: EditorView, completion: Completion, from: number, to: number) => void} Apply */

/** @param {CompletionContext} context @param {Record<string, unknown>} query */
async function suggest(context, query) {
  const abort = new AbortController();
  context.addEventListener("abort", () => abort.abort());
  try {
    return (await ask("GET", "/suggest", { query, signal: abort.signal })).data.suggestions;
  } catch {
    return []; // no completion: what is typed stays
  }
}

/**
 * Replace what was typed, also closing brackets that stand there already.
 * @type {(text: string, close: string) => Apply}
 */
const inserting = (text, close) => (view, completion, from, to) => {
  const after = view.state.sliceDoc(to, to + close.length);
  const isClosed = close.length > 0 && after === close;
  view.dispatch({
    changes: { from, to: isClosed ? to + close.length : to, insert: text + close },
    selection: { anchor: from + text.length + close.length },
    annotations: pickedCompletion.of(completion),
    userEvent: "input.complete",
    scrollIntoView: true,
  });
};

/** @param {() => From} note */
const completeLinks = (note) => async (/** @type {CompletionContext} */ context) => {
  const { state, pos } = context;
  const before = state.sliceDoc(Math.max(state.doc.lineAt(pos).from, pos - LOOK_BACK), pos);
  const match = LINK.exec(before);
  if (!match || inCode(state, pos)) return null;
  const [, embed, typed] = match;
  const part = typed.includes("#");
  const kinds = part ? (typed.includes("#^") ? "block" : "heading") : embed ? "attachment,note" : "note,attachment";
  const hits = await suggest(context, { q: typed, kinds, from: note().id, limit: 20 });
  return {
    from: pos - typed.length,
    filter: false,
    options: hits.map((hit) => ({
      label: hit.insert,
      displayLabel: plain(hit.label, 100) || "Untitled",
      detail: plain(hit.detail, 80),
      type: hit.kind === "note" ? kindOf(hit.type) : hit.kind,
      apply: inserting(hit.insert, "]]"),
      match: hit.match,
    })),
    getMatch: (/** @type {Completion & { match?: [number, number][] }} */ option) =>
      inUnits(option.displayLabel ?? "", option.match ?? []).flat(),
  };
};

/** @param {CompletionContext} context */
async function completeTags(context) {
  const { state, pos } = context;
  const match = TAG.exec(state.sliceDoc(Math.max(state.doc.lineAt(pos).from, pos - LOOK_BACK), pos));
  if (
    !match ||
    inCode(state, pos) ||
    (!match[1] && !context.explicit && /^#+$/.test(state.doc.lineAt(pos).text.trim()))
  )
    return null;
  const hits = await suggest(context, { q: match[1], kinds: "tag", limit: 20 });
  return {
    from: pos - match[1].length,
    filter: false,
    options: hits.map((hit) => ({
      label: hit.insert,
      displayLabel: `#${plain(hit.label, 80)}`,
      type: "tag",
    })),
  };
}

/** What `/` offers, besides templates: a name and a text, where one goes on after `\u0001`. */
const BLOCKS = () =>
  /** @type {[string, string, string][]} */ ([
    ["heading", "Heading 2", "## \u0001"],
    ["heading", "Heading 3", "### \u0001"],
    ["list", "List", "- \u0001"],
    ["list", "Numbered list", "1. \u0001"],
    ["task", "Task", "- [ ] \u0001"],
    ["quote", "Quote", "> \u0001"],
    ["callout", "Callout", "> [!note] \u0001\n> "],
    ["code", "Code block", "```\u0001\n\n```"],
    ["table", "Table", "| \u0001 |  |\n| --- | --- |\n|  |  |"],
    ["math", "Formula", "$$\n\u0001\n$$"],
    ["rule", "Line", "---\n\u0001"],
    ["date", "Date of today", `${dayName(new Date())}\u0001`],
  ]);

/** @param {() => From} note @param {(fault: Fault) => void} failed */
const completeBlocks = (note, failed) => async (/** @type {CompletionContext} */ context) => {
  const { state, pos } = context;
  const line = state.doc.lineAt(pos);
  const match = SLASH.exec(line.text.slice(0, pos - line.from));
  if (!match || inCode(state, pos)) return null;
  /** @type {(text: string) => Apply} */
  const replacing = (text) => (view, _, from, to) => {
    view.dispatch({ selection: { anchor: from, head: to } });
    put(view, text);
  };
  const options = BLOCKS().map(([type, label, text], index) => ({
    label,
    type,
    boost: -index,
    section: { name: "Blocks", rank: 0 },
    apply: replacing(text),
  }));
  const templates = await readTemplates().catch(() => []);
  const extra = templates
    .filter((template) => !template.variables.length)
    .map(({ name }) => ({
      label: plain(name, 80),
      type: "template",
      section: { name: "Templates", rank: 1 },
      /** @type {Apply} */
      apply: (...place) => void templateText(name, note().path).then((text) => replacing(text)(...place), failed),
    }));
  return {
    from: pos - match[1].length - 1,
    options: [...options, ...extra].map((item) => ({ ...item, label: `/${item.label}`, displayLabel: item.label })),
    validFor: /^\/[\p{L}\p{N} _-]*$/u,
  };
};

/** @param {() => From} note @param {(fault: Fault) => void} failed */
export const completion = (note, failed) => [
  autocompletion({
    override: [completeLinks(note), completeTags, completeBlocks(note, failed)],
    icons: true,
    maxRenderedOptions: 50,
    activateOnTyping: true,
    closeOnBlur: true,
    tooltipClass: () => "suggest",
    optionClass: (option) => `suggest-${option.type ?? ""}`,
  }),
  closeBrackets(),
  keymap.of([...closeBracketsKeymap, ...completionKeymap]),
];

/** Offer links again after `[[` was put there. @param {EditorView} view */
export const offer = (view) => startCompletion(view);
