"""Reads notes and chunks of a generation.

Python's SQLite module releases the interpreter's lock at every row, and another thread may then
hold it for a while. So the reads of a search return all their rows as one text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.notes import FileEntry
from vault_agent.store.database import fetch, json_array, read_statements, translated
from vault_agent.store.failures import damaged
from vault_agent.store.index.rows import handle_of_id, metadata_from, read_list
from vault_agent.text.names import is_key

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from vault_agent.model.reading import Metadata


SQL = read_statements("index/notes.sql", CHUNK_BITS=CHUNK_BITS)


class StoredFile(NamedTuple):
    """A note's file as the last run saw it, and the hash of its content."""

    rowid: int
    hash: bytes
    entry: FileEntry


class StoredNote(NamedTuple):
    """A note's row with all its aliases."""

    rowid: int
    handle: int
    path: str
    title: str
    chunk_count: int
    aliases: tuple[str, ...]
    public: str | None
    """The public metadata as stored. Ranking reads many notes, and few of them are shown."""
    attachment_count: int
    keys: tuple[str, ...] = ()
    """By which links find it besides its names, see `text.names.keys_of`."""

    @property
    def id(self) -> str:
        """The note ID."""
        return identify(self.path)

    @property
    def metadata(self) -> Metadata:
        """The public metadata. It holds only the first aliases."""
        return metadata_from(self.aliases, self.public, self.attachment_count)


class StoredChunk(NamedTuple):
    """A chunk's row."""

    key: int
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    text: str


class ChunkText(NamedTuple):
    """A chunk with its title and heading path, as it is embedded."""

    key: int
    title: str
    heading_path: tuple[str, ...]
    text: str


class NoteColumns(NamedTuple):
    """What the graph shows of a note."""

    rowid: int
    path: str
    title: str
    metadata: str | None  # JSON


def files(
    connection: sqlite3.Connection, table: str = "note", *, paths: Iterable[str] | None = None
) -> list[StoredFile]:
    """Return every note's file as it was last seen. `table` may be "document".

    With `paths`, those at these paths or anywhere below them.
    """
    rows = _at(connection, table, "rowid, hash, path, size, mtime_ns, ctime_ns, inode", paths)
    return [StoredFile(row[0], row[1], FileEntry._make(row[2:])) for row in rows]


def all_paths(connection: sqlite3.Connection) -> list[str]:
    """Return the path of every note and attachment."""
    every = "SELECT path FROM note UNION ALL SELECT path FROM attachment"
    return [path for (path,) in fetch(connection, every)]


def attachments(connection: sqlite3.Connection, paths: Iterable[str] | None = None) -> list[str]:
    """Return the path of every attachment, or of those at these paths or below them."""
    return [path for (path,) in _at(connection, "attachment", "path", paths)]


def attachment_handle(connection: sqlite3.Connection, file_id: str) -> int | None:
    """Return the handle of the attachment with an ID, the hash of its path, or None."""
    handle = handle_of_id(file_id)
    rows = fetch(connection, "SELECT path FROM attachment WHERE handle = ?", (handle,))
    return handle if any(identify(path) == file_id for (path,) in rows) else None


def left_out(
    connection: sqlite3.Connection, paths: Iterable[str] | None = None
) -> list[tuple[FileEntry, bool]]:
    """Return the notes and attachments that were not indexed, each with whether it is unread.

    With `paths`, those at these paths or anywhere below them.
    """
    columns = "path, size, mtime_ns, ctime_ns, inode, unread"
    rows = _at(connection, "left_out", columns, paths)
    return [(FileEntry._make(entry), bool(unread)) for *entry, unread in rows]


def names(connection: sqlite3.Connection) -> list[tuple[str, tuple[str, ...]]]:
    """Return every note's path with its aliases and keys."""
    rows = fetch(connection, "SELECT path, aliases FROM note")
    return [(path, read_list(aliases)) for path, aliases in rows]


def note_by_id(
    connection: sqlite3.Connection, note_id: str, statement: str = SQL["note"]
) -> StoredNote | None:
    """Return the note with an ID, or None. `statement` may select from the documents."""
    rows = fetch(connection, f"{statement} WHERE handle = ?", (handle_of_id(note_id),))
    # A handle is only the beginning of an ID.
    return next((note for note in map(note_of, rows) if note.id == note_id), None)


def by_rowid(connection: sqlite3.Connection, rowids: Iterable[int]) -> dict[int, StoredNote]:
    """Return the notes with these rowids. Missing ones are left out."""
    return {row[0]: note_of(row) for row in _rows(connection, "notes", rowids)}


def headings(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, str | None]:
    """Return the innermost heading of each of these chunks, without reading their text."""
    rows = _rows(connection, "headings", keys)
    return {key: orjson.loads(path)[-1] if path else None for key, path in rows}


def chunks(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, StoredChunk]:
    """Return the chunks with these keys. Missing ones are left out."""
    return {row[0]: chunk_of(row) for row in _rows(connection, "chunks", keys)}


def chunks_of(connection: sqlite3.Connection, note: StoredNote) -> list[StoredChunk]:
    """Return all chunks of a note in their order."""
    first = note.rowid << CHUNK_BITS
    return sorted(chunks(connection, range(first, first + note.chunk_count)).values())


def chunk_keys(connection: sqlite3.Connection) -> list[int]:
    """Return the keys of all chunks, in order."""
    return [key for (key,) in fetch(connection, "SELECT key FROM chunk ORDER BY key")]


