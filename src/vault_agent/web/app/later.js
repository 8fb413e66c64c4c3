// The words of parts that are loaded when they are first shown: the first view does without them.

import { enLater } from "../locale/en-later.js";
import { worded } from "./words.js";

export const later = worded(enLater);
