// What agents' sessions got of the notes, and the journals of the sessions.

import { signal } from "../../vendor/preact.js";
import { ask, newestOnly } from "../wire.js";

const PAGE = 20;
const JOURNALS = 100;

export const sessions = signal(/** @type {{ list: Wire.SessionRow[], cursor: string | null } | null} */ (null));
export const session = signal(/** @type {Wire.SessionDetail | null} */ (null));
export const journals = signal(/** @type {Wire.ShownJournal[] | null} */ (null));
export const memoryFault = signal(/** @type {Fault | null} */ (null));

/** @template T @param {Promise<T>} request @param {(reply: T) => void} keep @param {AbortSignal} abort */
async function keepReply(request, keep, abort) {
  try {
    const reply = await request;
    if (abort.aborted) return;
    keep(reply);
    memoryFault.value = null;
  } catch (error) {
    if (!abort.aborted) memoryFault.value = /** @type {Fault} */ (error);
  }
}

/** Ask for the newest sessions, as many as are shown. */
export const loadSessions = newestOnly((abort, /** @type {string} */ project) => {
  const limit = Math.min(100, Math.max(PAGE, sessions.peek()?.list.length ?? 0));
  return keepReply(
    ask("GET", "/memory/sessions", { whole: true, query: { limit, project }, signal: abort }),
    ({ data }) => (sessions.value = { list: data.sessions, cursor: data.nextCursor }),
    abort,
  );
});

/** Ask for the sessions before those that are shown. */
export const olderSessions = newestOnly((abort, /** @type {string} */ project) => {
  const current = sessions.peek();
  return keepReply(
    ask("GET", "/memory/sessions", {
      whole: true,
      query: { limit: PAGE, project, cursor: current?.cursor },
      signal: abort,
    }),
    ({ data }) => (sessions.value = { list: [...(current?.list ?? []), ...data.sessions], cursor: data.nextCursor }),
    abort,
  );
});

/** One session with all that it got. @param {string} id @param {AbortSignal} [signal] */
export const readSession = async (id, signal) =>
  (await ask("GET", sessionPath(id), { whole: true, signal })).data.session;

/** Ask for one session with all that it got, to show it alone. */
export const loadSession = newestOnly((abort, /** @type {string} */ id) =>
  keepReply(readSession(id, abort), (detail) => (session.value = detail), abort),
);

/** Ask for the journals. */
export const loadJournals = newestOnly((abort, /** @type {string} */ project) =>
  keepReply(
    ask("GET", "/journals", { whole: true, query: { limit: JOURNALS, project }, signal: abort }),
    ({ data }) => (journals.value = data.journals),
    abort,
  ),
);

/** Ask again for all that is shown, the lists of one project. @param {string} project or "" for all */
export function reloadShown(project) {
  if (sessions.peek()) void loadSessions(project);
  if (journals.peek()) void loadJournals(project);
  const open = session.peek();
  if (open) void loadSession(open.sessionId);
}

/** @param {string} id */
const sessionPath = (id) => /** @type {const} */ (`/memory/sessions/${encodeURIComponent(id)}`);

/**
 * What would be recalled for a session now. With `apply` it comes at its next event.
 * @param {string} id
 * @param {boolean} apply
 */
export const refreshed = async (id, apply) =>
  (await ask("POST", `${sessionPath(id)}/refresh`, { whole: true, body: { apply }, patience: 30_000 })).data;

/** Put a note first in a session. @param {string} id @param {string} vault @param {string} noteId */
export const addNote = (id, vault, noteId) =>
  ask("POST", `${sessionPath(id)}/notes`, { whole: true, body: { vault, noteId } });

/** Make the journal of a session, again where it is incomplete. @param {string} sessionId */
export const makeJournal = (sessionId) => ask("POST", "/journals", { whole: true, body: { sessionId } });

/**
 * What a refresh changes: the notes that come, that go, that have changed, and that stay.
 * @param {Wire.DeliveredNote[]} before
 * @param {Wire.DeliveredNote[]} after
 */
export function difference(before, after) {
  const key = (/** @type {Wire.DeliveredNote} */ note) => `${note.vault} ${note.noteId}`;
  const [keysBefore, keysAfter] = [new Set(before.map(key)), new Set(after.map(key))];
  const changed = new Set(before.filter((note) => note.changed).map(key));
  return {
    come: after.filter((note) => !keysBefore.has(key(note))),
    go: before.filter((note) => !keysAfter.has(key(note))),
    changed: after.filter((note) => changed.has(key(note))),
    stay: after.filter((note) => keysBefore.has(key(note)) && !changed.has(key(note))),
  };
}
