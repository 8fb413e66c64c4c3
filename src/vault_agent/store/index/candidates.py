"""Reads what a search needs, in the search's own thread.

A search reads three times. Through the event loop, each read would take two changes of thread.
Python's SQLite module releases the interpreter's lock at every row, and another thread may then
hold it for a while. So a read returns all its rows as one text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.store.database import json_array, translated
from vault_agent.store.failures import damaged
from vault_agent.store.index.notes import chunk_of, note_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from vault_agent.store.index.notes import StoredChunk, StoredNote


def notes(connection: sqlite3.Connection, rowids: Iterable[int]) -> dict[int, StoredNote]:
    """Return the notes with these rowids. Missing ones are left out."""
    return {row[0]: note_of(row) for row in _rows(connection, _NOTES, rowids)}


def headings(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, str | None]:
    """Return the innermost heading of each of these chunks, without reading their text."""
    rows = _rows(connection, _HEADINGS, keys)
    return {key: orjson.loads(path)[-1] if path else None for key, path in rows}


def chunks(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, StoredChunk]:
    """Return the chunks with these keys. Missing ones are left out."""
    return {row[0]: chunk_of(row) for row in _rows(connection, _CHUNKS, keys)}


def _rows(connection: sqlite3.Connection, statement: str, numbers: Iterable[int]) -> list[Any]:
    with translated():
        [(rows,)] = connection.execute(statement, (json_array(numbers),))
    try:
        return orjson.loads(rows)  # type: ignore[no-any-return]
    except orjson.JSONDecodeError:
        raise damaged() from None


def _as_one(columns: str, table: str, key: str) -> str:
    return (
        f"SELECT json_group_array(json_array({columns})) FROM {table}"
        f" WHERE {key} IN (SELECT value FROM json_each(?))"
    )


_NOTES = _as_one(
    "rowid, handle, path, title, chunk_count, aliases, metadata, attachment_count", "note", "rowid"
)
_HEADINGS = _as_one("key, heading_path", "chunk", "key")
_CHUNKS = _as_one("key, heading_path, start_line, end_line, text", "chunk", "key")
