"""The one writer of a generation: notes in, notes out, links resolved."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import Failed
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import script, translated
from vault_agent.store.index.meta import SCHEMA_VERSION
from vault_agent.store.index.rows import PARTS, handle_of, keys_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    import aiosqlite

    from vault_agent.model.notes import FileEntry
    from vault_agent.store.index.rows import NoteRows

_PAGE = 20_000


class UnresolvedLink(NamedTuple):
    """A link that asks to be resolved: where it stands, and what it names."""

    key: int
    source: str  # path of the note it stands in
    target: str
    kind: str


async def create_schema(connection: aiosqlite.Connection) -> None:
    """Lay out an empty generation."""
    await connection.executescript(script("index/schema.sql"))
    await connection.execute_fetchall(f"PRAGMA user_version = {SCHEMA_VERSION}")


async def create_indexes(connection: aiosqlite.Connection) -> None:
    """Build what speeds up reading, once the bulk is in."""
    # One by one: executescript would commit the transaction it is called in.
    for statement in filter(str.strip, script("index/indexes.sql").split(";")):
        await connection.execute_fetchall(statement)


class NoteWriter:
    """Writes within the caller's transaction; `next_rowid` only grows."""

    def __init__(self, connection: aiosqlite.Connection, next_rowid: int) -> None:
        self._connection = connection
        self.next_rowid = next_rowid

    async def add(self, notes: Sequence[tuple[FileEntry, bytes, NoteRows]]) -> range:
        """Store notes with their content hashes, and return their new rowids, in order.

        Raises:
            Failed: `ID_COLLISION` where two paths share an identifier.
        """
        rowids = range(self.next_rowid, self.next_rowid + len(notes))
        self.next_rowid = rowids.stop
        note_rows = [
            (
                rowid,
                handle_of(entry.path),
                entry.path,
                rows.title,
                entry.size,
                entry.mtime_ns,
                entry.ctime_ns,
                entry.inode,
                content_hash,
                rows.aliases,
                rows.metadata,
                rows.chunk_count,
                rows.checksum,
            )
            for rowid, (entry, content_hash, rows) in zip(rowids, notes, strict=True)
        ]
        keyed = [
            (rowid << CHUNK_BITS, rows.parts)
            for rowid, (_, _, rows) in zip(rowids, notes, strict=True)
        ]
        with translated():
            try:
                await self._connection.executemany(_INSERT_NOTE, note_rows)
            except sqlite3.IntegrityError as error:
                raise Failed(
                    "ID_COLLISION",
                    "Two notes share one identifier.",
                ) from error
            for number, insert in enumerate(_INSERTS):
                part = [(base | row[0], *row[1:]) for base, parts in keyed for row in parts[number]]
                if part:
                    await self._connection.executemany(insert, part)
        return rowids

    async def remove(self, rowids: Iterable[int]) -> None:
        """Forget notes with all their parts."""
        rowids = list(rowids)
        ranges = [keys_of(rowid) for rowid in rowids]
        with translated():
            for delete in _DELETES:
                await self._connection.executemany(delete, ranges)
            await self._connection.executemany(
                "DELETE FROM note WHERE rowid = ?", [(rowid,) for rowid in rowids]
            )

    async def touch(self, files: Iterable[tuple[int, FileEntry]]) -> None:
        """Record a new size and new times of notes whose content is what it was."""
        with translated():
            await self._connection.executemany(
                "UPDATE note SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE rowid = ?",
                [
                    (entry.size, entry.mtime_ns, entry.ctime_ns, entry.inode, rowid)
                    for rowid, entry in files
                ],
            )

    async def replace_attachments(self, added: Iterable[str], removed: Iterable[str]) -> None:
        """Record which files that are not notes have come and gone."""
        with translated():
            await self._connection.executemany(
                "DELETE FROM attachment WHERE handle = ?", [(handle_of(path),) for path in removed]
            )
            await self._connection.executemany(
                "INSERT INTO attachment VALUES (?, ?)",
                [(handle_of(path), path) for path in added],
            )

    async def replace_left_out(self, entries: Iterable[FileEntry], unread: Container[str]) -> None:
        """Record which files have a note's name and are none, and which of them were unread."""
        with translated():
            await self._connection.execute_fetchall("DELETE FROM left_out")
            await self._connection.executemany(
                "INSERT INTO left_out VALUES (?, ?, ?, ?, ?, ?)",
                [(*entry, entry.path in unread) for entry in entries],
            )

    async def links(self, *, after: int, lookups: Sequence[int] | None) -> list[UnresolvedLink]:
        """Return the next page of links by key: all, or those that ask for one of `lookups`."""
        with translated():
            if lookups is None:
                rows = await self._connection.execute_fetchall(_ALL_LINKS, (after, _PAGE))
            else:
                marks = ",".join("?" * len(lookups))
                rows = await self._connection.execute_fetchall(
                    _LINKS_BY_LOOKUP.format(marks=marks), (*lookups, after, _PAGE)
                )
        return [UnresolvedLink(*row) for row in rows]

    async def links_of(self, rowids: Iterable[int]) -> list[UnresolvedLink]:
        """Return the links of some notes."""
        found: list[UnresolvedLink] = []
        with translated():
            for rowid in rowids:
                rows = await self._connection.execute_fetchall(_LINKS_OF_NOTE, keys_of(rowid))
                found.extend(UnresolvedLink(*row) for row in rows)
        return found

    async def resolve(self, resolved: Sequence[tuple[int | None, bool, int]]) -> None:
        """Record what links lead to: (handle or None, ambiguous, key of the link)."""
        with translated():
            await self._connection.executemany(
                "UPDATE link SET dest = ?, ambiguous = ? WHERE key = ?", resolved
            )

    async def count_attachments(self, rowids: Iterable[int]) -> None:
        """Count anew the attachments that some notes link to."""
        with translated():
            await self._connection.executemany(
                _COUNT_ATTACHMENTS,
                [(*keys_of(rowid), rowid) for rowid in rowids],
            )

    async def totals(self) -> tuple[int, int, int, int]:
        """Return how many notes, chunks, links and unresolved links there are."""
        with translated():
            [row] = await self._connection.execute_fetchall(_TOTALS)
        notes, chunks, links, unresolved = row
        return notes, chunks, links, unresolved


