// Days and times as names of files and notes have them, in the time of this place.

const two = (/** @type {number} */ number) => String(number).padStart(2, "0");

/** A day, such as 2026-11-23. @param {Date} date */
export const dayName = (date) =>
  `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

/** A time of day to the second, such as 093005. @param {Date} date */
export const clockName = (date) => [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join("");
