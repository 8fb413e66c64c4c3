"""Reads whole tables for the graph of links and for reports on a vault."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import json_array, translated

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


class NoteColumns(NamedTuple):
    """What the graph shows of a note."""

    rowid: int
    path: str
    title: str
    metadata: str | None  # JSON


class DoubtfulLink(NamedTuple):
    """A link that may lead nowhere: unresolved, ambiguous, or with a fragment."""

    key: int
    kind: str
    target: str
    fragment: str | None
    ambiguous: int
    dest: int | None  # a handle
    rowid: int | None  # of the note that it leads to


class WrittenLink(NamedTuple):
    """A link with the note that contains it."""

    key: int
    path: str
    title: str
    kind: str
    target: str
    fragment: str | None
    text: str | None
    line: int
    column: int
    dest_path: str | None
    lookup: int


def order(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    """Return every note as (rowid, path), by path."""
    with translated():
        rows = connection.execute("SELECT rowid, path FROM note ORDER BY path").fetchall()
    return [(rowid, path) for rowid, path in rows]


def edges(connection: sqlite3.Connection) -> tuple[list[int], list[int]]:
    """Return the sources and the destinations of all links between notes, as rowids."""
    with translated():
        [(sources, targets)] = connection.execute(_EDGES).fetchall()
    return orjson.loads(sources), orjson.loads(targets)


def columns(
    connection: sqlite3.Connection, rowids: Iterable[int] | None = None
) -> list[NoteColumns]:
    """Return all notes, or those with these rowids, in no particular order."""
    with translated():
        if rowids is None:
            rows = connection.execute(_COLUMNS).fetchall()
        else:
            rows = connection.execute(_COLUMNS + _AMONG, (json_array(rowids),)).fetchall()
    return [NoteColumns(*row) for row in rows]


def doubtful(connection: sqlite3.Connection) -> list[DoubtfulLink]:
    """Return the links that may lead nowhere, by key."""
    with translated():
        rows = connection.execute(_DOUBTFUL).fetchall()
    return [DoubtfulLink(*row) for row in rows]


def written(connection: sqlite3.Connection, keys: Iterable[int]) -> list[WrittenLink]:
    """Return the links with these keys, in no particular order."""
    with translated():
        rows = connection.execute(_WRITTEN, (json_array(keys),)).fetchall()
    return [WrittenLink(*row) for row in rows]


def unresolved(connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
    """Return every unresolved link as (rowid of its note, kind, target)."""
    with translated():
        rows = connection.execute(_UNRESOLVED).fetchall()
    return [(rowid, kind, target) for rowid, kind, target in rows]


def tags(connection: sqlite3.Connection) -> list[tuple[str, str, int]]:
    """Return every tag of every note as (folded name, spelling, rowid)."""
    with translated():
        rows = connection.execute(_TAGS).fetchall()
    return [(name, written, rowid) for name, written, rowid in rows]


def paths(connection: sqlite3.Connection) -> list[str]:
    """Return the paths of all notes and attachments."""
    with translated():
        rows = connection.execute(_ALL_PATHS).fetchall()
    return [path for (path,) in rows]


_EDGES = f"""
SELECT json_group_array(link.key >> {CHUNK_BITS}), json_group_array(note.rowid)
FROM link JOIN note ON note.handle = link.dest
WHERE link.dest IS NOT NULL
"""

_COLUMNS = "SELECT rowid, path, title, metadata FROM note"
_AMONG = " WHERE rowid IN (SELECT value FROM json_each(?))"

_DOUBTFUL = """
SELECT link.key, link.kind, link.target, link.fragment, link.ambiguous, link.dest, note.rowid
FROM link LEFT JOIN note ON note.handle = link.dest
WHERE link.dest IS NULL OR link.ambiguous OR link.fragment IS NOT NULL
ORDER BY link.key
"""

_WRITTEN = f"""
SELECT link.key, note.path, note.title, link.kind, link.target, link.fragment, link.text,
       link.line, link.col, coalesce(there.path, attachment.path), link.lookup
FROM json_each(?) AS asked
CROSS JOIN link ON link.key = asked.value
CROSS JOIN note ON note.rowid = link.key >> {CHUNK_BITS}
LEFT JOIN note AS there ON there.handle = link.dest
LEFT JOIN attachment ON attachment.handle = link.dest
"""

_UNRESOLVED = f"SELECT key >> {CHUNK_BITS}, kind, target FROM link WHERE dest IS NULL ORDER BY key"

_TAGS = f"SELECT name, written, key >> {CHUNK_BITS} FROM tag"

_ALL_PATHS = "SELECT path FROM note UNION ALL SELECT path FROM attachment"
