// The note that is edited: loaded, saved, kept as a draft, and brought together with what others write.

import { signal } from "../../vendor/preact.js";
import { onNews } from "../events.js";
import { readDisk, refusal, send } from "./disk.js";
import { draftOf, dropDraft, keepDraft } from "./drafts.js";
import { joined, splitHead } from "./head.js";
import { merge3 } from "./merge.js";
import { newKey } from "./files.js";
import { Saver } from "./saving.js";
import { lately } from "./vault.js";
/** @import { Open } from "./disk.js" */
/** @import { Draft } from "./drafts.js" */
/** @import { State } from "./saving.js" */

/** @typedef {{ text: string, hash: string }} OnDisk */
/** What others have written meanwhile. `merged`: both fit, and are shown. `conflict`: they do not. `gone`: deleted.
 * @typedef {{ kind: "merged" | "conflict" | "gone", disk: OnDisk, text: string }} Clash */
/** What the text is shown in. `marks` are lines that others wrote, of the whole text.
 * @typedef {{ body: () => string, show: (body: string, marks: [number, number][], own: boolean) => void }} Surface */

export const editing = signal(/** @type {Open | null} */ (null));
/** Grows with each note that is opened, not when one is renamed. */
export const editingNumber = signal(0);
export const editFault = signal(/** @type {Fault | null} */ (null));
/** "saved", "unsaved", "saving", "failed", "refused" or "held". */
export const saveState = signal(/** @type {State} */ ("saved"));
export const saveFault = signal(/** @type {Fault | null} */ (null));
export const clash = signal(/** @type {Clash | null} */ (null));
/** A draft of another time that is not on disk. */
export const offered = signal(/** @type {Draft | null} */ (null));
/** The frontmatter with its fences, where it is not shown as text. */
export const head = signal("");
/** Whether the frontmatter is part of the text. */
export const headAsText = signal(false);
/** Grows when others changed the note, which is shown now. */
export const followed = signal(0);
/** Whether the browser keeps no drafts. */
export const draftless = signal(false);

const DRAFT_AFTER = 250; // ms after a key

/** What is being edited. A session that was left still ends its last save. `head` is empty where it is text.
 * @typedef {{ open: Open, head: string, surface: Surface, read: () => string, saver: Saver }} Session */
/** @type {Session | null} */
let session = null;
/** @type {Promise<void>} */
let closing = Promise.resolve();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let drafting;
let opened = 0;
let wanted = ""; // the note that was asked for last
let headTurn = /** @type {Promise<unknown>} */ (Promise.resolve());
let headTurns = 0; // changes of the frontmatter that wait or are on their way

/** A surface that nobody sees. @param {string} text @returns {Surface} */
const still = (text) => ({ body: () => text, show: () => {} });

/** @param {Session} mine @param {string} text */
function setHead(mine, text) {
  mine.head = text;
  if (session === mine) head.value = text;
}

/** @param {Open} open @param {OnDisk} disk */
function begin(open, disk) {
  const parts = splitHead(disk.text);
  /** @type {Session} */
  const mine = {
    open,
    head: parts.head,
    surface: still(parts.body), // until there is one
    read: () => joined(mine.head, mine.surface.body()),
    saver: new Saver({
      read: () => mine.read(),
      key: newKey,
      send: (save) => send(mine.open, save),
      tell: (state, fault) => {
        if (session !== mine) return;
        saveState.value = state;
        saveFault.value = fault ?? null;
      },
      saved: () => void (mine.saver.dirty || (session === mine && offered.peek()) || dropDraft(mine.open.id)),
      differ: (kind) => session === mine && void (kind === "gone" ? lookElsewhere(mine) : meet(mine)),
    }),
  };
  session = mine;
  head.value = parts.head;
  editingNumber.value += 1;
  editing.value = open;
  mine.saver.rebase(disk.text, disk.hash);
}

/** Open a note to edit. Resolves when `editing` has it, or `editFault` says why not. @param {string} id */
export async function openEditor(id) {
  const mine = ++opened;
  wanted = id;
  editFault.value = null;
  await closeEditor();
  if (mine !== opened) return;
  try {
    const disk = await readDisk(id);
    if (mine !== opened) return;
    const draft = draftOf(id);
    headAsText.value = false;
    clash.value = null;
    offered.value = draft && draft.text !== disk.text ? draft : null;
    if (draft && !offered.peek()) dropDraft(id);
    begin(disk.open, disk);
    const fault = await refusal(disk);
    if (!fault || mine !== opened || !session) return;
    saveState.value = "refused";
    saveFault.value = fault;
  } catch (error) {
    if (mine === opened) editFault.value = /** @type {Fault} */ (error);
  }
}

