// Reading: the note, what links to it, and what is about it.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useSignal } from "../../../vendor/preact.js";
import { Key, keyName, useCommands } from "../../parts/commands.js";
import { copy, Empty, sentence, toast, Trouble } from "../../parts/say.js";
import { elsewhere, Ghost, Later, MenuButton } from "../../parts/lazy.js";
import { heightOf, lineAt } from "../../parts/measure.js";
import { useSheet } from "../../parts/sheet.js";
import { Entry, IconButton, Icon, Shape, typeName } from "../../parts/controls.js";
import { plain } from "../../parts/text.js";
import { address, arrival, beforeLeaving, changed, go, remember, remembered } from "../../state/address.js";
import { isNote, note, noteFault, readPiece, reopen } from "../../state/note.js";
import { folderOf, nameOf } from "../../state/query.js";
import { star, starred } from "../../state/settings.js";
import { health, mayWrite } from "../../state/vault.js";
import { laterWords } from "../../words-later.js";
import { count, fullDate } from "../../words.js";
import { showAnchor, showLine, stayAt } from "./anchor.js";
import { enhance } from "./enhance.js";
import { Hover, watchLinks } from "./hover.js";
import { Links } from "./links.js";
import { Hits, showHit } from "./marks.js";
import { Promote, Supersede, propertyOf } from "./promote.js";
import { Prose } from "./prose.js";
import { Side } from "./side.js";
import { overlay } from "../frame/frame.js";
/** @import { Note } from "../../state/note.js" */

const STILL = 150; // ms after the last scroll, when it is remembered

/** The height of the bar that covers the top of the text. @param {HTMLElement} scroller */
const barOf = (scroller) => /** @type {HTMLElement | null} */ (scroller.querySelector(".crumb"))?.offsetHeight ?? 0;

const READING = { enhance, watchLinks, Hover };

/** A note to read, or to edit where writing is on. @param {{ drawer: { value: boolean }, onSide: () => void }} props */
export function Read(props) {
  const styled = useSheet("prose.css");
  const { edit } = address.value;
  if (!styled || (edit && !health.value)) return html`<section class="read"><${Ghost} /></section>`;
  return edit && mayWrite.value && isNote(note.value)
    ? html`<${Later}
      load=${elsewhere.editor}
      name="Editor"
      props=${{ reading: READING }}
      waiting=${html`<section class="read"><${Ghost} /></section>`}
    />`
    : html`<${Reader} ...${props} />`;
}

