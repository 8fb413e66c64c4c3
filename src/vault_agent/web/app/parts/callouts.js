// The kinds of callouts that are known: their tone, and their icon.

const KINDS = /** @type {Record<string, [string, string]>} */ ({
  warning: ["warn", "warn"],
  caution: ["warn", "warn"],
  attention: ["warn", "warn"],
  question: ["warn", "help"],
  help: ["warn", "help"],
  faq: ["warn", "help"],
  tip: ["tip", "flame"],
  hint: ["tip", "flame"],
  important: ["tip", "flame"],
  abstract: ["tip", "list"],
  summary: ["tip", "list"],
  tldr: ["tip", "list"],
  success: ["ok", "check"],
  check: ["ok", "check"],
  done: ["ok", "check"],
  failure: ["bad", "x"],
  fail: ["bad", "x"],
  missing: ["bad", "x"],
  danger: ["bad", "warn"],
  error: ["bad", "warn"],
  bug: ["bad", "warn"],
  example: ["plum", "list"],
  quote: ["quiet", "quote"],
  cite: ["quiet", "quote"],
  todo: ["info", "task"],
});

/** @param {string | undefined} kind */
export const calloutLook = (kind) => KINDS[kind?.toLowerCase() ?? ""] ?? ["info", "info"];
