// A sheet of styles that is loaded when what needs it is first shown.

import { useEffect, useSignal } from "../../vendor/preact.js";

/** @type {Map<string, Promise<HTMLLinkElement>>} */
const sheets = new Map();
/** Those that are there. @type {Set<string>} */
const ready = new Set();

/** Load a sheet once. @param {string} name such as "graph.css" */
export function loadSheet(name) {
  const sheet = sheets.get(name);
  if (sheet) return sheet;
  const link = document.createElement("link");
  const loading = new Promise((done, failed) => {
    link.addEventListener("load", () => (ready.add(name), done(link)), { once: true });
    link.addEventListener("error", () => (sheets.delete(name), link.remove(), failed()), { once: true });
  });
  sheets.set(name, loading);
  link.rel = "stylesheet";
  link.href = new URL(`../../css/${name}`, import.meta.url).href;
  document.head.append(link);
  return loading;
}

/** Load a sheet once, and return whether it is there. @param {string} name */
export function useSheet(name) {
  const isReady = useSignal(ready.has(name));
  useEffect(() => {
    void loadSheet(name).then(
      () => (isReady.value = true),
      () => {}, // without its sheet, nothing is shown
    );
  }, []);
  return isReady.value;
}
