"""Reads rows by the paths of files, and by the names that links use.

A run of single paths reads these rows instead of whole tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from vault_agent.model.notes import FileEntry
from vault_agent.store.database import fetch, json_array
from vault_agent.store.index.notes import StoredFile

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


def files_at(connection: sqlite3.Connection, paths: Iterable[str]) -> list[StoredFile]:
    """Return the files of the notes at these paths or anywhere below them."""
    return _files_at(connection, "note", paths)


def documents_at(connection: sqlite3.Connection, paths: Iterable[str]) -> list[StoredFile]:
    """Return the files of the documents at these paths or below them. The table must exist."""
    return _files_at(connection, "document", paths)


def attachments_at(connection: sqlite3.Connection, paths: Iterable[str]) -> list[str]:
    """Return the attachments at these paths or anywhere below them."""
    return [path for (path,) in _at(connection, "attachment", "path", paths)]


def left_out_at(
    connection: sqlite3.Connection, paths: Iterable[str]
) -> list[tuple[FileEntry, bool]]:
    """Return the files left out at or below these paths, each with whether it was unread."""
    columns = "path, size, mtime_ns, ctime_ns, inode, unread"
    rows = _at(connection, "left_out", columns, paths)
    return [(FileEntry._make(entry), bool(unread)) for *entry, unread in rows]


def files_named(
    connection: sqlite3.Connection, lookups: Iterable[int]
) -> tuple[list[tuple[str, tuple[str, ...]]], list[str]]:
    """Return the files with one of these names (hashes), for a resolver of links.

    Notes are returned as their path with their aliases and keys, attachments as their path.
    """
    asked = (json_array(lookups),)
    notes = fetch(connection, _NOTES_NAMED, asked)
    attachments = fetch(connection, _ATTACHMENTS_NAMED, asked)
    return (
        [(path, tuple(orjson.loads(aliases)) if aliases else ()) for path, aliases in notes],
        [path for (path,) in attachments],
    )


def _files_at(connection: sqlite3.Connection, table: str, paths: Iterable[str]) -> list[StoredFile]:
    rows = _at(connection, table, "rowid, hash, path, size, mtime_ns, ctime_ns, inode", paths)
    return [StoredFile(row[0], row[1], FileEntry._make(row[2:])) for row in rows]


def _at(
    connection: sqlite3.Connection, table: str, columns: str, paths: Iterable[str]
) -> Iterable[sqlite3.Row]:
    places = json_array(paths)
    return fetch(connection, _AT.format(table=table, columns=columns), (places, places))


# "0" is the character after "/". Cross joins keep SQLite from reading the table first.
_AT = """
SELECT {columns} FROM (SELECT value AS place FROM json_each(?)) CROSS JOIN {table}
WHERE path = place
UNION ALL
SELECT {columns} FROM (SELECT value AS place FROM json_each(?)) CROSS JOIN {table}
WHERE path > place || '/' AND path < place || '0'
"""

_NOTES_NAMED = """
SELECT DISTINCT note.path, note.aliases FROM json_each(?) AS asked
CROSS JOIN name ON name.lookup = asked.value CROSS JOIN note ON note.handle = name.handle
"""

_ATTACHMENTS_NAMED = """
SELECT DISTINCT attachment.path FROM json_each(?) AS asked
CROSS JOIN name ON name.lookup = asked.value
CROSS JOIN attachment ON attachment.handle = name.handle
"""
