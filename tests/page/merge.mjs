// The merge of two texts, and the changes that an editor is given. No change of either side is lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf, merge3 } from "../../src/vault_agent/web/app/state/merge.js";

const lines = (...texts) => texts.join("\n");

/** Numbers below `most` that are the same in each run. */
function chooser(seed) {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % most;
  };
}

/** A text of few different lines, so that many of them are equal. */
function someText(choose) {
  return Array.from({ length: choose(9) }, () => "abc\r"[choose(4)].repeat(choose(3))).join("\n");
}

/** What an editor makes of a text by changes, all of which count characters of the text before. */
function applied(text, changes) {
  let [out, done] = ["", 0];
  for (const { from, to, insert } of changes) {
    assert.ok(done <= from && from <= to && to <= text.length, "changes are in order and inside the text");
    out += text.slice(done, from) + insert;
    done = to;
  }
  return out + text.slice(done);
}

test("changes of different lines are both kept", () => {
  const merged = merge3(
    lines("one", "two", "three", ""),
    lines("one mine", "two", "three", ""),
    lines("one", "two", "three theirs", ""),
  );
  assert.deepEqual(merged, { text: lines("one mine", "two", "three theirs", ""), conflicts: 0, theirs: [[2, 3]] });
});

test("lines that one side adds and the other has not touched are kept", () => {
  const merged = merge3(
    lines("a", "b", "c"),
    lines("mine", "a", "b", "c"),
    lines("a", "b", "c", "theirs 1", "theirs 2"),
  );
  assert.equal(merged.text, lines("mine", "a", "b", "c", "theirs 1", "theirs 2"));
  assert.deepEqual([merged.conflicts, merged.theirs], [0, [[4, 6]]]);
});

test("a line that both changed is mine, and counts as a conflict", () => {
  const merged = merge3(lines("a", "b", "c"), lines("a", "mine", "c"), lines("a", "theirs", "c"));
  assert.deepEqual(merged, { text: lines("a", "mine", "c"), conflicts: 1, theirs: [] });
});

test("a line that one side removed and the other changed is a conflict", () => {
  assert.equal(merge3(lines("a", "b", "c"), lines("a", "c"), lines("a", "theirs", "c")).conflicts, 1);
  const merged = merge3(lines("a", "b", "c"), lines("a", "mine", "c"), lines("a", "c"));
  assert.deepEqual([merged.text, merged.conflicts], [lines("a", "mine", "c"), 1]);
});

test("the same change of both sides is made once", () => {
  const merged = merge3(lines("a", "b"), lines("a", "new", "b"), lines("a", "new", "b"));
  assert.deepEqual(merged, { text: lines("a", "new", "b"), conflicts: 0, theirs: [] });
});

test("the end of the last line is part of the text", () => {
  assert.equal(merge3("a\nb", "a mine\nb", "a\nb\n").text, "a mine\nb\n");
  assert.equal(merge3("a\r\n\r\nb\r\n", "a\r\n\r\nmine\r\n", "theirs\r\n\r\nb\r\n").text, "theirs\r\n\r\nmine\r\n");
  assert.equal(merge3("", "", "theirs").text, "theirs");
});

test("a merge with a side that changed nothing is the other side", () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const choose = chooser(seed);
    const [base, other] = [someText(choose), someText(choose)];
    assert.deepEqual(merge3(base, other, base), { text: other, conflicts: 0, theirs: [] });
    assert.equal(merge3(base, base, other).text, other);
    assert.equal(merge3(base, base, other).conflicts, 0);
    assert.deepEqual(merge3(base, other, other), { text: other, conflicts: 0, theirs: [] });
  }
});

test("no line that a side wrote is lost, unless it is counted as a conflict", () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const choose = chooser(seed);
    const base = Array.from({ length: 2 + choose(9) }, (_, at) => `line ${at}`);
    const [mine, theirs] = ["mine", "theirs"].map((side) =>
      base.flatMap(
        (line, at) => [[line], [line], [line], [`${side} ${at}`], [], [line, `${side} new ${at}`]][choose(6)],
      ),
    );
    const merged = merge3(base.join("\n"), mine.join("\n"), theirs.join("\n"));
    const all = merged.text.split("\n");
    const written = (side, name) => side.filter((line) => line.startsWith(name));
    assert.deepEqual(written(all, "mine"), written(mine, "mine"));
    if (!merged.conflicts) {
      assert.deepEqual(written(all, "theirs"), written(theirs, "theirs"));
      const left = (line) => mine.includes(line) && theirs.includes(line);
      assert.deepEqual(written(all, "line"), base.filter(left));
    }
    for (const [first, after] of merged.theirs) {
      for (const line of all.slice(first, after)) assert.ok(theirs.includes(line), line);
    }
  }
});

test("an editor makes the new text of the old one by its changes", () => {
  for (let seed = 1; seed <= 1000; seed += 1) {
    const choose = chooser(seed);
    const [before, after] = [someText(choose), someText(choose)];
    assert.equal(applied(before, changesOf(before, after)), after, JSON.stringify([before, after]));
  }
});

test("an editor is given the changed lines only, so the cursor stays where it is", () => {
  assert.deepEqual(changesOf("a\nb\nc\n", "a\nnew\nc\n"), [{ from: 2, to: 4, insert: "new\n" }]);
  assert.deepEqual(changesOf("same", "same"), []);
});

test("texts that differ in thousands of lines are merged whole", () => {
  const [old, made] = ["old", "new"].map((name) => Array.from({ length: 4000 }, (_, at) => `${name} ${at}`).join("\n"));
  assert.equal(applied(old, changesOf(old, made)), made);
  const merged = merge3(`top\n${old}\nend`, `top\n${made}\nend`, `top theirs\n\n${old}\nend`);
  assert.ok(merged.text.endsWith(`${made}\nend`));
});