/** @param {{ drawer: { value: boolean }, onSide: () => void }} props */
function Reader({ drawer, onSide }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const moved = useSignal(false);
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const read = note.value;
  const linked = isNote(read) && !noteFault.value; // an attachment has backlinks only, and what is gone nothing
  const writes = mayWrite.value && linked;
  const { note: wanted, at, line } = address.value;

  useLayoutEffect(() => {
    clearTimeout(timer.current); // what it would remember belongs to the entry before
    const scroller = box.current;
    if (!scroller || !read || read.id !== wanted) return;
    // The link that was followed is gone, and the focus with it.
    if (arrival.peek() !== "start" && document.activeElement === document.body) scroller.focus({ preventScroll: true });
    const { scroll, top } = remembered.peek();
    if (arrival.peek() === "back" && scroll !== undefined)
      return stayAt(scroller, () => void (scroller.scrollTop = scroll));
    if (top) return stayAt(scroller, () => void (scroller.scrollTop = heightOf(scroller, top) - barOf(scroller)));
    if (at) return showAnchor(scroller, at);
    if (line) return showHit(scroller) ? undefined : showLine(scroller, Number(line));
    scroller.scrollTop = 0;
  }, [read?.id === wanted, wanted, at, line]);
  useEffect(() => {
    if (read) document.title = `${plain(read.title, 80)} · vault-agent`;
  }, [read?.id, read?.title]);
  useEffect(() => watchLinks(/** @type {HTMLElement} */ (box.current)), [read?.id, read?.html]);

  useEffect(() => {
    beforeLeaving(() => box.current && remember({ scroll: Math.round(box.current.scrollTop) }));
    return () => beforeLeaving(() => {});
  }, []);
  const scrolled = () => {
    const top = box.current?.scrollTop ?? 0;
    if (moved.peek() !== top > 8) moved.value = top > 8;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => address.peek().note === wanted && remember({ scroll: Math.round(top) }), STILL);
  };
  const edits = () => {
    const scroller = box.current;
    const top = scroller?.scrollTop ? lineAt(scroller, scroller.scrollTop + barOf(scroller)) : 0;
    const side = /** @type {HTMLElement | null} */ (document.querySelector(".notes > .side"));
    const beside = matchMedia("(max-width: 1240px)").matches ? 0 : (side?.offsetWidth ?? 0); // else it is a drawer
    go({ note: address.peek().note, edit: "1" }, { kept: { top, beside } });
  };
  const close = () => go({ note: "" });
  useCommands(
    () =>
      [
        {
          id: "copy",
          name: "Copy a link to this note",
          icon: "link",
          run: () => void copy(location.href),
          hidden: !wanted,
        },
        {
          id: "star",
          name: "Star this note",
          icon: "star",
          run: () => note.peek() && star(/** @type {Note} */ (note.peek())),
          hidden: !wanted,
        },
        { id: "edit", name: "Edit this note", icon: "edit", keys: ["e", "Mod+e"], run: edits, hidden: !wanted },
        {
          id: "local",
          name: "Show this note in the graph",
          icon: "graph",
          run: () => go({ view: "graph", near: address.peek().note }),
          hidden: !wanted || !linked,
        },
      ].filter((command) => writes || command.id !== "edit"),
    [wanted, writes, linked],
  );

  const isStarred = starred.value.some(({ id }) => id === wanted);
  const folder = folderOf(read?.path ?? "");
  const title = plain(read?.title) || "Untitled";
  return html`
    <article
      class="read"
      tabindex="0"
      ref=${box}
      onScroll=${scrolled}
      aria-label=${read ? title : "Note"}
      aria-busy=${read?.id !== wanted}
      data-gone=${Boolean(noteFault.value)}
    >
      <div class="crumb" data-moved=${moved.value}>
        <${IconButton} icon="left" class="only-s" label="Back to the list" onClick=${close} />
        ${
          folder &&
          html`
            <button class="part cut hide" onClick=${() => go({ path: [folder], note: wanted })}>
              <bdi>${plain(folder, 80)}</bdi>
            </button>
            <span class="hide"><${Icon} name="right" small /></span>
          `
        }
        <span class="cut" dir="auto" title=${read && plain(read.path)}>${read && plain(nameOf(read.path))}</span>
        <${Hits} box=${box} />
        <div class="acts">
          ${
            read &&
            html`<${IconButton}
              icon="star"
              label="Star this note"
              aria-pressed=${isStarred}
              onClick=${() => star(read)}
            />`
          }
          ${read && linked && html`<${Promote} read=${read} /><${Supersede} read=${read} />`}
          ${
            !noteFault.value &&
            html`<${IconButton}
              icon="link"
              label="Copy a link to this note"
              onClick=${() => void copy(location.href)}
            />`
          }
          ${
            linked &&
            html`<a
              class="icon m-hide"
              href=${changed({ view: "graph", near: wanted })}
              aria-label="Open in the graph"
              title="Open in the graph"
            >
              <${Icon} name="graph" />
            </a>`
          }
          ${read && writes && html`<${More} read=${read} />`}
          ${!noteFault.value && html`<${IconButton} icon="side" label="Side panel" onClick=${onSide} />`}
          ${
            writes &&
            html`<button class="quiet" title=${`Edit this note (${keyName("e")})`} onClick=${edits}>
              <${Icon} name="edit" />
              <span class="m-hide">Edit</span>
              <span class="visually-hidden only-s">Edit</span>
            </button>`
          }
        </div>
      </div>
      ${
        noteFault.value &&
        html`<div class="doc">
          ${
            noteFault.value.status === 404
              ? html`<${Empty} icon="file" title="This note is gone">
                <p>It was deleted, renamed or moved after the list was made.</p>
              <//>`
              : html`<${Trouble} fault=${noteFault.value} again=${reopen} />`
          }
        </div>`
      }
      ${!read && !noteFault.value && html`<${Ghost} />`}
      ${
        read &&
        html`<div class="doc">
          <header><h1 dir="auto">${title}</h1><${Facts} read=${read} /></header>
          ${
            read.isBroken &&
            html`<p class="say" role="status"><${Icon} name="warn" />The properties of this note cannot be read.</p>`
          }
          ${read.source !== null ? html`<${Source} key=${read.tag} read=${read} />` : html`<${Prose} read=${read} />`}
          <${Links} key=${read.id} id=${read.id} named=${linked} />
        </div>`
      }
    </article>
    <${Hover} />
    ${read && html`<${Side} read=${read} box=${box} drawer=${drawer} />`}
  `;
}

