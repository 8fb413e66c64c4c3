// Runs before anything is drawn: a classic script, so that it is not deferred.
(() => {
  "use strict";
  const root = document.documentElement;
  // A ticket leaves the address before anything else can see it. wire.js takes it from here.
  const params = new URLSearchParams(location.hash.slice(1));
  const ticket = params.get("ticket");
  if (ticket) {
    history.replaceState(null, "", `${location.pathname}#${params.get("to") ?? ""}`);
    Object.defineProperty(window, "vaultAgentTicket", { value: ticket, configurable: true });
  }
  // One that is put into the address of an open page opens it anew.
  addEventListener("hashchange", () => location.hash.startsWith("#ticket=") && location.reload());
  /** @type {Record<string, string>} */
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem("va.settings") ?? "{}");
  } catch {
    // Storage is refused: the page works without it.
  }
  const dark = kept.theme === "dark" || (kept.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "dark" : "light";
  for (const name of ["size", "width", "face", "motion", "breaks"]) if (kept[name]) root.dataset[name] = kept[name];
  // What the page needs of a browser: these came last, with the versions that are named.
  if (!("any" in AbortSignal && "popover" in HTMLElement.prototype && "Segmenter" in Intl)) {
    document.addEventListener("DOMContentLoaded", () => document.getElementById("old")?.removeAttribute("hidden"));
  }
})();
