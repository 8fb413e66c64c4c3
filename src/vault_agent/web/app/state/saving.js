// When a text is saved, and what becomes of a save that fails. Pure: it is told how to send and wait.

/** What a save came to: `saved` with the new hash; or why not.
 * @typedef {{ kind: "saved", hash: string } | { kind: "mismatch" } | { kind: "gone" }
 *   | { kind: "later", seconds?: number, fault: Fault } | { kind: "refused", fault: Fault }} Outcome */
/** A save on its way. The same one is sent again until it is answered, so it is never done twice.
 * @typedef {{ text: string, hash: string, key: string }} Save */
/** @typedef {ReturnType<typeof setTimeout> | undefined} Timer */
/** @typedef {"saved" | "unsaved" | "saving" | "failed" | "refused" | "held"} State */

const AFTER = 1200; // ms after the last change
const LONGEST = 15; // seconds between two tries

export class Saver {
  /**
   * @param {{
   *   read: () => string,
   *   send: (save: Save) => Promise<Outcome>,
   *   tell: (state: State, fault?: Fault) => void,
   *   differ: (kind: "mismatch" | "gone") => void,
   *   saved?: (text: string) => void,
   *   key: () => string,
   *   wait?: (run: () => void, ms: number) => Timer,
   *   stop?: (timer: Timer) => void,
   * }} hooks
   */
  constructor(hooks) {
    this.hooks = hooks;
    this.base = { text: "", hash: "" };
    /** @type {Save | null} */
    this.pending = null;
    /** @type {Promise<void> | null} */
    this.running = null;
    this.held = false; // while a conflict is shown, nothing is sent
    this.tries = 0;
    /** @type {Timer} */
    this.timer = undefined;
  }

  /** What is on disk now. @param {string} text @param {string} hash */
  rebase(text, hash) {
    this.base = { text, hash };
    this.pending = null;
    this.tries = 0;
    this.#stop();
    this.held = false;
    if (this.dirty) this.changed();
    else this.hooks.tell("saved");
  }

  /** Whether there is text that is not on disk, as far as is known. */
  get dirty() {
    return this.pending !== null || this.hooks.read() !== this.base.text;
  }

  /** The text has changed. */
  changed() {
    if (this.held) return;
    if (!this.running) this.hooks.tell(this.tries ? "failed" : "unsaved");
    this.#later(AFTER);
  }

  /** Send nothing until `rebase`. */
  hold() {
    this.held = true;
    this.#stop();
    this.hooks.tell("held");
  }

  /** Save now. Resolves when it is answered. */
  async flush() {
    this.#stop();
    if (this.running) await this.running;
    if (this.held || !this.dirty) return;
    this.running = this.#save();
    await this.running;
  }

  /** Wait no longer. */
  close() {
    this.#stop();
    this.closed = true;
  }

  async #save() {
    const save = (this.pending ??= { text: this.hooks.read(), hash: this.base.hash, key: this.hooks.key() });
    this.hooks.tell("saving");
    const outcome = await this.hooks.send(save);
    this.running = null;
    if (this.pending !== save) return; // another base was set meanwhile
    if (outcome.kind === "later") {
      this.tries += 1;
      this.hooks.tell("failed", outcome.fault);
      return this.#later((outcome.seconds ?? Math.min(2 ** (this.tries - 1), LONGEST)) * 1000);
    }
    this.pending = null;
    this.tries = 0;
    if (outcome.kind === "saved") {
      this.base = { text: save.text, hash: outcome.hash };
      this.hooks.saved?.(save.text);
      if (this.dirty) this.changed();
      else this.hooks.tell("saved");
    } else if (outcome.kind === "refused") this.hooks.tell("refused", outcome.fault);
    else {
      this.hold();
      this.hooks.differ(outcome.kind);
    }
  }

  /** @param {number} ms */
  #later(ms) {
    this.#stop();
    if (!this.closed) this.timer = (this.hooks.wait ?? setTimeout)(() => void this.flush(), ms);
  }

  #stop() {
    (this.hooks.stop ?? clearTimeout)(this.timer);
    this.timer = undefined;
  }
}