/** The editor that shows the text from now on. Return what takes it away; its text stays. @param {Surface} surface */
export function attach(surface) {
  const mine = session;
  if (mine) mine.surface = surface;
  return () => {
    const text = surface.body();
    if (mine?.surface === surface) mine.surface = still(text);
  };
}

/** The text that an editor begins with. */
export const firstBody = () => (session ? splitHead(session.saver.base.text, headAsText.peek()).body : "");
/** The whole text as it is now. */
export const wholeText = () => session?.read() ?? "";
export const save = () => session?.saver.flush();
/** Whether there is text that is not on disk. */
export const unsaved = () => Boolean(session?.saver.dirty);

/** The text was changed by the person. */
export function typed() {
  session?.saver.changed();
  clearTimeout(drafting);
  drafting = setTimeout(draft, DRAFT_AFTER);
}

/** Keep what is not on disk. */
export function draft() {
  clearTimeout(drafting);
  if (!session?.saver.dirty) return;
  const { open, saver } = session;
  const { text: base, hash } = saver.base;
  const isKept = keepDraft({
    id: open.id,
    path: open.path,
    title: open.title,
    text: session.read(),
    base,
    hash,
    at: Date.now(),
  });
  draftless.value = !isKept;
}

/**
 * Show a text, whole. `own`: it is the person's choice.
 * @param {Session} mine
 * @param {string} text
 * @param {[number, number][]} [marks]
 * @param {boolean} [own]
 */
function show(mine, text, marks = [], own = false) {
  const parts = splitHead(text, headAsText.peek());
  const above = parts.head ? parts.head.split("\n").length - 1 : 0;
  setHead(mine, parts.head);
  mine.surface.show(
    parts.body,
    marks.map(([from, to]) => [from - above, to - above]),
    own,
  );
}

/** Bring what is typed together with what is on disk now. @param {Session} mine */
async function meet(mine) {
  try {
    const disk = await readDisk(mine.open.id);
    if (disk && session === mine) bring(mine, mine.saver.base.text, disk);
  } catch (error) {
    if (/** @type {Fault} */ (error).status === 404) await lookElsewhere(mine);
    else setTimeout(() => session === mine && mine.saver.held && !clash.peek() && void meet(mine), 2000);
  }
}

/** @param {Session} mine @param {string} base @param {OnDisk} disk */
function bring(mine, base, disk) {
  const text = mine.read();
  if (text === disk.text || text === base) {
    show(mine, disk.text);
    if (text !== disk.text) followed.value += 1;
    clash.value = null;
    return mine.saver.rebase(disk.text, disk.hash);
  }
  const merged = merge3(base, text, disk.text);
  mine.saver.hold();
  mine.saver.base = { text: disk.text, hash: disk.hash };
  mine.saver.pending = null;
  if (!merged.conflicts) show(mine, merged.text, merged.theirs);
  clash.value = {
    kind: merged.conflicts ? "conflict" : "merged",
    disk: { text: disk.text, hash: disk.hash },
    text: merged.text,
  };
  draft();
}

/** Keep a text that a person has seen: the merged one, or one that a conflict ended in. @param {string} [text] */
export function settle(text) {
  const current = clash.peek();
  if (!current || !session) return;
  show(session, text ?? session.read(), [], true);
  clash.value = null;
  session.saver.rebase(current.disk.text, current.disk.hash);
  void session.saver.flush();
}

/** Show the draft that was offered, or forget it. @param {boolean} restored */
export function answerOffer(restored) {
  const offer = offered.peek();
  offered.value = null;
  if (!offer || !session) return;
  if (!restored) return void (session.saver.dirty ? draft() : dropDraft(offer.id));
  const disk = { ...session.saver.base };
  show(session, offer.text, [], true);
  if (offer.hash === disk.hash) return typed();
  session.saver.base = { text: offer.base, hash: offer.hash };
  bring(session, offer.base, disk);
}

