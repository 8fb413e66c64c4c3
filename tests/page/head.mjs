// The parts of a note's text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { headingsOf, joined, splitHead } from "../../src/vault_agent/web/app/state/head.js";

test("a note is its frontmatter and what is below it", () => {
  for (const text of ["---\na: 1\n---\nText\n", "---\n---\n", "No head\n---\n", ""]) {
    const { head, body } = splitHead(text);
    assert.equal(joined(head, body), text);
  }
  assert.deepEqual(splitHead("---\na: 1\n---\nText\n"), { head: "---\na: 1\n---\n", body: "Text\n" });
});

test("headings are found with their places, and none in code", () => {
  const text = "# One #\n\n```sh\n# no\n~~~\n```\n## Two\n~~~~\n# no\n```\n~~~~\n#no\n";
  assert.deepEqual(headingsOf(text), [
    { level: 1, name: "One", at: 0 },
    { level: 2, name: "Two", at: text.indexOf("## Two") },
  ]);
});
