// The same lines were changed here and elsewhere: both texts side by side.
// Parts of the text on the disk can be taken into your text.

import { html, useEffect, useRef, useSignal } from "../../../vendor/preact.js";
import {
  EditorState,
  EditorView,
  defaultKeymap,
  drawSelection,
  history,
  historyKeymap,
  keymap,
} from "../../../vendor/codemirror.js";
import { MergeView, unifiedMergeView } from "../../../vendor/merge.js";
import { announce, sentence, toast } from "../../parts/say.js";
import { Icon } from "../../parts/controls.js";
import { clash, editing, settle, wholeText } from "../../state/editing.js";
import { makeCopy } from "../../state/templates.js";
import { laterWords } from "../../words-later.js";
import { copyPath } from "./notices.js";
import { language, nonced } from "./language.js";
import { lineLooks } from "./lines.js";
/** @import { Extension } from "../../../vendor/codemirror.js" */
/** @import { Clash } from "../../state/editing.js" */

const NARROW = matchMedia("(max-width: 720px)");

/**
 * Where there is no room for two texts: one, with what is on disk above each part that differs.
 * @param {HTMLElement} parent
 * @param {Clash} clash
 * @param {Extension[]} extensions
 * @param {{ current: { b: EditorView } | null }} merge
 */
function narrow(parent, clash, extensions, merge) {
  const mergeControls = (/** @type {"accept" | "reject"} */ type, /** @type {(event: MouseEvent) => void} */ act) => {
    const button = document.createElement("button");
    button.className = "quiet";
    button.textContent = type === "accept" ? "Keep mine" : "Take theirs";
    button.addEventListener("mousedown", act);
    button.addEventListener(
      "keydown",
      (event) =>
        (event.key === "Enter" || event.key === " ") && act(/** @type {MouseEvent} */ (/** @type {UIEvent} */ (event))),
    );
    return button;
  };
  const b = new EditorView({
    parent,
    doc: clash.text,
    extensions: [
      ...extensions,
      unifiedMergeView({ original: clash.disk.text, mergeControls, collapseUnchanged: { margin: 3, minSize: 6 } }),
    ],
  });
  merge.current = { b };
  announce("Changed here and elsewhere");
  return () => {
    b.destroy();
    merge.current = null;
  };
}

/** @param {{ onEnd: () => void }} props */
export function Conflict({ onEnd }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const merge = useRef(/** @type {{ b: EditorView } | null} */ (null));
  const left = useSignal(0);
  const conflict = clash.value;
  const t = laterWords.edit.conflict;

  useEffect(() => {
    if (!conflict || !box.current) return;
    const shared = [
      nonced(),
      EditorView.lineWrapping,
      language(),
      lineLooks,
      drawSelection(),
      EditorState.phrases.of(laterWords.edit.phrases),
    ];
    const counter = EditorView.updateListener.of(() => {
      if (merge.current instanceof MergeView) left.value = merge.current.chunks.length;
    });
    const mine = [
      ...shared,
      history(),
      keymap.of([...historyKeymap, ...defaultKeymap]),
      EditorView.contentAttributes.of({ "aria-label": "Your text" }),
    ];
    if (NARROW.matches) return narrow(box.current, conflict, mine, merge);
    const view = new MergeView({
      a: {
        doc: conflict.disk.text,
        extensions: [
          ...shared,
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({ "aria-label": "On disk", "aria-readonly": "true" }),
        ],
      },
      b: {
        doc: conflict.text,
        extensions: [...mine, counter],
      },
      parent: box.current,
      revertControls: "a-to-b",
      renderRevertControl: () => {
        const button = document.createElement("button");
        button.textContent = "→";
        button.title = "Take this into your text";
        button.setAttribute("aria-label", "Take this into your text");
        return button;
      },
      highlightChanges: true,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    merge.current = view;
    left.value = view.chunks.length;
    announce("Changed here and elsewhere");
    view.b.focus();
    return () => {
      view.destroy();
      merge.current = null;
    };
  }, [conflict?.disk.hash]);
  if (!conflict) return null;

  const end = (/** @type {string | undefined} */ text) => {
    settle(text);
    onEnd();
  };
  const copy = async () => {
    const open = editing.peek();
    if (!open) return;
    try {
      const made = await makeCopy(
        copyPath(open.path),
        conflict.kind === "conflict" ? (merge.current?.b.state.doc.toString() ?? wholeText()) : wholeText(),
      );
      toast(`Your text is now in ${made.path}.`);
      end(conflict.disk.text);
    } catch (error) {
      toast(sentence(error));
    }
  };
  return html`<section class="conflict" aria-label="Changed here and elsewhere">
    <header>
      <h2><${Icon} name="warn" />Changed here and elsewhere</h2>
      <p>
        The same lines were changed in two places. Copy what you want to keep into your text, then save it. Nothing is
        overwritten before that.
      </p>
      <div class="acts">
        <button class="primary" onClick=${() => end(merge.current?.b.state.doc.toString())}>Save your text</button>
        <button class="quiet" onClick=${() => void copy()}>Save mine as a copy</button>
        <button class="quiet" onClick=${() => end(conflict.disk.text)}>Use the text on disk</button>
        ${!NARROW.matches && html`<span class="num" role="status">${t.left(left.value)}</span>`}
      </div>
      ${!NARROW.matches && html`<div class="sides"><h3>On disk</h3><h3>Your text</h3></div>`}
    </header>
    <div class="merge" ref=${box}></div>
  </section>`;
}
