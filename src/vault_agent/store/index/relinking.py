"""Reads what decides where links lead, in the thread of a write.

Nothing here is async, because a write plans its changes in a thread of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.notes import Link
from vault_agent.store.database import fetch, json_array
from vault_agent.store.index import links
from vault_agent.store.index.places import files_named
from vault_agent.store.index.rows import handle_of, name_hash

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


class NamedFile(NamedTuple):
    """A file with what links can call it. `aliases` is None for an attachment."""

    path: str
    aliases: tuple[str, ...] | None


class LinkFrom(NamedTuple):
    """A link, and the path of the note that contains it. It has no span and no text."""

    source: str
    link: Link


class LinkReader:
    """Reads names and links through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def files_at(self, path: str) -> list[NamedFile]:
        """Return the file at a path, or all files below the folder at it."""
        return self._files(_NOTES_AT, _ATTACHMENTS_AT, path)

    def files_named(self, names: Iterable[str]) -> list[NamedFile]:
        """Return the files with one of these names, which are as `names_of` returns them."""
        notes, attachments = files_named(self._connection, map(name_hash, names))
        found = [NamedFile(path, aliases) for path, aliases in notes]
        return found + [NamedFile(path, None) for path in attachments]

    def links_to(self, names: Iterable[str]) -> list[LinkFrom]:
        """Return the links with one of these names in their target, by note and place."""
        return _plain(links.to_names(self._connection, map(name_hash, names)))

    def links_of(self, paths: Iterable[str]) -> list[LinkFrom]:
        """Return the links of the notes at these paths, by note and place."""
        handles = json_array(map(handle_of, paths))
        return _plain(links.rows_of(self._connection, _OF_FILES, "TRUE", handles))

    def links_into(self, path: str) -> list[LinkFrom]:
        """Return the links of other notes that lead to the file at `path`, by note and place."""
        rows = links.rows_of(self._connection, "link", "link.dest = ?", handle_of(path))
        return _plain(row for row in rows if row.source != path)

    def links_to_parts(self, path: str) -> list[LinkFrom]:
        """Return the links to a part of the note at `path`, by note and place."""
        where = "link.dest = ? AND link.fragment IS NOT NULL"
        return _plain(links.rows_of(self._connection, "link", where, handle_of(path)))

    def attachments_ending(self, suffix: str) -> list[str]:
        """Return the paths of the attachments that end in `suffix`, in order."""
        return [path for (path,) in self._rows(_ATTACHMENTS_ENDING, suffix)]

    def _files(self, notes: str, attachments: str, value: str) -> list[NamedFile]:
        found = [
            NamedFile(path, tuple(orjson.loads(aliases)) if aliases else ())
            for path, aliases in self._rows(notes, value)
        ]
        return found + [NamedFile(path, None) for (path,) in self._rows(attachments, value)]

    def _rows(self, statement: str, value: str | int) -> list[tuple[Any, ...]]:
        return fetch(self._connection, statement, (value,))


def _plain(rows: Iterable[links.LinkRow]) -> list[LinkFrom]:
    return [
        LinkFrom(row.source, Link(row.kind, row.target, row.fragment, line=row.line))
        for row in rows
    ]


# "0" is the character after "/".
_NOTES_AT = """
SELECT path, aliases FROM note
WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0') ORDER BY path
"""

_ATTACHMENTS_AT = """
SELECT path FROM attachment
WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0') ORDER BY path
"""

_OF_FILES = f"""json_each(?) AS asked
CROSS JOIN note AS own ON own.handle = asked.value
CROSS JOIN link ON link.key >= own.rowid << {CHUNK_BITS}
    AND link.key < (own.rowid + 1) << {CHUNK_BITS}"""

_ATTACHMENTS_ENDING = """
SELECT path FROM attachment WHERE lower(substr(path, -length(?1))) = ?1 ORDER BY path
"""
