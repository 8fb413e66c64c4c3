"""Checks the database of a generation: its pages, and the contents of its rows.

SQLite's own check finds a broken tree, but not a changed word. So each note has a checksum of its
rows.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import check_pages, translated
from vault_agent.store.failures import damaged
from vault_agent.store.index.rows import PARTS, checksum_of, handle_of, keys_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from vault_agent.store.index.meta import Meta

_NOTES = 500  # in one page


def check_database(connection: sqlite3.Connection, meta: Meta) -> None:
    """Compare a database with its totals and checksums.

    Raises:
        IndexUnavailable: `INDEX_INCOMPATIBLE` if it is damaged.
        Failed: `INDEX_IO_ERROR` if it cannot be read.
    """
    check_pages(connection)
    with translated():
        totals = connection.execute(_TOTALS).fetchall()
        strays = connection.execute(_STRAY_LINKS).fetchall()
        attachments = connection.execute("SELECT path, handle FROM attachment").fetchall()
        expected = (meta.notes, meta.chunks, meta.chunks, meta.links, meta.unresolved_links)
        if (
            [tuple(row) for row in totals] != [expected]
            or list(strays)
            or any(handle_of(path) != handle for path, handle in attachments)
        ):
            raise damaged()
        last = 0
        while notes := connection.execute(_PAGE, (last, _NOTES)).fetchall():
            _check_notes(connection, notes, after=last)
            last = notes[-1][0]
        for table in PARTS:
            beyond = f"SELECT 1 FROM {table} WHERE key >= ? LIMIT 1"
            if connection.execute(beyond, (keys_of(last)[1],)).fetchall():
                raise damaged()
        if last >= meta.next_rowid:
            raise damaged()


def _check_notes(
    connection: sqlite3.Connection, notes: Sequence[Sequence[Any]], *, after: int
) -> None:
    """Check a page of notes; `after` is the last rowid of the page before."""
    span = (keys_of(after)[1], keys_of(notes[-1][0])[1])
    parts = [_by_note(connection.execute(select, span).fetchall()) for select in _SELECT_PARTS]
    for rowid, path, handle, title, aliases, metadata, checksum in notes:
        try:
            found = checksum_of(title, aliases, metadata, [part.pop(rowid, []) for part in parts])
        except TypeError:  # bytes instead of text
            raise damaged() from None
        if found != checksum or handle_of(path) != handle:
            raise damaged()
    if any(parts):  # rows without a note
        raise damaged()


def _by_note(rows: Iterable[Sequence[Any]]) -> dict[int, list[tuple[Any, ...]]]:
    return {
        rowid: [tuple(row) for row in group]
        for rowid, group in groupby(rows, key=lambda row: int(row[0]) >> CHUNK_BITS)
    }


_TOTALS = """
SELECT (SELECT count(*) FROM note), (SELECT coalesce(sum(chunk_count), 0) FROM note),
       (SELECT count(*) FROM chunk), (SELECT count(*) FROM link),
       (SELECT count(*) FROM link WHERE dest IS NULL)
"""

# The destination of a link is not part of its note's checksum: it changes with other notes.
_STRAY_LINKS = """
SELECT 1 FROM link WHERE dest IS NOT NULL AND dest NOT IN (SELECT handle FROM note)
    AND dest NOT IN (SELECT handle FROM attachment) LIMIT 1
"""

_PAGE = """
SELECT rowid, path, handle, title, aliases, metadata, checksum FROM note
WHERE rowid > ? ORDER BY rowid LIMIT ?
"""

_SELECT_PARTS = [
    f"SELECT {columns} FROM {table} WHERE key >= ? AND key < ? ORDER BY key"
    for table, columns in PARTS.items()
]
