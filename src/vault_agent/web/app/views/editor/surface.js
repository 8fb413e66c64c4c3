// The text field: CodeMirror with what is ours.

import {
  EditorState,
  EditorView,
  Prec,
  Transaction,
  acceptCompletion,
  defaultKeymap,
  drawSelection,
  dropCursor,
  highlightSpecialChars,
  history,
  historyKeymap,
  indentLess,
  indentMore,
  indentUnit,
  isolateHistory,
  keymap,
  placeholder,
  syntaxTree,
  StateEffect,
} from "../../../vendor/codemirror.js";
import { changesOf } from "../../state/merge.js";
import { laterWords } from "../../words-later.js";
import { completion, offer } from "./complete.js";
import {
  bullets,
  code,
  heading,
  inList,
  link,
  newline,
  nextPlaceholder,
  numbers,
  put,
  quote,
  table,
  tick,
  wikilink,
  wrap,
} from "./format.js";
import { language } from "./language.js";
import { lineLooks, setMarks } from "./lines.js";
import { nonced } from "./language.js";
/** @import { SyntaxNode } from "../../../vendor/codemirror.js" */

/** The texts of CodeMirror's own parts. */
const phrases = () => EditorState.phrases.of(laterWords.edit.phrases);

/** The buttons of the toolbar: a name, keys as the page writes them, and what it does. */
export const TOOLS = /** @type {const} */ ([
  ["bold", "Mod+b", wrap("**")],
  ["italic", "Mod+i", wrap("*")],
  ["heading", "Mod+Shift+h", heading],
  ["list", "Mod+Shift+8", bullets],
  ["numbers", "Mod+Shift+7", numbers],
  ["task", "Mod+Enter", tick],
  ["quote", "Mod+Shift+9", quote],
  ["code", "Mod+Shift+m", code],
  ["link", "Mod+Alt+k", link],
  ["wikilink", "Mod+Shift+l", (/** @type {EditorView} */ view) => wikilink(view) && offer(view)],
  ["image", "Mod+Shift+u", null],
  ["table", "Mod+Shift+y", table],
]);

/** @param {string} keys */
const ofCodeMirror = (keys) => keys.replaceAll("+", "-");

/**
 * What stands in a link at a position: the target and the note that it names.
 * @param {EditorState} state
 * @param {number} pos
 */
function linkAt(state, pos) {
  /** @type {SyntaxNode | null} */
  let node = syntaxTree(state).resolveInner(pos, 1);
  for (; node; node = node.parent) {
    if (/^Wiki/.test(node.name))
      return {
        target: state
          .sliceDoc(node.from, node.to)
          .replace(/^!?\[\[|\]\]$/g, "")
          .split("|")[0],
        wiki: true,
      };
    if (node.name === "Link" || node.name === "URL" || node.name === "Autolink") {
      const url = node.name === "Link" ? node.getChild("URL") : node;
      if (url) return { target: state.sliceDoc(url.from, url.to).replace(/^<|>$/g, ""), wiki: false };
    }
  }
  return null;
}

/** Search in the text. What does it is loaded at the first time. @param {EditorView} view */
async function find(view) {
  const loaded = await import("../../../vendor/search.js").catch(() => null);
  if (!loaded) return;
  const { highlightSelectionMatches, openSearchPanel, search, searchKeymap } = loaded;
  if (!searching.has(view)) {
    searching.add(view);
    const keys = keymap.of(searchKeymap.filter((binding) => binding.key !== "Mod-g")); // that is the graph
    view.dispatch({
      effects: StateEffect.appendConfig.of([
        search({ top: true }),
        keys,
        highlightSelectionMatches({ minSelectionLength: 3 }),
      ]),
    });
  }
  openSearchPanel(view);
}
/** @type {WeakSet<EditorView>} */
const searching = new WeakSet();

/**
 * @param {{
 *   parent: HTMLElement,
 *   doc: string,
 *   note: () => { id: string, path: string },
 *   onType: () => void,
 *   onKey: (name: "save" | "image" | "done" | "preview") => void,
 *   onFiles: (files: File[], at: number) => boolean,
 *   onLink: (link: { target: string, wiki: boolean }) => void,
 *   onFault: (fault: Fault) => void,
 *   onBlur: () => void,
 * }} props
 */
