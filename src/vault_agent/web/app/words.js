// The words that are made or chosen, and what `Intl` does with numbers and dates.

/** The locale of numbers and dates: an English one, as the words are. */
const locale = /^en\b/i.test(navigator.language) ? navigator.language : "en";

/** @param {number} n @param {string} one @param {string} many */
export const some = (n, one, many) => (n === 1 ? one : many);

/** Words that are made or chosen: with a number or a name, or by a kind. Others stand where they are shown. */
export const words = {
  types: {
    journal: "Journal",
    decision: "Decision",
    module: "Module",
    note: "Note",
    pattern: "Pattern",
    bug: "Bug",
    snippet: "Snippet",
  },
  kinds: {
    journal: "Journals",
    decision: "Decisions",
    module: "Modules",
    note: "Notes",
    pattern: "Patterns",
    bug: "Bugs",
    snippet: "Snippets",
  },
  views: {
    nav: "Views",
    notes: "Notes",
    graph: "Graph",
    memory: "Memory",
    jobs: "Jobs",
    settings: "Settings",
    more: "More",
  },
  top: {
    theme: { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" },
  },
  stats: {
    notes: (/** @type {number} */ n) => some(n, "note", "notes"),
    links: (/** @type {number} */ n) => some(n, "link", "links"),
    indexed: (/** @type {string} */ when) => `Last indexed ${when}`,
    states: { live: "Live", reconnecting: "Reconnecting", stopped: "Stopped" },
  },
  gates: {
    session: {
      title: "Open the page again",
      text:
        "This page has no session, or it has ended. " +
        "On the command line, run this; with --print, it prints the address for another browser:",
      command: "vault-agent ui",
    },
    novault: {
      title: "The server does not have this vault",
      text:
        "It was removed from the list of vaults, or several vaults are switched off. " +
        "On the command line, vault-agent vaults shows them.",
      act: "Open the server's own vault",
    },
    vault: {
      title: "The server serves another vault now",
      text: "The server serves another folder than this page was opened for. Nothing is sent any more.",
      act: "Open the other vault",
    },
  },
  notes: {
    mode: { lexical: "Words", hybrid: "Hybrid", embedding: "Meaning" },
    results: (/** @type {string} */ n, /** @type {boolean} */ more) =>
      `${n}${more ? "+" : ""} ${n === "1" && !more ? "result" : "results"}`,
    total: (/** @type {string} */ n) => `${n} ${n === "1" ? "note" : "notes"}`,
    sort: {
      best: "Best match",
      updated: "Updated",
      created: "Created",
      title: "Title",
      connections: "Connections",
      label: "Order",
    },
    connections: (/** @type {number} */ n) => `${n} ${some(n, "connection", "connections")}`,
  },
};

const numbers = new Intl.NumberFormat(locale);
const days = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const dates = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric" });
const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
export const collator = new Intl.Collator(locale, { numeric: true });

/** @param {number} value */
export const count = (value) => numbers.format(value);

/** The time of a date as notes write it, or NaN. A date alone is a day here. @param {string | null | undefined} text */
export function timeOf(text) {
  if (!text) return Number.NaN;
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text.trim());
  return day ? new Date(Number(day[1]), Number(day[2]) - 1, Number(day[3])).getTime() : Date.parse(text);
}

/** A short date: relative under seven days. @param {string | null | undefined} text */
export function shortDate(text) {
  const time = timeOf(text);
  if (Number.isNaN(time)) return text ? text.slice(0, 10) : "";
  const ago = (Date.now() - time) / 1000;
  if (ago < 7 * 86_400 && ago > -60) return agoWords(ago);
  return (new Date(time).getFullYear() === new Date().getFullYear() ? days : dates).format(time);
}

/** How long ago something was. @param {number} seconds */
export function agoWords(seconds) {
  if (seconds < 60) return "just now";
  if (seconds < 3600) return relative.format(-Math.floor(seconds / 60), "minute");
  if (seconds < 86_400) return relative.format(-Math.floor(seconds / 3600), "hour");
  return relative.format(-Math.floor(seconds / 86_400), "day");
}

/** A date in full. @param {string | null | undefined} text */
export function fullDate(text) {
  const time = timeOf(text);
  if (Number.isNaN(time)) return text ?? "";
  return (/^\d{4}-\d\d-\d\d$/.test((text ?? "").trim()) ? dates : moments).format(time);
}

/** Seconds as a short time. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 1) return `${count(Math.round(seconds * 1000))} ms`;
  if (seconds < 90) return `${count(Math.round(seconds))} s`;
  return `${count(Math.round(seconds / 60))} min`;
}

const SIZES = ["B", "KB", "MB", "GB"];
/** @param {number} bytes */
export function fileSize(bytes) {
  let value = bytes;
  let unit = 0;
  for (; value >= 1000 && unit < 3; unit += 1) value /= 1000;
  return `${numbers.format(value < 10 && unit ? Math.round(value * 10) / 10 : Math.round(value))} ${SIZES[unit]}`;
}
