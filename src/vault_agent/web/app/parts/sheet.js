// A sheet of styles that is loaded when the view that needs it is first shown.

import { useEffect, useSignal } from "../../vendor/preact.js";

/** @type {Map<string, HTMLLinkElement>} */
const sheets = new Map();

/** Load a sheet once, and return whether it is there. @param {string} name such as "graph.css" */
export function useSheet(name) {
  const ready = useSignal(Boolean(sheets.get(name)?.sheet));
  useEffect(() => {
    const known = sheets.get(name); // looked up here: parts that are drawn together ask before one has loaded it
    const link = known ?? document.createElement("link");
    if (!known) {
      sheets.set(name, link);
      link.rel = "stylesheet";
      link.href = new URL(`../../css/${name}`, import.meta.url).href;
      document.head.append(link);
    }
    if (link.sheet) ready.value = true;
    else link.addEventListener("load", () => (ready.value = true), { once: true });
  }, []);
  return ready.value;
}
