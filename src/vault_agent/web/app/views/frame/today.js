// The daily note of today.

import { sentence, toast } from "../../parts/say.js";
import { go } from "../../state/address.js";
import { dailyNotes, newDay } from "../../state/daily.js";
import { dayName } from "../../state/stamp.js";
import { mayWrite } from "../../state/vault.js";
import { later } from "../../later.js";
import { overlay } from "./overlay.js";

/** Open the note of today, or offer to make one. */
export async function openToday() {
  const name = dayName(new Date());
  try {
    const known = (await dailyNotes(name.slice(0, 7))).get(name);
    if (known) go({ view: "notes", note: known.id });
    else if (mayWrite.value) overlay.value = { name: "create", title: await newDay(name) };
    else toast(later.start.noToday);
  } catch (error) {
    toast(sentence(error));
  }
}
