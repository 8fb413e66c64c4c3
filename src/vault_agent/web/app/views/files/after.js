// What the page shows after a file was moved, deleted or brought back.

import { sentence, toast } from "../../parts/say.js";
import { address, go } from "../../state/address.js";
import { undo } from "../../state/files.js";
import { note, reopen } from "../../state/note.js";
import { noteMoved } from "../../state/settings.js";
import { ask } from "../../wire.js";

/**
 * The open note had another ID before it was moved.
 * @typedef {{ before: string, after: string, path: string }} Renamed `path`: the one before
 */

/**
 * Show the open note at its new path, if it was moved. Return its IDs, for the way back.
 * @param {string} from @param {string} to @param {{ noteId?: string | null }} done @returns {Promise<Renamed | null>}
 */
export async function openMoved(from, to, { noteId }) {
  const open = note.peek();
  if (!open || open.id !== address.peek().note) return null;
  const inside = open.path.startsWith(`${from}/`);
  if (open.path !== from && !inside) return null;
  const path = to + open.path.slice(from.length);
  const reply = noteId && !inside ? null : await ask("GET", "/resolve", { query: { name: path } }).catch(() => null);
  const after = reply ? reply.data.notes[0]?.noteId : noteId;
  if (!after) return null;
  go({ note: after }, { replace: true });
  noteMoved(open.id, { ...open, id: after, path });
  return { before: open.id, after, path: open.path };
}

/** Take a write back and say so. @param {string} writeId @param {Renamed | null} [moved] by this write */
export async function takeBack(writeId, moved = null) {
  try {
    await undo(writeId);
  } catch (error) {
    toast(sentence(error));
    return false;
  }
  const open = note.peek();
  if (moved && open?.id === moved.after) noteMoved(open.id, { ...open, id: moved.before, path: moved.path });
  if (moved && address.peek().note === moved.after) go({ note: moved.before }, { replace: true });
  else reopen();
  toast("Taken back");
  return true;
}
