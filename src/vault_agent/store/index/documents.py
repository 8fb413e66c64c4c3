"""Reads attachments whose text is indexed. Searches find them; nothing that lists notes does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.store.database import fetch, json_array
from vault_agent.store.index import notes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from vault_agent.store.index.notes import StoredNote


def notes_and_documents(
    connection: sqlite3.Connection, rowids: Iterable[int]
) -> dict[int, StoredNote]:
    """Return the notes and documents with these rowids. Missing ones are left out."""
    wanted = list(rowids)
    stored = notes.by_rowid(connection, wanted)
    if len(stored) == len(wanted):
        return stored
    rows = fetch(connection, _DOCUMENT + _AMONG, (json_array(wanted),))
    return {**stored, **{row[0]: notes.note_of(row) for row in rows}}


def note_or_document(connection: sqlite3.Connection, identifier: str) -> StoredNote | None:
    """Return the note or the document with an ID, or None."""
    note = notes.note_by_id(connection, identifier)
    return note or notes.note_by_id(connection, identifier, _DOCUMENT)


def content_of(connection: sqlite3.Connection, rowid: int) -> tuple[int, bytes] | None:
    """Return the size in bytes and the hash of a document's file, or None if it is gone."""
    return next(((size, digest) for size, digest in fetch(connection, _CONTENT, (rowid,))), None)


_DOCUMENT = "SELECT rowid, handle, path, title, chunk_count, NULL, NULL, 0 FROM document"
_AMONG = " WHERE rowid IN (SELECT value FROM json_each(?))"
_CONTENT = "SELECT size, hash FROM document WHERE rowid = ?"
