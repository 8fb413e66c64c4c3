"""Reads what decides where links lead, in the thread of a write.

Nothing here is async, because a write plans its changes in a thread of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.notes import Link, LinkKind
from vault_agent.store.database import json_array, translated
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
        return self._files(_NOTES_NAMED, _ATTACHMENTS_NAMED, _hashes(names))

    def links_to(self, names: Iterable[str]) -> list[LinkFrom]:
        """Return the links with one of these names in their target, by note and place."""
        return self._links(_LINKS_TO, _hashes(names))

    def links_of(self, paths: Iterable[str]) -> list[LinkFrom]:
        """Return the links of the notes at these paths, by note and place."""
        return self._links(_LINKS_OF, json_array(paths))

    def links_into(self, path: str) -> list[LinkFrom]:
        """Return the links of other notes that lead to the file at `path`, by note and place."""
        return [row for row in self._links(_LINKS_INTO, handle_of(path)) if row.source != path]

    def notes_with_fragments(self, path: str) -> list[str]:
        """Return the paths of the notes with a link to a part of the note at `path`."""
        return [found for (found,) in self._rows(_WITH_FRAGMENTS, handle_of(path))]

    def attachments_ending(self, suffix: str) -> list[str]:
        """Return the paths of the attachments that end in `suffix`, in order."""
        return [path for (path,) in self._rows(_ATTACHMENTS_ENDING, suffix)]

    def _files(self, notes: str, attachments: str, value: str) -> list[NamedFile]:
        found = [
            NamedFile(path, tuple(orjson.loads(aliases)) if aliases else ())
            for path, aliases in self._rows(notes, value)
        ]
        return found + [NamedFile(path, None) for (path,) in self._rows(attachments, value)]

    def _links(self, statement: str, value: str | int) -> list[LinkFrom]:
        return [
            LinkFrom(path, Link(LinkKind(kind), target, fragment, line=line))
            for path, kind, target, fragment, line in self._rows(statement, value)
        ]

    def _rows(self, statement: str, value: str | int) -> list[tuple[Any, ...]]:
        with translated():
            return self._connection.execute(statement, (value,)).fetchall()


def _hashes(names: Iterable[str]) -> str:
    return json_array(name_hash(name) for name in names)


# "0" is the character after "/".
_NOTES_AT = """
SELECT path, aliases FROM note
WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0') ORDER BY path
"""

_ATTACHMENTS_AT = """
SELECT path FROM attachment
WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0') ORDER BY path
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

_LINKS_TO = f"""
SELECT note.path, link.kind, link.target, link.fragment, link.line FROM json_each(?) AS asked
CROSS JOIN link ON link.lookup = asked.value
CROSS JOIN note ON note.rowid = link.key >> {CHUNK_BITS} ORDER BY link.key
"""

_LINKS_OF = f"""
SELECT note.path, link.kind, link.target, link.fragment, link.line FROM json_each(?) AS asked
CROSS JOIN note ON note.path = asked.value
CROSS JOIN link ON link.key >= note.rowid << {CHUNK_BITS}
    AND link.key < (note.rowid + 1) << {CHUNK_BITS} ORDER BY link.key
"""

_LINKS_INTO = f"""
SELECT note.path, link.kind, link.target, link.fragment, link.line FROM link
CROSS JOIN note ON note.rowid = link.key >> {CHUNK_BITS} WHERE link.dest = ? ORDER BY link.key
"""

_WITH_FRAGMENTS = f"""
SELECT DISTINCT note.path FROM link
CROSS JOIN note ON note.rowid = link.key >> {CHUNK_BITS}
WHERE link.dest = ? AND link.fragment IS NOT NULL ORDER BY note.path
"""

_ATTACHMENTS_ENDING = """
SELECT path FROM attachment WHERE lower(substr(path, -length(?1))) = ?1 ORDER BY path
"""