def chunk_texts_of(connection: sqlite3.Connection, keys: Iterable[int]) -> list[ChunkText]:
    """Return these chunks of notes and documents, in no particular order."""
    return [
        ChunkText(key, title, read_list(path), text)
        for key, title, path, text in fetch(connection, SQL["chunk_texts"], (json_array(keys),))
    ]


def order(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    """Return every note as (rowid, path), by path."""
    return fetch(connection, "SELECT rowid, path FROM note ORDER BY path")


def columns(
    connection: sqlite3.Connection, rowids: Iterable[int] | None = None
) -> list[NoteColumns]:
    """Return all notes, or those with these rowids, in no particular order."""
    if rowids is None:
        rows = fetch(connection, _COLUMNS)
    else:
        rows = fetch(connection, _COLUMNS + _AMONG, (json_array(rowids),))
    return [NoteColumns(*row) for row in rows]


def tags(connection: sqlite3.Connection) -> list[tuple[str, str, int]]:
    """Return every tag of every note as (folded name, spelling, rowid)."""
    return fetch(connection, SQL["tags"])


def _rows(connection: sqlite3.Connection, name: str, numbers: Iterable[int]) -> list[Any]:
    [(rows,)] = fetch(connection, SQL[name], (json_array(numbers),))
    try:
        return orjson.loads(rows)  # type: ignore[no-any-return]
    except orjson.JSONDecodeError:
        raise damaged() from None


def note_of(row: sqlite3.Row) -> StoredNote:
    """Return a note from its columns, in the order of the statement `note`."""
    rowid, handle, path, title, chunk_count, aliases, public, attachment_count = row
    names = read_list(aliases)
    keys = tuple(filter(is_key, names))
    if keys:
        names = tuple(name for name in names if not is_key(name))
    return StoredNote(
        rowid, handle, path, title, chunk_count, names, public, attachment_count, keys
    )


def chunk_of(row: sqlite3.Row) -> StoredChunk:
    """Return a chunk from its columns, in the order of `StoredChunk`."""
    key, heading_path, start_line, end_line, text = row
    return StoredChunk(key, read_list(heading_path), start_line, end_line, text)


_COLUMNS = "SELECT rowid, path, title, metadata FROM note"
_AMONG = " WHERE rowid IN (SELECT value FROM json_each(?))"


class NoteText(NamedTuple):
    """The text of a note as UTF-8, without frontmatter."""

    path: str
    first_line: int  # of the text, in the file
    text: bytes


def note_texts(
    connection: sqlite3.Connection, path: str, among: Collection[int] | None
) -> Iterator[NoteText]:
    """Yield the notes with text in the order of their paths, from `path` on.

    Only notes of `among` count, or all if it is None.
    """
    rowids = None if among is None else json_array(among)
    with translated():
        yield from map(NoteText._make, connection.execute(SQL["note_texts"], (path, rowids)))


def bodies(connection: sqlite3.Connection, rowids: Sequence[int]) -> list[bytes]:
    """Return the text of each of these notes, in their order; a missing note's is empty."""
    return [text for (text,) in fetch(connection, SQL["bodies"], (json_array(rowids),))]


def share_up_to(connection: sqlite3.Connection, path: str, among: Collection[int] | None) -> float:
    """Return the share of the notes with text whose path is not after `path`, 0 to 1.

    Only notes of `among` count, or all if it is None.
    """
    rowids = None if among is None else json_array(among)
    [(before, every)] = fetch(connection, SQL["share"], (path, rowids))
    return before / every if every else 1.0


def files_named(
    connection: sqlite3.Connection, lookups: Iterable[int]
) -> tuple[list[tuple[str, tuple[str, ...]]], list[str]]:
    """Return the files with one of these names (hashes), for a resolver of links.

    Notes are returned as their path with their aliases and keys, attachments as their path.
    """
    listed = (json_array(lookups),)
    notes = fetch(connection, SQL["notes_named"], listed)
    attachments = fetch(connection, SQL["attachments_named"], listed)
    return (
        [(path, read_list(aliases)) for path, aliases in notes],
        [path for (path,) in attachments],
    )


def _at(
    connection: sqlite3.Connection, table: str, columns: str, paths: Iterable[str] | None
) -> Iterable[sqlite3.Row]:
    if paths is None:
        return fetch(connection, f"SELECT {columns} FROM {table}")
    places = json_array(paths)
    return fetch(connection, SQL["at"].format(table=table, columns=columns), (places, places))


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
    rows = fetch(connection, SQL["rows"], (json_array(map(handle_of_id, note_ids)),))
    notes = (NamedRow(*row) for row in rows)
    wanted = set(note_ids)
    return [row for row in notes if row.id in wanted]  # a handle is only the beginning of an ID


def values_of(
    connection: sqlite3.Connection, rowids: Iterable[int], name: str
) -> dict[int, list[str]]:
    """Return the values of one property of some notes, in the order in which they are written."""
    rows = fetch(connection, SQL["values"], (json_array(rowids), name))
    values_by_note: dict[int, list[str]] = {}
    for rowid, value in rows:
        values_by_note.setdefault(rowid, []).append(value)
    return values_by_note


def notes_with_value(
    connection: sqlite3.Connection, name: str, value: str, *, limit: int
) -> list[tuple[int, str]]:
    """Return the rowid and path of the first notes with a value of a property, by path.

    It reads all properties.
    """
    return fetch(connection, SQL["with_value"], (name, value, limit))
