// The address says what the page shows: it can be read back, and only another vault loads the page anew.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const NOTE = "0123456789abcdef0123456789abcdef";
const listeners = {};
const entries = [];
let reloads = 0;
Object.assign(globalThis, {
  location: { hash: "", reload: () => (reloads += 1) },
  document: { documentElement: { dataset: {} } },
  history: {
    state: null,
    pushState: (state, _title, hash) => entries.push(["push", hash, state]),
    replaceState: (state, _title, hash) => entries.push(["replace", hash, state]),
  },
  addEventListener: (kind, listener) => (listeners[kind] = listener),
});
const { FILTERS, LISTS, address, addressIn, arrival, beforeLeaving, changed, go, hrefOf, parseAddress, remembered } =
  await import("../../src/vault_agent/web/app/state/address.js");

beforeEach(() => {
  address.value = parseAddress("");
  entries.length = reloads = 0;
  beforeLeaving(() => {});
});

test("an address is read as it was written", () => {
  for (const view of ["notes", "graph", "jobs"]) {
    for (const name of [...FILTERS, "q", "at", "line", "session"]) {
      for (const text of ["plain", "a&b=c?d#e/f", "日本 😀", "100 % + 1"]) {
        const value = LISTS.includes(name) ? [text, "second"] : text;
        const read = parseAddress(hrefOf({ view, [name]: value }));
        assert.deepEqual([read.view, read[name]], [view, value]);
        assert.equal(hrefOf(parseAddress(hrefOf({ ...read, note: NOTE }))), hrefOf({ ...read, note: NOTE }));
      }
    }
  }
});

test("an address that somebody made up shows the list of notes", () => {
  for (const hash of ["", "#", "#/", "#/nowhere", "#/../x", "#//", "\n", "#/%00"]) {
    const { view, note, tag, q } = parseAddress(hash);
    assert.deepEqual([view, note, tag, q], ["notes", "", [], ""], hash);
  }
});

test("a graph beside an open note is that of the note, unless it is to show all", () => {
  assert.equal(parseAddress(`#/graph/${NOTE}`).near, NOTE);
  const all = hrefOf({ view: "graph", note: NOTE, near: "" });
  assert.equal(parseAddress(all).near, "");
});

test("to go elsewhere adds an entry, and what is typed changes it", () => {
  go({ q: "b" }, { replace: true });
  go({ q: "bread" }, { replace: true });
  go({ note: NOTE });
  go({ note: NOTE });
  assert.deepEqual(
    entries.map(([kind]) => kind),
    ["replace", "replace", "push"],
  );
  assert.deepEqual([address.value.note, address.value.q, arrival.value], [NOTE, "bread", "go"]);
});

test("another note is read from its start, and not in the editor", () => {
  go({ note: NOTE, at: "heading", line: "7", edit: "yes" });
  assert.deepEqual([address.value.at, address.value.line, address.value.edit], ["heading", "7", "yes"]);
  go({ note: NOTE.replace("0", "f") });
  assert.deepEqual([address.value.at, address.value.line, address.value.edit], ["", "", ""]);
  assert.ok(!changed({ tag: ["a"] }).includes("line="));
});

test("the place in a note is remembered before the page leaves it, and given back by Back", () => {
  let left = 0;
  beforeLeaving(() => (left += 1));
  go({ q: "typed" }, { replace: true });
  assert.equal(left, 0);
  go({ note: NOTE });
  assert.deepEqual([left, remembered.value], [1, {}]);
  Object.assign(history, { state: { scroll: 300 } });
  location.hash = "#/notes?q=before";
  listeners.popstate();
  assert.deepEqual([address.value.q, arrival.value, remembered.value], ["before", "back", { scroll: 300 }]);
});

test("another vault loads the page anew, so nothing of one is shown in the other", () => {
  go({ vault: "other" });
  assert.deepEqual([reloads, address.value.vault], [1, ""]);
  assert.equal(addressIn("other", NOTE), `#/notes/${NOTE}?vault=other`);
});
