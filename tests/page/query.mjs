// The words of the search field, and places in texts of any script.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as query from "../../src/vault_agent/web/app/state/query.js";

const NONE = { type: [], tag: [], path: [], project: [], after: "", before: "" };

test("operators become filters and leave the other words", () => {
  assert.deepEqual(
    query.splitQuery('flour tag:#bread path:"My notes/x" after:2026-01-31 TYPE:note project:shop yeast'),
    {
      rest: "flour yeast",
      filters: {
        ...NONE,
        tag: ["bread"],
        path: ["My notes/x"],
        after: "2026-01-31",
        type: ["note"],
        project: ["shop"],
      },
      any: true,
    },
  );
  assert.deepEqual(query.splitQuery("tag:a tag:b").filters.tag, ["a", "b"]);
});

test("what only looks like an operator stays a word", () => {
  for (const text of ["after:yesterday", "before:2026-1-1", "tag:", 'tag:""', "http://tag:x", "xtag:y", "a  b "]) {
    assert.deepEqual(query.splitQuery(text), { rest: text, filters: NONE, any: false }, text);
  }
  assert.equal(query.splitQuery("after:soon tag:a").rest, "after:soon");
});

test("while it is being typed, the last word is not taken for a filter", () => {
  assert.deepEqual(query.splitQuery("tag:bre", { typing: true }), { rest: "tag:bre", filters: NONE, any: false });
  assert.deepEqual(query.splitQuery("rye tag:bread ", { typing: true }), {
    rest: "rye ",
    filters: { ...NONE, tag: ["bread"] },
    any: true,
  });
});

test("a filter is written as it is read", () => {
  for (const value of ["bread", "My notes/x", "日本 語"]) {
    assert.deepEqual(query.splitQuery(query.asWord("path", value)).filters.path, [value]);
  }
});

test("requests name only the dates that are set", () => {
  assert.deepEqual(query.filtersOf({ ...NONE, tag: ["a"], after: "2026-01-31" }), {
    types: [],
    tags: ["a"],
    paths: [],
    after: "2026-01-31",
  });
});

test("paths have a folder and a name, and a typed folder is tidied", () => {
  assert.deepEqual([query.folderOf("A/B/c.md"), query.folderOf("c.md")], ["A/B", ""]);
  assert.deepEqual([query.nameOf("A/c.md"), query.nameOf("A/c.MARKDOWN"), query.nameOf("a.pdf")], ["c", "c", "a.pdf"]);
  assert.equal(query.tidy(" /A / B//c/ "), "A/B/c");
});

test("ranges in characters become ranges in the units of strings", () => {
  assert.deepEqual(query.inUnits("a😀b", [[1, 2]]), [[1, 3]]);
  assert.deepEqual(query.inUnits("a😀b", [[2, 3]]), [[3, 4]]);
  assert.deepEqual(query.inUnits("plain", [[1, 3]]), [[1, 3]]);
  assert.deepEqual(query.inUnits("😀", [[0, 99]]), [[0, 2]]);
  assert.deepEqual(query.inUnits("a", []), []);
});

test("nothing that is read as one character is cut in two", () => {
  const family = "👩‍👩‍👧";
  assert.equal(query.cut(`ab${family}cd`, 4), "ab…");
  assert.equal(query.cut("short", 5), "short");
  assert.deepEqual(query.widened(`a${family}b`, [[3, 4]]), [[1, 1 + family.length]]);
  assert.deepEqual(query.widened("e\u0301x", [[1, 2]]), [[0, 2]]);
});

test("single letters are marked only where words have no spaces", () => {
  assert.deepEqual(query.markedWords("a bread 7 粉 ひ"), ["bread", "粉", "ひ"]);
  assert.equal(query.markedWords("word ".repeat(40)).length, 12);
});

test("words that stand in every text are not marked, unless there are no others", () => {
  const text = "tomatoes to show";
  const ranges = [
    [0, 8],
    [9, 11],
  ];
  assert.deepEqual(query.tellingRanges(text, ranges), [[0, 8]]);
  assert.deepEqual(query.tellingRanges(text, [[9, 11]]), [[9, 11]]);
});
