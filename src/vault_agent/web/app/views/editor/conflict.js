// The same lines were changed here and elsewhere: both texts side by side, each part taken left or right.

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
import { Icon } from "../../parts/sign.js";
import { clash, editing, settle, wholeText } from "../../state/editing.js";
import { makeCopy } from "../../state/templates.js";
import { later } from "../../later.js";
import { copyPath } from "./copies.js";
import { language } from "./language.js";
import { lineLooks } from "./lines.js";
import { nonced } from "./language.js";
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
  const t = later.edit.conflict;
  const mergeControls = (/** @type {"accept" | "reject"} */ type, /** @type {(event: MouseEvent) => void} */ act) => {
    const button = document.createElement("button");
    button.className = "quiet";
    button.textContent = type === "accept" ? t.keepMine : t.takeTheirs;
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
  announce(t.title);
  return () => {
    b.destroy();
    merge.current = null;
  };
}

/** @param {{ onEnd: () => void }} given */
export function Conflict({ onEnd }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const merge = useRef(/** @type {{ b: EditorView } | null} */ (null));
  const left = useSignal(0);
  const now = clash.value;
  const t = later.edit.conflict;

  useEffect(() => {
    if (!now || !box.current) return;
    const shared = [
      nonced(),
      EditorView.lineWrapping,
      language(),
      lineLooks,
      drawSelection(),
      EditorState.phrases.of(later.edit.phrases),
    ];
    const counted = EditorView.updateListener.of(() => {
      if (merge.current instanceof MergeView) left.value = merge.current.chunks.length;
    });
    const mine = [
      ...shared,
      history(),
      keymap.of([...historyKeymap, ...defaultKeymap]),
      EditorView.contentAttributes.of({ "aria-label": t.mine }),
    ];
    if (NARROW.matches) return narrow(box.current, now, mine, merge);
    const made = new MergeView({
      a: {
        doc: now.disk.text,
        extensions: [
          ...shared,
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({ "aria-label": t.theirs, "aria-readonly": "true" }),
        ],
      },
      b: {
        doc: now.text,
        extensions: [...mine, counted],
      },
      parent: box.current,
      revertControls: "a-to-b",
      renderRevertControl: () => {
        const button = document.createElement("button");
        button.textContent = "→";
        button.title = t.take;
        button.setAttribute("aria-label", t.take);
        return button;
      },
      highlightChanges: true,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    merge.current = made;
    left.value = made.chunks.length;
    announce(t.title);
    made.b.focus();
    return () => {
      made.destroy();
      merge.current = null;
    };
  }, [now?.disk.hash]);
  if (!now) return null;

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
        now.kind === "conflict" ? (merge.current?.b.state.doc.toString() ?? wholeText()) : wholeText(),
      );
      toast(t.copied(made.path));
      end(now.disk.text);
    } catch (error) {
      toast(sentence(error));
    }
  };
  return html`<section class="conflict" aria-label=${t.title}>
    <header>
      <h2><${Icon} name="warn" />${t.title}</h2>
      <p>${t.text}</p>
      <div class="acts">
        <button class="primary" onClick=${() => end(merge.current?.b.state.doc.toString())}>${t.save}</button>
        <button class="quiet" onClick=${() => void copy()}>${t.copy}</button>
        <button class="quiet" onClick=${() => end(now.disk.text)}>${t.drop}</button>
        ${!NARROW.matches && html`<span class="num" role="status">${t.left(left.value)}</span>`}
      </div>
      ${!NARROW.matches && html`<div class="sides"><h3>${t.theirs}</h3><h3>${t.mine}</h3></div>`}
    </header>
    <div class="merge" ref=${box}></div>
  </section>`;
}