/** Move the frontmatter into the text, or out of it. @param {boolean} asText */
export function showHead(asText) {
  if (!session) return;
  const text = session.read();
  headAsText.value = asText;
  show(session, text);
}

/** Change only the frontmatter, on disk. Changes take turns: each needs the hash that the one before left.
 * @param {(hash: string) => Promise<string | null>} write returns the new hash, or null if nothing was to be changed
 * @returns {Promise<boolean>} whether the text was saved before, without which nothing is written */
export function changeHead(write) {
  const mine = session;
  if (!mine) return Promise.resolve(false);
  headTurns += 1;
  const turn = headTurn.then(async () => {
    await mine.saver.flush();
    if (mine.saver.dirty || mine.saver.held) return false;
    const hash = await write(mine.saver.base.hash).catch(async (error) => {
      if (error.code === "HASH_MISMATCH") await headChanged(mine, "");
      throw error;
    });
    if (hash !== null) await headChanged(mine, hash);
    return true;
  });
  headTurn = turn.catch(() => {}).then(() => void (headTurns -= 1));
  return turn;
}

/** The frontmatter was changed on disk by the form. @param {Session} mine @param {string} hash */
async function headChanged(mine, hash) {
  const before = mine.saver.base.text;
  const disk = await readDisk(mine.open.id);
  if (!disk) return;
  const [old, now] = [splitHead(before), splitHead(disk.text)];
  if (disk.hash !== hash || old.body !== now.body) return session === mine ? bring(mine, before, disk) : undefined;
  setHead(mine, now.head);
  mine.saver.rebase(disk.text, disk.hash);
}

/** The note is not where it was: find where it was moved to, among those that changed. @param {Session} mine */
async function lookElsewhere(mine) {
  for (const id of lately) {
    const disk = id === mine.open.id ? null : await readDisk(id).catch(() => null);
    if (disk?.hash !== mine.saver.base.hash || session !== mine) continue;
    const old = mine.open.id;
    mine.open = { ...mine.open, id, path: disk.open.path, title: disk.open.title };
    editing.value = mine.open;
    clash.value = null;
    mine.saver.rebase(disk.text, disk.hash);
    draft();
    return dropDraft(old);
  }
  if (session !== mine) return;
  mine.saver.hold();
  clash.value = { kind: "gone", disk: { text: "", hash: "" }, text: mine.read() };
}

/**
 * The text was written to another note: go on there.
 * @param {{ id: string, path: string }} place
 * @param {string} hash
 * @param {string} text
 */
export function goOn(place, hash, text) {
  if (!session) return;
  if (session.open.id !== place.id) dropDraft(session.open.id);
  session.open = { ...session.open, ...place };
  editing.value = session.open;
  clash.value = null;
  session.saver.rebase(text, hash);
}

/** Save, and stop. Text that cannot be saved stays as a draft. Resolves when it is saved, or soon. */
export function closeEditor() {
  const mine = session;
  if (!mine) return closing;
  mine.surface = still(mine.surface.body());
  draft();
  session = null;
  editing.value = null;
  const saved = headTurn.then(() => mine.saver.flush());
  closing = Promise.race([saved, new Promise((done) => setTimeout(done, 1500))]).then(() => mine.saver.close());
  return closing;
}

/** Look whether others have changed the note. */
async function follow() {
  const mine = session;
  if (!mine || mine.saver.running || headTurns || clash.peek()?.kind === "conflict") return;
  try {
    const disk = await readDisk(mine.open.id);
    if (session !== mine || mine.saver.running || disk.hash === mine.saver.base.hash) return;
    bring(mine, mine.saver.base.text, disk);
  } catch (error) {
    if (/** @type {Fault} */ (error).status === 404 && session === mine) await lookElsewhere(mine);
  }
}

onNews(({ type, data }) => {
  if (type === "again" && editFault.peek() && editFault.peek()?.status !== 404) void openEditor(wanted);
  if (!session) return;
  const isGone = clash.peek()?.kind === "gone"; // it may come back under another name
  if (
    type === "revision" &&
    (isGone || !data.complete || data.noteIds.includes(session.open.id) || data.removed || data.renamed)
  )
    void follow();
  else if (type === "resync" || type === "again") {
    void session.saver.flush();
    void follow();
  }
});
