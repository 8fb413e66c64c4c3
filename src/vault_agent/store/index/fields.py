"""Reads some frontmatter values of some notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.store.database import fetch, json_array
from vault_agent.store.index.rows import handle_of_id

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence


class NamedRow(NamedTuple):
    """A note's row number, path, ID and hash."""

    rowid: int
    path: str
    hash: bytes  # of the file

    @property
    def id(self) -> str:
        """The note ID."""
        return identify(self.path)


def rows_of_ids(connection: sqlite3.Connection, note_ids: Sequence[str]) -> list[NamedRow]:
    """Return the rows of the notes with these IDs, in no particular order."""
    rows = fetch(connection, _ROWS, (json_array(map(handle_of_id, note_ids)),))
    found = (NamedRow(*row) for row in rows)
    wanted = set(note_ids)
    return [row for row in found if row.id in wanted]  # a handle is only the beginning of an ID


def values_of(
    connection: sqlite3.Connection, rowids: Iterable[int], name: str
) -> dict[int, list[str]]:
    """Return the values of one property of some notes, in the order in which they are written."""
    rows = fetch(connection, _VALUES, (json_array(rowids), name))
    found: dict[int, list[str]] = {}
    for rowid, value in rows:
        found.setdefault(rowid, []).append(value)
    return found


def unresolved_targets(
    connection: sqlite3.Connection, rowids: Iterable[int], prefix: str
) -> list[tuple[int, str]]:
    """Return the targets of links that lead nowhere and begin with a text, by their notes."""
    return fetch(connection, _UNRESOLVED, (json_array(rowids), len(prefix), prefix))


def notes_with_value(
    connection: sqlite3.Connection, name: str, value: str, *, limit: int
) -> list[tuple[int, str]]:
    """Return the rowid and path of the first notes with a value of a property, by path.

    It reads all properties.
    """
    return fetch(connection, _WITH_VALUE, (name, value, limit))


_ROWS = """
SELECT rowid, path, hash FROM note WHERE handle IN (SELECT value FROM json_each(?))
"""

_VALUES = f"""
SELECT asked.value, property.value FROM json_each(?) AS asked
CROSS JOIN property ON property.key >= asked.value << {CHUNK_BITS}
    AND property.key < (asked.value + 1) << {CHUNK_BITS}
WHERE property.name = ? AND property.type <> 'empty' ORDER BY property.key
"""

_UNRESOLVED = f"""
SELECT asked.value, link.target FROM json_each(?) AS asked
CROSS JOIN link ON link.key >= asked.value << {CHUNK_BITS}
    AND link.key < (asked.value + 1) << {CHUNK_BITS}
WHERE link.dest IS NULL AND substr(link.target, 1, ?) = ? ORDER BY link.key
"""

_WITH_VALUE = f"""
SELECT note.rowid, note.path FROM property JOIN note ON note.rowid = property.key >> {CHUNK_BITS}
WHERE property.name = ? AND property.value = ? COLLATE NOCASE ORDER BY note.path LIMIT ?
"""
