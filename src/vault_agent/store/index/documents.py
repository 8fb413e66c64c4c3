"""Reads attachments whose text is indexed. Searches find them; nothing that lists notes reads them.

The table exists only where the text of attachments was ever wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import fetch, json_array, script
from vault_agent.store.index import notes
from vault_agent.store.index.rows import handle_of_id

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from vault_agent.store.index.notes import ChunkText, StoredFile, StoredNote


def create_documents(connection: sqlite3.Connection) -> None:
    """Create the table if it is missing."""
    connection.execute(script("index/documents.sql"))


def exist(connection: sqlite3.Connection) -> bool:
    """Whether the text of attachments was ever wanted."""
    return bool(fetch(connection, _EXIST))


def files(connection: sqlite3.Connection, paths: Iterable[str] | None = None) -> list[StoredFile]:
    """Return the file of every document as it was last seen, or of those at or below `paths`."""
    return notes.files(connection, "document", paths=paths) if exist(connection) else []


def readable(connection: sqlite3.Connection, rowids: Iterable[int]) -> dict[int, StoredNote]:
    """Return the notes and documents with these rowids. Missing ones are left out."""
    wanted = list(rowids)
    stored = notes.by_rowid(connection, wanted)
    if len(stored) == len(wanted) or not exist(connection):
        return stored
    rows = fetch(connection, _DOCUMENT + _AMONG, (json_array(wanted),))
    return {**stored, **{row[0]: notes.note_of(row) for row in rows}}


def readable_by_id(connection: sqlite3.Connection, identifier: str) -> StoredNote | None:
    """Return the note or the document with an ID, or None."""
    note = notes.note_by_id(connection, identifier)
    if note is not None or not exist(connection):
        return note
    handle = (handle_of_id(identifier),)
    rows = fetch(connection, f"{_DOCUMENT} WHERE handle = ?", handle)
    return next(
        (document for document in map(notes.note_of, rows) if document.id == identifier), None
    )


def chunk_texts_of(connection: sqlite3.Connection, keys: Iterable[int]) -> list[ChunkText]:
    """Return these chunks of notes and documents, in no particular order."""
    wanted = list(keys)
    texts = notes.chunk_texts_of(connection, wanted)
    if len(texts) == len(wanted) or not exist(connection):
        return texts
    return [*texts, *map(notes.chunk_text, fetch(connection, _CHUNK_TEXT, (json_array(wanted),)))]


def content_of(connection: sqlite3.Connection, rowid: int) -> tuple[int, bytes] | None:
    """Return the size in bytes and the hash of a document's file, or None if it is gone."""
    return next(((size, digest) for size, digest in fetch(connection, _CONTENT, (rowid,))), None)


_EXIST = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'document'"
_DOCUMENT = "SELECT rowid, handle, path, title, chunk_count, NULL, NULL, 0 FROM document"
_AMONG = " WHERE rowid IN (SELECT value FROM json_each(?))"
_CONTENT = "SELECT size, hash FROM document WHERE rowid = ?"
_CHUNK_TEXT = f"""
SELECT chunk.key, document.title, chunk.heading_path, chunk.text
FROM chunk JOIN document ON document.rowid = chunk.key >> {CHUNK_BITS}
WHERE chunk.key IN (SELECT value FROM json_each(?))
"""
