"""Reads the text of notes in large pieces, for scans of the whole vault."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import fetch, json_array

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence


class ScannedNote(NamedTuple):
    """A note with text."""

    rowid: int
    path: str
    size: int  # bytes of its file


class ScannedChunk(NamedTuple):
    """The text of a chunk as UTF-8."""

    key: int
    start_line: int
    text: bytes


def notes_from(connection: sqlite3.Connection, path: str, *, limit: int) -> list[ScannedNote]:
    """Return the first notes with text in the order of their paths, from `path` on."""
    return [ScannedNote(*row) for row in fetch(connection, _NOTES_FROM, (path, limit))]


def bodies(connection: sqlite3.Connection, rowids: Sequence[int]) -> list[bytes]:
    """Return the text of each of these notes, in their order; a missing note's is empty."""
    return [text for (text,) in fetch(connection, _BODIES, (json_array(rowids),))]


def chunks_from(
    connection: sqlite3.Connection, rowid: int, index: int, *, limit: int
) -> list[ScannedChunk]:
    """Return up to `limit` chunks of a note from the chunk `index` on."""
    first, end = rowid << CHUNK_BITS | index, (rowid + 1) << CHUNK_BITS
    return [ScannedChunk(*row) for row in fetch(connection, _CHUNKS_FROM, (first, end, limit))]


def share_up_to(connection: sqlite3.Connection, path: str, among: Collection[int] | None) -> float:
    """Return the share of the notes with text whose path is not after `path`, 0 to 1.

    Only notes of `among` count, or all if it is None.
    """
    rowids = None if among is None else json_array(among)
    [(before, every)] = fetch(connection, _SHARE, (path, rowids))
    return before / every if every else 1.0


_SHARE = """
SELECT coalesce(sum(path <= ?1), 0), count(*) FROM note
WHERE chunk_count > 0 AND (?2 IS NULL OR rowid IN (SELECT value FROM json_each(?2)))
"""

_NOTES_FROM = """
SELECT rowid, path, size FROM note WHERE path >= ? AND chunk_count > 0 ORDER BY path LIMIT ?
"""

_BODIES = f"""
SELECT CAST(coalesce((
    SELECT group_concat(text, '') FROM (
        SELECT text FROM chunk
        WHERE key >= asked.value << {CHUNK_BITS} AND key < (asked.value + 1) << {CHUNK_BITS}
        ORDER BY key
    )
), '') AS BLOB)
FROM json_each(?) AS asked ORDER BY asked.key
"""

_CHUNKS_FROM = """
SELECT key, start_line, CAST(text AS BLOB) FROM chunk WHERE key >= ? AND key < ?
ORDER BY key LIMIT ?
"""
