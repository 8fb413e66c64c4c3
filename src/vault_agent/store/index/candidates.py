"""Reads what a search needs, in the search's own thread.

One search reads three times. Each read through an event loop would cost it two changes of thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from vault_agent.store.database import translated
from vault_agent.store.index.notes import (
    CHUNKS_BY_KEY,
    NOTES_BY_ROWID,
    array,
    chunk_of,
    note_of,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from vault_agent.store.index.notes import StoredChunk, StoredNote


def notes(connection: sqlite3.Connection, rowids: Iterable[int]) -> dict[int, StoredNote]:
    """Return the notes with these rowids. Missing ones are left out."""
    with translated():
        rows = connection.execute(NOTES_BY_ROWID, (array(rowids),)).fetchall()
    return {row[0]: note_of(row) for row in rows}


def headings(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, str | None]:
    """Return the innermost heading of each of these chunks, without reading their text."""
    with translated():
        rows = connection.execute(_HEADINGS, (array(keys),)).fetchall()
    return {key: orjson.loads(path)[-1] if path else None for key, path in rows}


def chunks(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, StoredChunk]:
    """Return the chunks with these keys. Missing ones are left out."""
    with translated():
        rows = connection.execute(CHUNKS_BY_KEY, (array(keys),)).fetchall()
    return {row[0]: chunk_of(row) for row in rows}


_HEADINGS = "SELECT key, heading_path FROM chunk WHERE key IN (SELECT value FROM json_each(?))"
