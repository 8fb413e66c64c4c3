// The words of the page, and what `Intl` does with numbers and dates.

import { en } from "../locale/en.js";

/** The locale of numbers and dates: an English one, as the words are. */
export const locale = /^en\b/i.test(navigator.language) ? navigator.language : "en";

export const words = en;

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
  if (seconds < 60) return words.time.now;
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
  if (seconds < 1) return words.time.milliseconds(count(Math.round(seconds * 1000)));
  if (seconds < 90) return words.time.seconds(count(Math.round(seconds)));
  return words.time.minutes(count(Math.round(seconds / 60)));
}

const SIZES = ["B", "KB", "MB", "GB"];
/** @param {number} bytes */
export function fileSize(bytes) {
  let value = bytes;
  let unit = 0;
  for (; value >= 1000 && unit < 3; unit += 1) value /= 1000;
  return `${numbers.format(value < 10 && unit ? Math.round(value * 10) / 10 : Math.round(value))} ${SIZES[unit]}`;
}
