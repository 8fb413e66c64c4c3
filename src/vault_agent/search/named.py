"""Looks up notes and chunks by ID, and builds the errors for missing ones."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING

from vault_agent.codes import FILE_GONE_REMEDY
from vault_agent.errors import InvalidRequest, NotFound, VaultAgentError
from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.search import Filters
from vault_agent.model.warning import Warning
from vault_agent.store.index import documents
from vault_agent.store.index import notes as reading
from vault_agent.store.index.notes import StoredNote
from vault_agent.store.index.rows import MAX_CHUNKS
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import is_note, stem
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.paths import validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.notes import StoredChunk
    from vault_agent.vault.root import VaultRoot

MAX_NOTES = 10
"""Notes that an error lists."""
_NO_ROW = -1
"""In place of the row of a note that is not in the index. No link starts there."""
_NOTE_ID = re.compile(r"[0-9a-f]{32}")


def named_note(connection: Connection, note_id: str) -> StoredNote:
    """Return a note by its ID.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    return _named(reading.note_by_id, connection, note_id)


def named_text(connection: Connection, note_id: str) -> StoredNote:
    """Return a note, or an attachment whose text is indexed, by its ID.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    return _named(documents.readable_by_id, connection, note_id)


def _named(
    find: Callable[[Connection, str], StoredNote | None],
    connection: Connection,
    note_id: str,
) -> StoredNote:
    if not _NOTE_ID.fullmatch(note_id):
        raise InvalidRequest("INVALID_ID", "A note ID is 32 lowercase hexadecimal digits.")
    note = find(connection, note_id)
    if note is None:
        raise no_note()
    return note


async def note_or_file(
    snapshot: Snapshot,
    root: VaultRoot,
    note_id: str,
    path: str | None,
    *,
    attachments: bool = True,
) -> StoredNote:
    """Return a note by its ID, or the file at its exact path if the index does not have it yet.

    With `attachments`, also an attachment whose text is indexed.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    find = named_text if attachments else named_note
    try:
        return await snapshot.read(find, note_id)
    except NotFound:
        file = None
        if path is not None and identify(path) == note_id:
            file = await in_thread(file_at, root, path)
        if file is None:
            raise
        return file


def not_indexed(note: StoredNote) -> tuple[Warning, ...]:
    """Return the warning for a note that `note_or_file` found by its file alone."""
    if note.rowid != _NO_ROW:
        return ()
    what = "The index does not have this note yet, so its links and properties are missing here."
    return (Warning.of("INDEX_STALE", what),)


def file_at(root: VaultRoot, path: str) -> StoredNote | None:
    """Return the note whose file is at exactly this path, indexed or not."""
    if not is_note(path):
        return None
    try:
        validate(path)
        file = root.resolve(path)
    except (CannotOpen, OSError, VaultAgentError):
        return None
    if file.path != path or not stat.S_ISREG(file.stat.st_mode):
        return None  # another spelling, or a folder
    return StoredNote(_NO_ROW, 0, path, stem(path), 0, (), None, 0)


def named_handle(connection: Connection, file_id: str) -> tuple[int, int | None]:
    """Return the handle of a note or an attachment by its ID, and the rowid of a note.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    try:
        note = named_note(connection, file_id)
    except NotFound:
        handle = reading.attachment_handle(connection, file_id)
        if handle is None:
            raise
        return handle, None
    return note.handle, note.rowid


async def note_with_id(snapshot: Snapshot, value: str) -> str:
    """Return the ID of the note whose frontmatter has this `id`.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    filters = Filters(properties=(("id", value),))
    rowids = await snapshot.threads.run(snapshot.fulltext.admitted, filters)
    found = await snapshot.read(reading.by_rowid, sorted(rowids)[:MAX_NOTES])
    notes = list(found.values())
    if len(notes) > 1:
        listed = [{"noteId": note.id, "path": note.path} for note in notes]
        listed.sort(key=lambda each: each["path"])
        raise NotFound("NOTE_AMBIGUOUS", "Several notes have this id.", {"notes": listed})
    if not notes:
        raise NotFound("NOTE_NOT_FOUND", "No note of the index has this id.", remedy="")
    return notes[0].id


def named_chunk(connection: Connection, note: StoredNote, index: int) -> StoredChunk:
    """Return a note's chunk by its index.

    Raises:
        NotFound: `CHUNK_NOT_FOUND`.
    """
    if 0 <= index < MAX_CHUNKS:
        key = note.rowid << CHUNK_BITS | index
        if (chunk := reading.chunks(connection, [key]).get(key)) is not None:
            return chunk
    raise NotFound(
        "CHUNK_NOT_FOUND",
        f"The note has no such chunk; it has {note.chunk_count}, counted from 0.",
    )


def no_note() -> NotFound:
    """Return the error for a note that is not in the index."""
    return NotFound(
        "NOTE_NOT_FOUND",
        "There is no such note in the index.",
    )


def no_file(*, vanished: bool) -> NotFound:
    """Return the error for an indexed note whose file is missing or no longer readable."""
    return NotFound(
        "NOTE_NOT_FOUND",
        "The note's file was moved or deleted."
        if vanished
        else "The note's file is no longer readable as a note.",
        remedy=FILE_GONE_REMEDY,
    )
