// What is said above the text that is edited, and copies of it beside its note.

import { html, useEffect } from "../../../vendor/preact.js";
import { announce, sentence, toast } from "../../parts/say.js";
import { Icon } from "../../parts/controls.js";
import {
  answerOffer,
  clash,
  draftless,
  offered,
  saveFault,
  saveState,
  settle,
  editing,
  goOn,
  wholeText,
} from "../../state/editing.js";
import { laterWords } from "../../words-later.js";
import { fullDate } from "../../words.js";
import { clockName, dayName } from "../../state/days.js";
import { makeCopy } from "../../state/templates.js";

export function State() {
  const kind = clash.value?.kind;
  const name = kind === "merged" || kind === "gone" ? kind : saveState.value;
  const text = laterWords.edit.state[name];
  useEffect(() => {
    if (name !== "saving" && name !== "unsaved") announce(text);
  }, [name]);
  const why = saveFault.value ? sentence(saveFault.value) : "";
  return html`<span class="saved" data-state=${name} title=${why || text}>
    <i aria-hidden="true"></i>
    <span>${text}</span>
  </span>`;
}

/** @param {{ onCompare: () => void, onLeave: () => void }} props */
export function Notices({ onCompare, onLeave }) {
  const kind = clash.value?.kind;
  const save = () => void saveAsNew().catch((error) => toast(sentence(error)));
  const notices = /** @type {unknown[]} */ ([]);
  /** @param {string} icon @param {string} text @param {unknown} [acts] @param {boolean} [isBad] */
  const say = (icon, text, acts, isBad = false) =>
    notices.push(
      html`<div class=${isBad ? "say bad" : "say"} role=${isBad ? "alert" : "status"} key=${text}>
        <${Icon} name=${icon} />
        <span>${text}</span>
        ${acts && html`<span class="acts">${acts}</span>`}
      </div>`,
    );
  /** @param {string} label @param {() => void} run @param {string} [look] */
  const button = (label, run, look = "quiet") => html`<button class=${look} onClick=${run}>${label}</button>`;
  if (offered.value)
    say("clock", `Text from ${fullDate(new Date(offered.value.at).toISOString())} was not saved.`, [
      button("Restore it", () => answerOffer(true)),
      button("Discard it", () => answerOffer(false)),
    ]);
  if (kind === "merged")
    say("info", "This note was also changed elsewhere. Both changes fit, and the lines from elsewhere are marked.", [
      button("Compare", onCompare),
      button("Keep both", () => settle(), "primary"),
    ]);
  if (kind === "gone")
    say(
      "warn",
      "This note was deleted or renamed elsewhere. What you see is only in this browser.",
      [button("Close it", onLeave), button("Save as new", save, "primary")],
      true,
    );
  const isRefused = saveState.value === "refused";
  if ((isRefused || saveState.value === "failed") && saveFault.value)
    say("warn", sentence(saveFault.value), null, isRefused);
  if (draftless.value) say("warn", "This browser keeps no drafts. What is not saved is lost if the page is closed.");
  return notices.length ? html`<div class="notices">${notices}</div>` : null;
}

/** A path that is not taken, most likely. @param {string} path */
export function copyPath(path) {
  const now = new Date();
  return path.replace(/\.[^./]*$|$/, ` (conflict ${dayName(now)} ${clockName(now)}).md`);
}

/** Write the text of a note that is gone to a new one. */
async function saveAsNew() {
  const open = editing.peek();
  if (!open) return null;
  const text = wholeText();
  const made = await makeCopy(open.path, text).catch((error) =>
    error.code === "NOTE_EXISTS" ? makeCopy(copyPath(open.path), text) : Promise.reject(error),
  );
  goOn({ id: made.noteId, path: made.path }, made.hashAfter, text);
  return made;
}
