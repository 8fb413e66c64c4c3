// The editor of a note: its text, properties and preview, and how it is saved.

import { html, useEffect, useLayoutEffect, useRef, useSignal } from "../../../vendor/preact.js";
import { EditorView } from "../../../vendor/codemirror.js";
import { keyName, useCommands } from "../../parts/commands.js";
import { announce, Empty, sentence, toast, Trouble } from "../../parts/say.js";
import { Later, MenuButton } from "../../parts/lazy.js";
import { useSheet } from "../../parts/sheet.js";
import { Choices, Entry, IconButton, useRoving, Icon } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { address, go, remembered } from "../../state/address.js";
import {
  attach,
  clash,
  closeEditor,
  draft,
  editFault,
  editing,
  editingNumber,
  firstBody,
  followed,
  head,
  headAsText,
  openEditor,
  save,
  typed,
  unsaved,
  wholeText,
} from "../../state/editing.js";
import { headingsOf } from "../../state/head.js";
import { note as read, reopen } from "../../state/note.js";
import { readOfVault, writeOfVault } from "../../state/settings.js";
import { LARGEST, nameForUpload, upload } from "../../state/uploads.js";
import { ask } from "../../wire.js";
import { laterWords } from "../../words-later.js";
import { overlay } from "../frame/frame.js";
import { put } from "./format.js";
import { Notices, State } from "./notices.js";
import { Properties } from "./properties.js";
import { firstPlace, makeSurface, showText, TOOLS } from "./surface.js";
import { showCursor, together } from "./sync.js";
/** @import { Open } from "../../state/disk.js" */
/** @import { Reading } from "./preview.js" */

const PREVIEW = () => import("./preview.js");
const CONFLICT = () => import("./conflict.js"); // with the part that shows differences

const AIR = 16; // px above the line at which one begins
const MODES = /** @type {const} */ (["off", "beside", "instead"]);

