// The words of parts that are loaded when they are first shown: the first view does without them.

import { enLater } from "../locale/en-later.js";
import { count } from "./words.js";

export const later = enLater;

/** A share from 0 to 1 in percent. @param {unknown} share */
export const percent = (share) => `${count(Math.round(Number(share) * 100))} %`;
