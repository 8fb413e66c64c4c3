"""Counts over whole tables, and all names, for the web page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import fetch
from vault_agent.store.index.links import all_connections

if TYPE_CHECKING:
    import sqlite3


class Counts(NamedTuple):
    """Numbers of rows."""

    attachments: int
    external_links: int
    tags: int
    open_tasks: int


class NamedFile(NamedTuple):
    """The names of a note, its type, and how many notes it links to or is linked from."""

    path: str
    title: str
    aliases: tuple[str, ...]
    type: str | None
    connections: int


class NamedHeading(NamedTuple):
    """A heading with its note, by its folded name, and headings around the place."""

    path: str
    title: str
    name: str
    line: int
    heading_path: tuple[str, ...]


def counts(connection: sqlite3.Connection) -> Counts:
    """Return the numbers of rows that no total has."""
    rows = fetch(connection, _COUNTS)
    ((attachments, external, tags, tasks),) = rows
    return Counts(attachments, external, tags, tasks)


def types(connection: sqlite3.Connection) -> list[tuple[str | None, int]]:
    """Return every type of notes with their number, the most frequent first."""
    return fetch(connection, _TYPES)


def by_change(connection: sqlite3.Connection) -> list[NamedFile]:
    """Return the names of every note, the last changed first."""
    rows = fetch(connection, _BY_CHANGE)
    counts = all_connections(connection)
    return [
        NamedFile(path, title, tuple(orjson.loads(aliases)) if aliases else (), kind, counts[rowid])
        for rowid, path, title, aliases, kind in rows
    ]


def headings(connection: sqlite3.Connection, part: str, *, limit: int) -> list[NamedHeading]:
    """Return headings whose folded name contains a text."""
    rows = fetch(connection, _HEADINGS, (part, limit))
    return [
        NamedHeading(path, title, name, line, tuple(orjson.loads(above)) if above else ())
        for path, title, name, line, above in rows
    ]


_COUNTS = """
SELECT (SELECT count(*) FROM attachment), (SELECT count(*) FROM external_link),
       (SELECT count(DISTINCT name) FROM tag),
       (SELECT count(*) FROM task WHERE symbol NOT IN ('x', 'X', '-'))
"""

_TYPES = """
SELECT lower(json_extract(metadata, '$.type')) AS kind, count(*) AS number FROM note
GROUP BY kind ORDER BY number DESC, kind
"""

_BY_CHANGE = """
SELECT rowid, path, title, aliases, json_extract(metadata, '$.type') FROM note
ORDER BY mtime_ns DESC, path
"""

_HEADINGS = f"""
SELECT note.path, note.title, anchor.name, anchor.line, (
    SELECT heading_path FROM chunk
    WHERE chunk.key >= note.rowid << {CHUNK_BITS} AND chunk.key < (note.rowid + 1) << {CHUNK_BITS}
        AND chunk.end_line >= anchor.line
    ORDER BY chunk.key LIMIT 1
)
FROM anchor JOIN note ON note.rowid = anchor.key >> {CHUNK_BITS}
WHERE anchor.level > 0 AND instr(anchor.name, ?) > 0 LIMIT ?
"""