/** @param {{ reading: Reading }} props */
export function Editor({ reading }) {
  const { note: wanted } = address.value;
  const styled = useSheet("editor.css");
  useEffect(() => {
    // A note that was renamed elsewhere is open already.
    if (editing.peek()?.id !== wanted) void openEditor(wanted);
  }, [wanted]);
  useEffect(() => () => void closeEditor(), []);
  const open = editing.value;
  useEffect(() => {
    if (open && open.id !== address.peek().note) {
      toast(`The note is now ${open.path}.`);
      go({ note: open.id, edit: "1" }, { replace: true });
    }
  }, [open?.id]);
  if (editFault.value) {
    const gone = editFault.value.status === 404;
    return html`<section class="read" tabindex="0">
      <div class="doc">
        ${
          gone
            ? html`<${Empty} icon="file" title="This note is gone">
              <p>It was deleted, renamed or moved after the list was made.</p>
            <//>`
            : html`<${Trouble} fault=${editFault.value} again=${() => void openEditor(wanted)} />`
        }
      </div>
    </section>`;
  }
  if (!open || !styled) return html`<section class="edit" aria-busy="true"></section>`;
  return html`<${Page} key=${editingNumber.value} reading=${reading} />`;
}

/** @param {{ reading: Reading }} props */
function Page({ reading }) {
  const open = /** @type {Open} */ (editing.value);
  const [field, source, previewBox] = [
    useRef(/** @type {HTMLElement | null} */ (null)),
    useRef(/** @type {HTMLElement | null} */ (null)),
    useRef(/** @type {HTMLElement | null} */ (null)),
  ];
  const view = useRef(/** @type {EditorView | null} */ (null));
  const mode = useSignal(/** @type {typeof MODES[number]} */ (readOfVault("preview", "off")));
  const version = useSignal(0);
  const compared = useSignal(false);
  const ready = useSignal(false); // whether a preview was shown
  const fileInput = useRef(/** @type {HTMLInputElement | null} */ (null));
  const conflict = clash.value?.kind === "conflict" || (clash.value?.kind === "merged" && compared.value);

  const current = () => editing.peek() ?? open; // it may have been renamed since this was drawn
  const above = () => head.peek().split("\n").length - 1; // lines of the file above the text
  /** The line of the file at the top of the view, with a fraction; or 0. */
  const topLine = () => {
    const [text, pane] = [view.current, source.current];
    const y = text && pane ? pane.getBoundingClientRect().top + AIR - text.documentTop : 0;
    if (!text || y <= AIR) return 0;
    const block = text.lineBlockAtHeight(y);
    return text.state.doc.lineAt(block.from).number + above() + (y - block.top) / Math.max(1, block.height);
  };
  const done = async () => {
    const note = read.peek();
    await save();
    if (clash.peek()) return;
    go({ note: current().id, edit: "" }, { replace: true, kept: { top: topLine() } }); // Back leads past the editor
    if (note) setTimeout(reopen, 50);
    setTimeout(
      () => /** @type {HTMLElement | null} */ (document.querySelector("article.read"))?.focus({ preventScroll: true }),
      100,
    );
  };
  const add = async (/** @type {File[]} */ files, /** @type {number | null} */ at) => {
    for (const file of files) {
      if (file.size > LARGEST) {
        toast(laterWords.edit.files.refused(plain(nameForUpload(file), 80), "A file may have 50 MB."));
        continue;
      }
      announce(`Adding ${nameForUpload(file)}`);
      try {
        const link = await upload(file, current());
        const editor = view.current;
        if (editor) {
          if (at !== null) editor.dispatch({ selection: { anchor: Math.min(at, editor.state.doc.length) } });
          put(editor, `${link}\u0001`);
          at = editor.state.selection.main.head;
        }
        toast(`Added ${plain(nameForUpload(file), 80)}`);
      } catch (error) {
        toast(laterWords.edit.files.refused(plain(nameForUpload(file), 80), sentence(error)));
      }
    }
  };
  const follow = async (/** @type {{ target: string, wiki: boolean }} */ link) => {
    if (!link.wiki && /^[a-z][a-z0-9+.-]*:/i.test(link.target)) {
      if (/^(https?|mailto):/i.test(link.target)) window.open(link.target, "_blank", "noopener,noreferrer");
      return;
    }
    const name = link.wiki ? `[[${link.target}]]` : `[](${link.target})`;
    const reply = await ask("GET", "/resolve", { query: { name, from: current().id } }).catch(() => null);
    const to = reply?.data.notes[0];
    if (to) go({ note: to.noteId, at: reply?.data.anchor ?? "", edit: "" });
    else overlay.value = { name: "create", title: link.target.split("#")[0] };
  };

  useLayoutEffect(() => {
    const editor = makeSurface({
      parent: /** @type {HTMLElement} */ (field.current),
      doc: firstBody(),
      note: current,
      onType: () => {
        version.value += 1;
        typed();
      },
      onKey: (name) =>
        void (name === "save"
          ? save()
          : name === "image"
            ? fileInput.current?.click()
            : name === "preview"
              ? cycle()
              : done()),
      onFiles: (files, at) => {
        if (files.length) void add(files, at);
        return files.length > 0;
      },
      onLink: (link) => void follow(link),
      onFault: (fault) => toast(sentence(fault)),
      onBlur: () => void (unsaved() && save()),
    });
    view.current = editor;
    const detach = attach({
      body: () => editor.state.doc.toString(),
      show: (body, marks, own) => {
        showText(editor, body, marks, own);
        version.value += 1;
      },
    });
    const first = Number(address.peek().line) || Math.floor(remembered.peek().top ?? 0);
    if (first) {
      const { from } = editor.state.doc.line(Math.max(1, Math.min(editor.state.doc.lines, first - above())));
      editor.dispatch({
        selection: { anchor: from },
        effects: EditorView.scrollIntoView(from, { y: "start", yMargin: AIR }),
      });
    } else editor.dispatch({ selection: { anchor: firstPlace(editor.state.doc.toString()) } });
    editor.focus();
    const saveIfHidden = () => {
      if (document.visibilityState !== "hidden") return;
      draft();
      void save();
    };
    document.addEventListener("visibilitychange", saveIfHidden);
    return () => {
      document.removeEventListener("visibilitychange", saveIfHidden);
      detach();
      editor.destroy();
    };
  }, []);
  useEffect(() => {
    if (followed.value) announce("The note was changed elsewhere. You see the new text.");
  }, [followed.value]);
  useEffect(() => void (document.title = `${plain(open.title, 80)} · vault-agent`), [open.title]);
  useEffect(() => {
    if (mode.value === "off") ready.value = false;
    if (!ready.value || conflict || !previewBox.current || !source.current || !view.current) return;
    if (mode.value === "beside") return together(view.current, source.current, previewBox.current, above);
    showCursor(view.current, previewBox.current, above);
  }, [mode.value, conflict, ready.value]);

  const change = (/** @type {typeof MODES[number]} */ to) => {
    mode.value = to;
    writeOfVault("preview", to);
    announce(laterWords.edit.modes[to]);
    requestAnimationFrame(() =>
      to === "instead" ? previewBox.current?.focus() : (view.current?.requestMeasure(), view.current?.focus()),
    );
  };
  const cycle = () => change(MODES[(MODES.indexOf(mode.peek()) + 1) % 3]);
  const tool = (/** @type {string} */ name) => {
    const run = TOOLS.find(([id]) => id === name)?.[2];
    if (!run) fileInput.current?.click();
    else if (view.current) run(view.current);
  };
  useCommands(
    () => [
      { id: "preview", name: "Change the preview", icon: "notes", keys: ["Mod+e"], run: cycle },
      { id: "save", name: "Save now", icon: "check", keys: ["Mod+s"], run: () => void save() },
      { id: "done", name: "Stop editing", icon: "check", keys: ["Mod+Shift+Enter"], run: () => void done() },
      {
        id: "follow",
        name: "Follow the link at the cursor",
        icon: "link",
        keys: ["Alt+Enter"],
        run: () => view.current?.focus(),
        hidden: true,
      },
      ...TOOLS.map(([name, keys]) => ({
        id: `md-${name}`,
        name: laterWords.edit.tool[name],
        icon: name === "wikilink" ? "brackets" : name === "numbers" ? "numbered" : name,
        keys: [keys],
        run: () => tool(name),
      })),
    ],
    [open.id],
  );

  const layout = conflict ? "off" : mode.value;
  return html`<section class="edit" aria-label=${`Edit ${plain(open.title, 100)}`} data-mode=${layout}>
    <header class="crumb">
      <${IconButton}
        icon="left"
        class="only-s"
        label="Back to the list"
        onClick=${() => void done().then(() => clash.peek() || go({ note: "" }))}
      />
      <h1 class="cut" dir="auto" title=${plain(open.path)}>${plain(open.title, 200) || "Untitled"}</h1>
      <${State} />
      <div class="acts">
        <${Outline} view=${view} />
        <${Choices}
          label=${laterWords.edit.modes.label}
          value=${mode.value}
          choices=${MODES.map((value) => ({
            value,
            face: html`<${Icon} name=${{ off: "edit", beside: "columns", instead: "eye" }[value]} />`,
            name: laterWords.edit.modes[value],
          }))}
          onChoose=${change}
        />
        <button class="primary" onClick=${() => void done()}>Done</button>
      </div>
    </header>
    <${Notices} onCompare=${() => (compared.value = true)} onLeave=${() => go({ note: "", edit: "" })} />
    ${!conflict && layout !== "instead" && html`<${Toolbar} onTool=${tool} />`}
    <input
      type="file"
      class="visually-hidden"
      tabindex=${-1}
      aria-hidden="true"
      multiple
      ref=${fileInput}
      onChange=${(/** @type {Typed} */ event) => {
        void add([...(event.target.files ?? [])], null);
        event.target.value = "";
      }}
    />
    <div class="panes">
      <div
        class="pane typed"
        ref=${source}
        hidden=${conflict || layout === "instead"}
        style=${{ "--beside": `${remembered.value.beside ?? 0}px` }}
      >
        <div class="sheetlike">
          <${Properties} key=${open.id} />
          <div class="field-md" ref=${field} data-head=${headAsText.value}></div>
        </div>
      </div>
      ${
        conflict &&
        html`<${Later}
          load=${CONFLICT}
          name="Conflict"
          props=${{
            onEnd: () => {
              compared.value = false;
              requestAnimationFrame(() => view.current?.focus());
            },
          }}
        />`
      }
      ${
        layout !== "off" &&
        html`<${Later}
          load=${PREVIEW}
          name="Preview"
          props=${{
            text: wholeText,
            version,
            note: open,
            reading,
            box: previewBox,
            onShown: () => void (ready.value = true),
          }}
        />`
      }
    </div>
  </section>`;
}

/** @param {{ onTool: (name: string) => void }} props */
function Toolbar({ onTool }) {
  const walk = useRoving("button");
  return html`<div class="tools-md" role="toolbar" aria-label="Format" ...${walk}>
    ${TOOLS.map(
      ([name, keys]) =>
        html`<${IconButton}
          icon=${name === "wikilink" ? "brackets" : name === "numbers" ? "numbered" : name}
          label=${laterWords.edit.tool[name]}
          key=${name}
          title=${`${laterWords.edit.tool[name]} (${keyName(keys)})`}
          aria-keyshortcuts=${keys.replace("Mod", "Control")}
          onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()}
          onClick=${() => onTool(name)}
        />`,
    )}
  </div>`;
}

/** The headings of the text, in a menu. @param {{ view: { current: EditorView | null } }} props */
function Outline({ view }) {
  const entries = (/** @type {() => void} */ close) => {
    const headings = headingsOf(view.current?.state.doc.toString() ?? "");
    const top = Math.min(...headings.map(({ level }) => level));
    const jump = (/** @type {number} */ at) => {
      close();
      view.current?.dispatch({
        selection: { anchor: at },
        effects: EditorView.scrollIntoView(at, { y: "start", yMargin: AIR }),
      });
      view.current?.focus();
    };
    if (!headings.length) return html`<${Entry} disabled>No headings yet<//>`;
    return headings.map(
      ({ level, name, at }) => html`<${Entry}
        key=${at}
        style=${{ paddingInlineStart: `calc(var(--s-2) + ${level - top} * var(--s-3))` }}
        onClick=${() => jump(at)}
      >
        <bdi class="cut">${plain(name, 120)}</bdi>
      <//>`,
    );
  };
  return html`<${MenuButton}
    label="Outline"
    title="Outline"
    face=${html`<${Icon} name="list" />`}
    entries=${entries}
  />`;
}
