// Differences of two texts by lines, and the merge of two texts with what they came from. Pure.

import { diffArrays } from "../../vendor/diff.js";

/** A part of the old text that was replaced: its lines from `from` to before `to`, and the new ones.
 * @typedef {{ from: number, to: number, lines: string[] }} Hunk */

const MOST = 1500; // changed lines; beyond that the whole middle counts as changed

/** Return how to make `to` of `from`, in order. @param {string[]} from @param {string[]} to @returns {Hunk[]} */
function differences(from, to) {
  let first = 0;
  const least = Math.min(from.length, to.length);
  while (first < least && from[first] === to[first]) first += 1;
  let last = 0;
  while (last < least - first && from[from.length - 1 - last] === to[to.length - 1 - last]) last += 1;
  const old = from.slice(first, from.length - last);
  const made = to.slice(first, to.length - last);
  const parts = diffArrays(old, made, { maxEditLength: MOST });
  if (!parts) return [{ from: first, to: first + old.length, lines: made }];
  /** @type {Hunk[]} */
  const hunks = [];
  let [line, changes] = [first, false];
  for (const { added, removed, value } of parts) {
    if ((added || removed) && !changes) hunks.push({ from: line, to: line, lines: [] });
    changes = added || removed;
    if (!added) line += value.length;
    const hunk = hunks.at(-1);
    if (removed && hunk) hunk.to = line;
    if (added && hunk) hunk.lines.push(...value);
  }
  return hunks;
}

/**
 * Merge two texts that were made of the same base, by lines.
 *
 * `text` has all changes of both; where they overlap, mine. `conflicts` is the number of such places.
 * `theirs` are the lines of `text` that come from them: the first, and the one after the last.
 *
 * @param {string} base @param {string} mine @param {string} theirs
 * @returns {{ text: string, conflicts: number, theirs: [number, number][] }}
 */
export function merge3(base, mine, theirs) {
  const old = base.split("\n");
  const ours = differences(old, mine.split("\n")).map((hunk) => ({ ...hunk, own: true }));
  const others = differences(old, theirs.split("\n")).map((hunk) => ({ ...hunk, own: false }));
  const hunks = [...ours, ...others].sort((a, b) => a.from - b.from || a.to - b.to);
  /** @type {string[]} */
  const out = [];
  /** @type {[number, number][]} */
  const theirLines = [];
  let [done, conflicts, index] = [0, 0, 0];
  while (index < hunks.length) {
    const start = hunks[index].from;
    let end = hunks[index].to;
    let next = index + 1;
    while (next < hunks.length && hunks[next].from <= end) end = Math.max(end, hunks[next++].to);
    const group = hunks.slice(index, next);
    out.push(...old.slice(done, start));
    const [own, other] = [true, false].map((side) =>
      applied(
        old,
        group.filter((hunk) => hunk.own === side),
        start,
        end,
      ),
    );
    const both = group.some((hunk) => hunk.own) && group.some((hunk) => !hunk.own);
    const taken = group.some((hunk) => hunk.own) ? own : other;
    if (both && own.join("\n") !== other.join("\n")) conflicts += 1;
    if (!both && taken === other) theirLines.push([out.length, out.length + taken.length]);
    out.push(...taken);
    [done, index] = [end, next];
  }
  out.push(...old.slice(done));
  return { text: out.join("\n"), conflicts, theirs: theirLines };
}

/**
 * The lines from `start` to before `end` after some hunks.
 * @param {string[]} old
 * @param {Hunk[]} hunks
 * @param {number} start
 * @param {number} end
 */
function applied(old, hunks, start, end) {
  const out = [];
  let done = start;
  for (const hunk of hunks) {
    out.push(...old.slice(done, hunk.from), ...hunk.lines);
    done = hunk.to;
  }
  return [...out, ...old.slice(done, end)];
}

/**
 * The smallest changes of a text, by lines, as an editor takes them: from and to in characters.
 * @param {string} before @param {string} after @returns {{ from: number, to: number, insert: string }[]}
 */
export function changesOf(before, after) {
  const old = before.split("\n");
  const starts = [0];
  for (const line of old) starts.push(/** @type {number} */ (starts.at(-1)) + line.length + 1);
  const length = before.length;
  return differences(old, after.split("\n")).map(({ from, to, lines }) => {
    let [first, last] = [starts[from], starts[to]];
    let insert = lines.map((line) => `${line}\n`).join("");
    if (last > length) {
      // The last line has no end: what is before it takes part.
      last = length;
      if (lines.length) insert = insert.slice(0, -1);
      else if (first > 0) first -= 1;
      if (first > length) [first, insert] = [length, `\n${insert}`];
    }
    return { from: first, to: last, insert };
  });
}