_INSERT_NOTE = """
INSERT INTO note (rowid, handle, path, title, size, mtime_ns, ctime_ns, inode, hash,
                  aliases, metadata, chunk_count, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_INSERTS = [
    f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(columns.split(',')))})"
    for table, columns in PARTS.items()
]

_DELETES = [f"DELETE FROM {table} WHERE key >= ? AND key < ?" for table in PARTS]

# Pages by key, so that a vault with a million links never stands in memory at once.
_ALL_LINKS = f"""
SELECT link.key, note.path, link.target, link.kind
FROM link JOIN note ON note.rowid = link.key >> {CHUNK_BITS}
WHERE link.key > ? ORDER BY link.key LIMIT ?
"""

_LINKS_BY_LOOKUP = f"""
SELECT link.key, note.path, link.target, link.kind
FROM link JOIN note ON note.rowid = link.key >> {CHUNK_BITS}
WHERE link.lookup IN ({{marks}}) AND link.key > ? ORDER BY link.key LIMIT ?
"""

_LINKS_OF_NOTE = f"""
SELECT link.key, note.path, link.target, link.kind
FROM link JOIN note ON note.rowid = link.key >> {CHUNK_BITS}
WHERE link.key >= ? AND link.key < ?
"""

# An attachment linked twice counts once: it is one file to fetch.
_COUNT_ATTACHMENTS = """
UPDATE note SET attachment_count = (
    SELECT count(DISTINCT link.dest) FROM link JOIN attachment ON attachment.handle = link.dest
    WHERE link.key >= ? AND link.key < ?
) WHERE rowid = ?
"""

_TOTALS = """
SELECT (SELECT count(*) FROM note), (SELECT coalesce(sum(chunk_count), 0) FROM note),
       (SELECT count(*) FROM link), (SELECT count(*) FROM link WHERE dest IS NULL)
"""
