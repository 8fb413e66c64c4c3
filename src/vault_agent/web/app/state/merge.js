// Differences of two texts by lines, and the merge of two texts with what they came from. Pure.

/** A part of the old text that was replaced: its lines from `from` to before `to`, and the new ones.
 * @typedef {{ from: number, to: number, lines: string[] }} Hunk */

const MOST = 1500; // changed lines; beyond that the whole middle counts as changed

/**
 * Return how to make `to` of `from`, in order. Both are lists of lines.
 * @param {string[]} from @param {string[]} to @returns {Hunk[]}
 */
export function differences(from, to) {
  let first = 0;
  const least = Math.min(from.length, to.length);
  while (first < least && from[first] === to[first]) first += 1;
  let last = 0;
  while (last < least - first && from[from.length - 1 - last] === to[to.length - 1 - last]) last += 1;
  const old = from.slice(first, from.length - last);
  const made = to.slice(first, to.length - last);
  if (!old.length && !made.length) return [];
  const pairs = old.length && made.length ? common(old, made) : [];
  /** @type {Hunk[]} */
  const hunks = [];
  let [a, b] = [0, 0];
  for (const [x, y] of [...pairs, [old.length, made.length]]) {
    if (x > a || y > b) hunks.push({ from: first + a, to: first + x, lines: made.slice(b, y) });
    [a, b] = [x + 1, y + 1];
  }
  return hunks;
}

/**
 * The lines that both have, as pairs of numbers (Myers). None if they differ too much.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {[number, number][]}
 */
function common(a, b) {
  const [n, m] = [a.length, b.length];
  const most = Math.min(n + m, MOST);
  const middle = most + 1;
  const reach = new Int32Array(2 * most + 3);
  /** @type {Int32Array[]} */
  const trace = [];
  for (let d = 0; d <= most; d += 1) {
    trace.push(reach.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let x =
        k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1])
          ? reach[middle + k + 1]
          : reach[middle + k - 1] + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) x += 1;
      reach[middle + k] = x;
      if (x >= n && x - k >= m) return walked(trace, n, m);
    }
  }
  return [];
}

/** @param {Int32Array[]} trace @param {number} n @param {number} m @returns {[number, number][]} */
function walked(trace, n, m) {
  /** @type {[number, number][]} */
  const pairs = [];
  let [x, y] = [n, m];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reach = trace[d];
    const at = (/** @type {number} */ k) => reach[k + d + 1];
    const k = x - y;
    const above = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const px = d ? at(above) : 0;
    const py = d ? px - above : 0;
    while (x > px && y > py) pairs.push([--x, --y]);
    [x, y] = [px, py];
  }
  return pairs.reverse();
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
  const ours = differences(old, mine.split("\n")).map((each) => ({ ...each, own: true }));
  const others = differences(old, theirs.split("\n")).map((each) => ({ ...each, own: false }));
  const hunks = [...ours, ...others].sort((a, b) => a.from - b.from || a.to - b.to);
  /** @type {string[]} */
  const out = [];
  /** @type {[number, number][]} */
  const from = [];
  let [done, conflicts, at] = [0, 0, 0];
  while (at < hunks.length) {
    const start = hunks[at].from;
    let end = hunks[at].to;
    let next = at + 1;
    while (next < hunks.length && hunks[next].from <= end) end = Math.max(end, hunks[next++].to);
    const group = hunks.slice(at, next);
    out.push(...old.slice(done, start));
    const [own, other] = [true, false].map((side) =>
      applied(
        old,
        group.filter((each) => each.own === side),
        start,
        end,
      ),
    );
    const both = group.some((each) => each.own) && group.some((each) => !each.own);
    const taken = group.some((each) => each.own) ? own : other;
    if (both && own.join("\n") !== other.join("\n")) conflicts += 1;
    if (!both && taken === other) from.push([out.length, out.length + taken.length]);
    out.push(...taken);
    [done, at] = [end, next];
  }
  out.push(...old.slice(done));
  return { text: out.join("\n"), conflicts, theirs: from };
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
  for (const each of hunks) {
    out.push(...old.slice(done, each.from), ...each.lines);
    done = each.to;
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
