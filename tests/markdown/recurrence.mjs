// Reads [[rule, day], ...] and writes the next day of each, as the Tasks plugin finds it: with the
// library `rrule`, which also reads the rule, and with the plugin's step for short months: while a
// month or year is passed over, start one day earlier.
import { readFileSync } from "node:fs";
import rrule from "rrule";

const { RRule } = rrule;
const DAY = 24 * 60 * 60 * 1000;

function next(text, day) {
  const rule = text.replace(/ when done$/i, "");
  const options = RRule.parseText(rule);
  const shown = new RRule(options).toText();
  const months = shown.match(/every( \d+)? months?/) && !shown.includes(" on ");
  const years = shown.match(/every( \d+)? years?/);
  const step = options.interval ?? 1;
  let start = new Date(`${day}T00:00:00Z`);
  for (;;) {
    const found = new RRule({ ...options, dtstart: start }).after(start);
    if (found === null) return null;
    const passed = found.getUTCFullYear() - start.getUTCFullYear();
    const passedMonths = passed * 12 + found.getUTCMonth() - start.getUTCMonth();
    if (!(months && passedMonths > step) && !(years && passed > step)) {
      return found.toISOString().slice(0, 10);
    }
    start = new Date(start.getTime() - DAY);
  }
}

const asked = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(asked.map(([text, day]) => next(text, day))));
