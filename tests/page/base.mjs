// What is read of a base.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseBase, readStatement } from "../../src/vault_agent/web/app/state/base.js";

const NOTE = {
  path: "Books/Dune.md",
  tags: ["book/novel"],
  updated: "2026-05-04T10:00:00Z",
  values: {
    status: "read",
    rating: 5,
    author: ["[[People/Herbert|Frank]]", "[[Other]]"],
    due: "2026-01-02",
    "my key": "a",
  },
};
const says = (statement) => readStatement(statement)?.(NOTE) ?? null;

test("a statement compares a property, a tag, a folder or a date", () => {
  const right = [
    'status == "read"',
    "status == 'read'",
    'note.status != "open"',
    'note["my key"] == "a"',
    "rating >= 4",
    "rating > 4.5",
    'author.contains(link("Other"))',
    'author.containsAny("nobody", "Other")',
    "missing.isEmpty()",
    "!status.isEmpty()",
    'file.hasTag("book")',
    'file.hasTag("film", "#Book/Novel")',
    'file.inFolder("Books")',
    'file.name.startsWith("Du")',
    'file.ext == "md"',
    'file.tags.contains("book/novel")',
    'due < date("2026-02-01")',
    "due < today()",
    'due <= today() - "1d"',
    'file.mtime > "2026-05-04"',
  ];
  const wrong = [
    'status == "open"',
    "rating < 5",
    "missing > 1",
    '!file.hasTag("book")',
    'file.hasTag("boo")',
    'file.inFolder("Book")',
  ];
  assert.deepEqual(
    [right.filter((text) => says(text) !== true), wrong.filter((text) => says(text) !== false)],
    [[], []],
  );
});

test("a statement beyond that is not read, however long it is", () => {
  const beyond = [
    "formula.x > 1",
    'file.hasLink("A")',
    "a == b",
    'a == "b" && c == 1',
    "this.file",
    "1",
    "",
    "a.constructor()",
    "file.toString()",
  ];
  assert.deepEqual(
    beyond.filter((text) => readStatement(text) !== null),
    [],
  );
  assert.equal(readStatement(`a.contains(${"1".repeat(100_000)}!`), null);
});

const SOURCE = `filters:
  and:
    - file.inFolder("Books")
    - file.hasTag("book")
    - file.hasLink("A")
    - or:
        - status == "read"
        - rating > 9
properties:
  note.author:
    displayName: Written by
  rating: { width: 3 }
`;
const VIEWS = `# written by Obsidian
filters:
  and:
    - file.inFolder("Books")
    - 'file.hasTag("book")'
    - file.hasLink("A")
    - or:
      - status == "read"
      - rating > 9
formulas:
  half: rating / 2
properties:
  note.author:
    displayName: "Written: by"
views:
  - type: table
    name: All
    order:
      - file.name
      - author
      - formula.half
    sort:
      - property: rating
        direction: DESC
    limit: 2
  - type: cards
    name: Few
    filters:
      not:
        - rating > 4
    order: [file.name, rating]
`;

test("views have their columns, order and filters, and name what was left out", () => {
  const [all, few] = parseBase(VIEWS);
  assert.deepEqual(
    all.columns.map(({ name }) => name),
    ["name", "Written: by"],
  );
  assert.deepEqual([all.name, few.name, all.limit, few.limit], ["All", "Few", 2, Infinity]);
  assert.deepEqual(all.unread, ['file.hasLink("A")', "formula.half"]);
  assert.deepEqual(all.query, { path: ["Books"], tag: ["book"] });
  assert.deepEqual([all.passes(NOTE), few.passes(NOTE)], [true, false]);
  const other = { ...NOTE, values: { rating: 10 } };
  assert.deepEqual([NOTE, other].sort(all.order), [other, NOTE]);
  assert.equal(all.passes({ ...NOTE, values: {} }), false);
});

test("a filter that cannot be read leaves no note out", () => {
  const either = parseBase('filters:\n  or:\n    - status == "open"\n    - file.hasLink("A")\n')[0];
  assert.deepEqual([either.passes(NOTE), either.unread], [true, ['file.hasLink("A")']]);
});

test("what is no base is none, and an empty one has all notes", () => {
  for (const source of [SOURCE, "- a", "a:\n    b: 1\n  c: 2", "a: |\n  text", "a: &b 1", "just text"])
    assert.equal(parseBase(source), null, source);
  assert.deepEqual(
    parseBase("")[0].columns.map(({ name }) => name),
    ["name"],
  );
});
