// The daily note of today.

import { sentence, toast } from "../../parts/say.js";
import { go } from "../../state/address.js";
import { dailyNotes, newDay, dayName } from "../../state/days.js";
import { mayWrite } from "../../state/vault.js";
import { overlay } from "./frame.js";

/** Open the note of today, or offer to make one. */
export async function openToday() {
  const name = dayName(new Date());
  try {
    const note = (await dailyNotes(name.slice(0, 7))).get(name);
    if (note) go({ view: "notes", note: note.id });
    else if (mayWrite.value) overlay.value = { name: "create", title: await newDay(name) };
    else toast("There is no note of today.");
  } catch (error) {
    toast(sentence(error));
  }
}
