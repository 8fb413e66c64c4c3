"""Adds and removes the notes of a generation and resolves links."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.errors import Failed
from vault_agent.store.database import read_statements, script, translated
from vault_agent.store.index.meta import SCHEMA_VERSION
from vault_agent.store.index.rows import PARTS, handle_of, keys_of
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vault_agent.model.notes import FileEntry
    from vault_agent.store.index.links import LinkRow
    from vault_agent.store.index.meta import Meta
    from vault_agent.store.index.rows import NoteRows, Row

_SQL = read_statements("index/writer.sql")
MAX_WAITING = 200_000
"""Links that a new generation keeps in memory until all names are known."""


@dataclass(slots=True)
class Totals:
    """How much an index holds, updated with each change so that no run counts its tables."""

    notes: int = 0
    chunks: int = 0
    links: int = 0
    unresolved_links: int = 0


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the tables of a new generation."""
    connection.executescript(script("index/schema.sql"))
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def create_indexes(connection: sqlite3.Connection) -> None:
    """Create the SQL indexes, after the bulk load."""
    # Not executescript, which would commit the current transaction.
    for statement in filter(str.strip, script("index/indexes.sql").split(";")):
        connection.execute(statement)


class NoteWriter:
    """Writes in the caller's transaction; `next_rowid` only grows.

    `base` is the metadata of the revision that the transaction updates, None for a new generation.
    `next_rowid` is above all rows of the full text.
    The links of a new generation wait for `add_links`, which writes them with their destinations.
    """

    def __init__(
        self, connection: sqlite3.Connection, base: Meta | None, *, next_rowid: int
    ) -> None:
        self._connection = connection
        self.next_rowid = max(base.next_rowid, next_rowid) if base else next_rowid
        self.waiting: list[tuple[str, list[Row]]] | None = None if base else []
        """The rows of links by the path of their note; None if all links are written."""
        self._waiting_links = 0
        self.totals = (
            Totals(base.notes, base.chunks, base.links, base.unresolved_links) if base else Totals()
        )

    def reserve(self, count: int) -> range:
        """Return rowids for as many notes."""
        rowids = range(self.next_rowid, self.next_rowid + count)
        self.next_rowid = rowids.stop
        return rowids

    def add(self, files: Sequence[NoteRows]) -> None:
        """Store notes, and documents, under rowids that were reserved for them.

        Raises:
            Failed: `ID_COLLISION` if two paths share an identifier.
        """
        notes = [rows for rows in files if is_note(rows.note[_PATH])]
        documents = [rows for rows in files if not is_note(rows.note[_PATH])]
        # A document has no aliases and no metadata.
        rows_of_documents = [
            (*rows.note[:_ALIASES], *rows.note[_METADATA + 1 :]) for rows in documents
        ]
        try:
            self._write(_SQL["insert_note"], [rows.note for rows in notes])
            self._write(_SQL["insert_document"], rows_of_documents)
        except sqlite3.IntegrityError as error:
            raise Failed("ID_COLLISION", "Two notes share one identifier.") from error
        self._write(_SQL["insert_name"], [name for rows in notes for name in rows.names])
        for number, insert in enumerate(_INSERTS):
            if number != _LINK or self.waiting is None:
                self._write(insert, [row for rows in files for row in rows.parts[number]])
        links = sum(len(rows.parts[_LINK]) for rows in notes)
        if self.waiting is not None:
            self.waiting += [(rows.note[_PATH], rows.parts[_LINK]) for rows in notes]
            self._waiting_links += links
            if self._waiting_links > MAX_WAITING:
                self._write_unresolved()
        self.totals.notes += len(notes)
        self.totals.chunks += sum(len(rows.parts[_CHUNK]) for rows in files)
        self.totals.links += links
        self.totals.unresolved_links += links  # until they are resolved

    def _write_unresolved(self) -> None:
        """Write the waiting links, and all later ones, without their destinations."""
        rows = [row for _, links in self.waiting or () for row in links]
        self.waiting = None
        self._write(_INSERTS[_LINK], rows)

    def add_links(self, rows: Sequence[Row], attachments: Mapping[int, int]) -> None:
        """Write links of a new generation with their destinations.

        Each row ends with the destination's handle and whether the link is ambiguous.
        `attachments` has the number of a note's linked attachments, by rowid.
        """
        self.totals.unresolved_links -= sum(row[-2] is not None for row in rows)
        self._write(_INSERT_RESOLVED, rows)
        self._write(
            "UPDATE note SET attachment_count = ? WHERE rowid = ?",
            [(count, rowid) for rowid, count in attachments.items()],
        )

    def remove(self, rowids: Iterable[int]) -> None:
        """Remove notes and documents with all their parts."""
        numbers = [(rowid,) for rowid in rowids]
        ranges = [keys_of(rowid) for (rowid,) in numbers]
        totals = self.totals
        unresolved = self._delete("link WHERE key >= ? AND key < ? AND dest IS NULL", ranges)
        totals.unresolved_links -= unresolved
        totals.links -= unresolved
        deleted = {
            table: self._delete(f"{table} WHERE key >= ? AND key < ?", ranges) for table in PARTS
        }
        totals.chunks -= deleted["chunk"]
        totals.links -= deleted["link"]
        totals.notes -= self._delete("note WHERE rowid = ?", numbers)
        self._delete("document WHERE rowid = ?", numbers)
        self._write("INSERT INTO old_row VALUES (?)", numbers)

    def forget_old_rows(self) -> None:
        """Forget which rows the full text may still have: it has none of them now."""
        self._write("DELETE FROM old_row", [()])

    def _delete(self, what: str, rows: Iterable[Row]) -> int:
        """Delete rows, once for each of `rows` of parameters, and return how many were deleted."""
        return self._write(f"DELETE FROM {what}", rows)

    def _write(self, statement: str, rows: Iterable[Row]) -> int:
        """Run a statement for each of `rows` of parameters. Return how many rows it changed."""
        with translated():
            return max(self._connection.executemany(statement, rows).rowcount, 0)

    def touch(self, files: Iterable[tuple[int, FileEntry]]) -> None:
        """Update size and times of notes and documents whose content has not changed."""
        times = [
            (entry.size, entry.mtime_ns, entry.ctime_ns, entry.inode, rowid)
            for rowid, entry in files
        ]
        for table in ("note", "document"):
            self._write(
                f"UPDATE {table} SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?"
                " WHERE rowid = ?",
                times,
            )

    def record_shared_times(self) -> None:
        """Record the seconds in which many notes got the time of their file."""
        self._write("DELETE FROM together", [()])
        self._write(_SQL["together"], [(MANY_AT_ONCE,)])

    def change_names(
        self, added: Iterable[tuple[int, int]], removed: Iterable[tuple[int, int]]
    ) -> None:
        """Add and remove names of files, as (hash of the name, handle of the file)."""
        self._delete("name WHERE lookup = ? AND handle = ?", removed)
        self._write(_SQL["insert_name"], added)

    def change_attachments(self, added: Iterable[str], removed: Iterable[str]) -> None:
        """Add and remove attachments."""
        self._delete("attachment WHERE handle = ?", [(handle_of(path),) for path in removed])
        rows = [(handle_of(path), path) for path in added]
        self._write("INSERT INTO attachment VALUES (?, ?)", rows)

    def change_left_out(
        self, added: Iterable[tuple[FileEntry, bool]], removed: Iterable[str]
    ) -> None:
        """Add and remove notes and attachments that are left out, each with whether it is unread.

        `removed` comes first, so a path may be in both.
        """
        self._delete("left_out WHERE path = ?", [(path,) for path in removed])
        rows = [(*entry, unread) for entry, unread in added]
        self._write("INSERT INTO left_out VALUES (?, ?, ?, ?, ?, ?)", rows)

    def resolve(self, resolved: Iterable[tuple[LinkRow, int | None, bool]]) -> list[LinkRow]:
        """Record the destinations of links, and return the links whose destination has changed.

        Each comes with the handle of its new destination, and with whether it is ambiguous.
        """
        changed = [
            (link, dest, ambiguous)
            for link, dest, ambiguous in resolved
            if (link.dest, bool(link.ambiguous)) != (dest, ambiguous)
        ]
        self.totals.unresolved_links += sum(
            (dest is None) - (link.dest is None) for link, dest, _ in changed
        )
        self._write(
            "UPDATE link SET dest = ?, ambiguous = ? WHERE key = ?",
            [(dest, ambiguous, link.key) for link, dest, ambiguous in changed],
        )
        return [link for link, _, _ in changed]

    def count_attachments(self, rowids: Iterable[int]) -> None:
        """Recount the attachments that these notes link to."""
        rows = [(*keys_of(rowid), rowid) for rowid in rowids]
        self._write(_SQL["count_attachments"], rows)


def _insert_into(table: str, columns: str) -> str:
    values = ", ".join("?" * len(columns.split(",")))
    return f"INSERT INTO {table} ({columns}) VALUES ({values})"


_INSERTS = [_insert_into(table, columns) for table, columns in PARTS.items()]
_INSERT_RESOLVED = _insert_into("link", f"{PARTS['link']}, dest, ambiguous")

MANY_AT_ONCE = 20
"""Notes whose files got their time within ten seconds, as by a checkout and not by a person."""

_PATH = 2  # in the row of a note
_ALIASES, _METADATA = 9, 10


_CHUNK, _LINK = (list(PARTS).index(table) for table in ("chunk", "link"))