/** @param {{ read: Note }} props */
function Facts({ read }) {
  const wordCount = useMemo(() => countWords(read.html), [read.html]);
  const status = propertyOf(read, "status");
  const origin = propertyOf(read, "promoted_from") && propertyOf(read, "project");
  return html`<div class="facts">
    ${
      read.type &&
      html`<span class="kind"><${Shape} type=${read.type} quiet /><bdi>${plain(typeName(read.type), 40)}</bdi></span>`
    }
    ${status && html`<bdi>${plain(status, 40)}</bdi>`}
    ${origin && html`<bdi>Promoted from ${plain(origin, 60)}</bdi>`}
    ${read.date && html`<time class="num" datetime=${read.date} title=${read.date}>${fullDate(read.date)}</time>`}
    ${wordCount > 0 && html`<span class="num">${laterWords.note.words(count(wordCount))}</span>`}
    ${read.tags
      .slice(0, 30)
      .map(
        (tag) =>
          html`<a class="tag" key=${tag} href=${changed({ tag: [tag], q: "" })}><bdi>${plain(tag, 60)}</bdi></a>`,
      )}
  </div>`;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const SEGMENTED = 20_000; // characters; longer texts are estimated

/** The number of words in rendered HTML, also where words have no spaces. @param {string} rendered */
function countWords(rendered) {
  const text = rendered.replace(/<[^>]*>/g, " ");
  const part = text.slice(0, SEGMENTED);
  const wordCount = [...segmenter.segment(part)].filter((segment) => segment.isWordLike).length;
  return Math.round((wordCount * text.length) / Math.max(1, part.length));
}

/** A note that is too large to render: its text, a piece at a time. @param {{ read: Note }} props */
function Source({ read }) {
  const pieces = useSignal([read.source ?? ""]);
  const busy = useSignal(false);
  const more = async () => {
    busy.value = true;
    try {
      const piece = await readPiece(read, pieces.peek().length);
      pieces.value = [...pieces.peek(), piece];
    } catch (error) {
      toast(sentence(error));
    }
    busy.value = false;
  };
  return html`
    <p class="say"><${Icon} name="info" />This note is too large to render. This is its source.</p>
    <pre class="raw" dir="auto" tabindex="0">
      ${pieces.value.map((piece, index) => html`<span key=${index}>${piece}</span>`)}
    </pre>
    ${
      pieces.value.length < read.pieces &&
      html`<button class="quiet" disabled=${busy.value} onClick=${more}>Show more</button>`
    }
  `;
}

/** @param {{ read: Note }} props */
function More({ read }) {
  const commands = [
    {
      id: "rename",
      name: "Rename or move",
      icon: "edit",
      keys: ["F2"],
      run: () => (overlay.value = { name: "move", path: read.path }),
    },
    {
      id: "delete",
      name: "Delete",
      icon: "x",
      run: () => (overlay.value = { name: "delete", path: read.path }),
    },
    {
      id: "writes",
      name: "Show or undo the last changes",
      icon: "clock",
      run: () => (overlay.value = { name: "writes" }),
    },
  ];
  useCommands(() => commands, [read.path]);
  /** @param {() => void} close */
  const entries = (close) =>
    commands.map(
      (command) => html`<${Entry}
        key=${command.id}
        icon=${command.icon}
        onClick=${() => {
          close();
          command.run();
        }}
      >
        ${command.name}
        ${command.keys && html`<span class="n"><${Key} keys=${command.keys[0]} /></span>`}
      <//>`,
    );
  return html`<${MenuButton}
    label="More"
    title="More"
    face=${html`<${Icon} name="more" />`}
    entries=${entries}
  />`;
}
