// When a text is saved. The text that was typed last arrives on disk, or the person is told why not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Saver } from "../../src/vault_agent/web/app/state/saving.js";

const FAULT = { code: "NETWORK" };

/** An editor whose clock stands still: `next` is what waits for it, `sent` what the server was asked. */
function editor(text) {
  const page = { text, next: null, sent: [], states: [], differs: [], saved: [], keys: 0 };
  page.saver = new Saver({
    read: () => page.text,
    send: (save) => new Promise((answer) => page.sent.push({ ...save, answer })),
    tell: (state) => page.states.push(state),
    differ: (kind) => page.differs.push(kind),
    saved: (text) => page.saved.push(text),
    key: () => `key ${++page.keys}`,
    wait: (run, ms) => (page.next = { run, ms }),
    stop: (timer) => void (page.next === timer && (page.next = null)),
  });
  page.saver.rebase(text, "hash 0");
  page.type = (changed) => {
    page.text = changed;
    page.saver.changed();
  };
  page.elapse = () => {
    const { run } = page.next;
    page.next = null;
    run();
    return settled();
  };
  page.reply = (outcome) => {
    page.sent.at(-1).answer(outcome);
    return settled();
  };
  page.state = () => page.states.at(-1);
  return page;
}

const settled = () => new Promise((done) => setImmediate(done));
const requests = (page) => page.sent.map(({ text, hash, key }) => [text, hash, key]);

test("a text is saved once after a pause, with the hash that it was made of", async () => {
  const page = editor("old");
  page.type("o");
  page.type("new");
  assert.equal(page.state(), "unsaved");
  await page.elapse();
  assert.deepEqual(requests(page), [["new", "hash 0", "key 1"]]);
  await page.reply({ kind: "saved", hash: "hash 1" });
  assert.deepEqual([page.state(), page.saver.dirty, page.saved, page.next], ["saved", false, ["new"], null]);
});

test("what is typed while a save is on its way is saved after it, on its hash", async () => {
  const page = editor("old");
  page.type("new");
  await page.elapse();
  page.type("newer");
  await page.elapse();
  assert.equal(page.sent.length, 1, "one save at a time");
  await page.reply({ kind: "saved", hash: "hash 1" });
  assert.deepEqual(requests(page).at(-1), ["newer", "hash 1", "key 2"]);
  await page.reply({ kind: "saved", hash: "hash 2" });
  assert.equal(page.state(), "saved");
});

test("a save without an answer is sent again as it was, then what was typed since", async () => {
  const page = editor("old");
  page.type("new");
  await page.elapse();
  await page.reply({ kind: "later", fault: FAULT });
  assert.equal(page.state(), "failed");
  page.text = "newer";
  await page.elapse();
  assert.deepEqual(requests(page), [
    ["new", "hash 0", "key 1"],
    ["new", "hash 0", "key 1"],
  ]);
  await page.reply({ kind: "saved", hash: "hash 1" });
  await page.elapse();
  assert.deepEqual(requests(page).at(-1), ["newer", "hash 1", "key 2"]);
});

test("the waits between tries grow to 15 seconds, and the server may name one", async () => {
  const page = editor("old");
  page.type("new");
  const waits = [];
  for (let at = 0; at < 6; at += 1) {
    await page.elapse();
    await page.reply({ kind: "later", fault: FAULT });
    waits.push(page.next.ms / 1000);
  }
  assert.deepEqual(waits, [1, 2, 4, 8, 15, 15]);
  await page.elapse();
  await page.reply({ kind: "later", seconds: 30, fault: FAULT });
  assert.equal(page.next.ms, 30_000);
});

for (const kind of ["mismatch", "gone"]) {
  test(`after "${kind}" nothing is sent until the person has decided`, async () => {
    const page = editor("old");
    page.type("mine");
    await page.elapse();
    await page.reply({ kind });
    assert.deepEqual([page.state(), page.differs, page.next], ["held", [kind], null]);
    page.type("mine, longer");
    assert.equal(page.next, null);
    await page.saver.flush();
    assert.deepEqual([page.sent.length, page.saver.dirty], [1, true]);
    page.saver.rebase("theirs", "hash theirs");
    await page.elapse();
    assert.deepEqual(requests(page).at(-1), ["mine, longer", "hash theirs", "key 2"]);
  });
}

test("a refused text stays unsaved and is sent again when it has changed", async () => {
  const page = editor("old");
  page.type("too long");
  await page.elapse();
  await page.reply({ kind: "refused", fault: FAULT });
  assert.deepEqual([page.state(), page.next, page.saver.dirty], ["refused", null, true]);
  page.type("short");
  await page.elapse();
  assert.deepEqual(requests(page).at(-1), ["short", "hash 0", "key 2"]);
});

test("the answer to a save does not count once there is another base", async () => {
  const page = editor("old");
  page.type("mine");
  await page.elapse();
  page.saver.rebase("theirs", "hash theirs");
  await page.reply({ kind: "saved", hash: "hash 1" });
  assert.deepEqual([page.saver.base.hash, page.saver.dirty], ["hash theirs", true]);
  await page.elapse();
  assert.deepEqual(requests(page).at(-1), ["mine", "hash theirs", "key 2"]);
});

test("to leave a note saves at once, and waits for the save on its way", async () => {
  const page = editor("old");
  page.type("new");
  const first = page.saver.flush();
  assert.equal(page.sent.length, 1);
  page.text = "newer";
  let left = false;
  const second = page.saver.flush().then(() => (left = true));
  await page.reply({ kind: "saved", hash: "hash 1" });
  await first;
  assert.deepEqual([left, requests(page).at(-1)], [false, ["newer", "hash 1", "key 2"]]);
  await page.reply({ kind: "saved", hash: "hash 2" });
  await second;
  await page.saver.flush();
  assert.equal(page.sent.length, 2, "nothing is left to send");
});

test("a closed editor tries no more", async () => {
  const page = editor("old");
  page.type("new");
  await page.elapse();
  page.saver.close();
  await page.reply({ kind: "later", fault: FAULT });
  assert.equal(page.next, null);
});