export function makeSurface({ parent, doc, note, onType, onKey, onFiles, onLink, onFault, onBlur }) {
  const follow = (/** @type {EditorView} */ view) => {
    const reference = linkAt(view.state, view.state.selection.main.head);
    if (reference) onLink(reference);
    return Boolean(reference);
  };
  return new EditorView({
    parent,
    state: EditorState.create({
      doc,
      extensions: [
        nonced(),
        phrases(),
        history(),
        drawSelection({ cursorBlinkRate: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 1100 }),
        dropCursor(),
        highlightSpecialChars(),
        EditorView.lineWrapping,
        EditorState.allowMultipleSelections.of(true),
        indentUnit.of("\t"),
        EditorState.tabSize.of(4),
        language(),
        lineLooks,
        completion(note, onFault),
        placeholder("Write here. [[ links a note, # tags it, / offers blocks."),
        EditorView.contentAttributes.of({
          "aria-label": "Text of the note",
          spellcheck: "true",
          autocapitalize: "sentences",
          autocorrect: "on",
        }),
        Prec.high(
          keymap.of([
            { key: "Tab", run: acceptCompletion },
            { key: "Mod-s", run: () => (onKey("save"), true), preventDefault: true },
            ...TOOLS.map(([name, keys, run]) => ({
              key: ofCodeMirror(keys),
              run: run ?? (() => (onKey(name), true)),
              preventDefault: true,
            })),
            { key: "Mod-e", run: () => (onKey("preview"), true), preventDefault: true },
            { key: "Mod-Shift-Enter", run: () => (onKey("done"), true) },
            { key: "Mod-f", run: (view) => (void find(view), true), preventDefault: true },
            { key: "Alt-Enter", run: follow },
            { key: "Enter", run: newline },
            {
              key: "Tab",
              run: (view) =>
                nextPlaceholder(view) ||
                (view.state.selection.ranges.some((range) => !range.empty) || inList(view)
                  ? indentMore(view)
                  : put(view, "\t")),
              shift: indentLess,
            },
          ]),
        ),
        keymap.of([
          ...historyKeymap,
          ...defaultKeymap.filter((binding) => binding.key !== "Mod-i" && binding.key !== "Mod-Enter"),
        ]),
        EditorView.domEventHandlers({
          paste: (event, view) => onFiles([...(event.clipboardData?.files ?? [])], view.state.selection.main.from),
          drop: (event, view) =>
            onFiles(
              [...(event.dataTransfer?.files ?? [])],
              view.posAtCoords({ x: event.clientX, y: event.clientY }) ?? view.state.selection.main.from,
            ),
          mousedown: (event, view) => {
            if (!(event.ctrlKey || event.metaKey) || event.button) return false;
            const pos = view.posAtCoords({ x: event.clientX, y: event.clientY });
            const reference = pos === null ? null : linkAt(view.state, pos);
            if (reference) onLink(reference);
            return Boolean(reference);
          },
          blur: () => onBlur(),
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((edit) => edit.annotation(Transaction.remote))) onType();
        }),
      ],
    }),
  });
}

// A title, the heading of a first part, and an empty line if no heading follows it.
const TITLE = /^\s*#{1,6}[ \t].*(?:\n\s*##{1,5}[ \t].*)?\n?(?:[ \t]*\n(?![ \t]*#))?/;

/** Where the cursor stands first: below the headings, so that the first key changes none. @param {string} text */
export const firstPlace = (text) => TITLE.exec(text)?.[0].length ?? 0;

/**
 * Show another text: only what differs is changed, so that the cursor stays. `own`: the person chose it, and can undo
 * it.
 * @param {EditorView} view
 * @param {string} text
 * @param {[number, number][]} marks
 * @param {boolean} own
 */
export function showText(view, text, marks, own) {
  const changes = changesOf(view.state.doc.toString(), text);
  view.dispatch({
    changes,
    annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(own), isolateHistory.of("full")],
  });
  view.dispatch({ effects: setMarks.of(marks) });
}
