"""Looks up notes and chunks by ID, and builds the errors for missing ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_agent.codes import FILE_GONE_REMEDY
from vault_agent.errors import InvalidRequest, NotFound
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.scope import EVERYTHING
from vault_agent.model.search import Filters
from vault_agent.store.index import documents
from vault_agent.store.index import notes as reading
from vault_agent.store.index.rows import MAX_CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.model.scope import Scope
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.notes import StoredChunk, StoredNote

MAX_NOTES = 10
"""Notes that an error lists."""
_NOTE_ID = re.compile(r"[0-9a-f]{32}")


def named_note(connection: Connection, note_id: str, scope: Scope = EVERYTHING) -> StoredNote:
    """Return a note of the caller's scope by its ID.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    return _named(reading.note_by_id, connection, note_id, scope)


def named_text(connection: Connection, note_id: str, scope: Scope = EVERYTHING) -> StoredNote:
    """Return a note of the caller's scope, or an attachment whose text is indexed, by its ID.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    return _named(documents.readable_by_id, connection, note_id, scope)


def _named(
    find: Callable[[Connection, str], StoredNote | None],
    connection: Connection,
    note_id: str,
    scope: Scope,
) -> StoredNote:
    if not _NOTE_ID.fullmatch(note_id):
        raise InvalidRequest("INVALID_ID", "A note ID is 32 lowercase hexadecimal digits.")
    note = find(connection, note_id)
    if note is None or not scope.contains(note.path):
        raise no_note()
    return note


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


async def note_with_id(snapshot: Snapshot, value: str, scope: Scope = EVERYTHING) -> str:
    """Return the ID of the note of `scope` whose frontmatter has this `id`.

    Raises:
        NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
    """
    filters = Filters(properties=(("id", value),), scope=scope)
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
