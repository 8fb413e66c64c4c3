"""Reads the links of single notes: those they contain, and those that lead to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.notes import Anchor, LinkKind
from vault_agent.store.database import json_array, translated
from vault_agent.store.index.rows import keys_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence


MAX_ANCHORS_READ = 100_000
_SMALL_NOTE_BYTES = 1_000  # a larger note without chunks was not parsed


class AmbiguousLink(NamedTuple):
    """What decides which files an ambiguous link can mean."""

    key: int
    source: str  # path of the note that contains it
    target: str
    kind: LinkKind
    lookup: int


class OutgoingLink(NamedTuple):
    """A link of a note with its destination."""

    key: int
    kind: LinkKind
    target: str
    fragment: str | None
    text: str | None
    line: int
    column: int
    lookup: int
    ambiguous: int
    rowid: int | None  # of the note that it leads to
    note_path: str | None
    title: str | None
    attachment_path: str | None


class WebLink(NamedTuple):
    """A link to a web address."""

    key: int
    url: str
    text: str | None
    line: int
    column: int


class LinkPlace(NamedTuple):
    """The place of a link in the note that contains it."""

    key: int
    line: int
    column: int
    chunk: int | None


@dataclass(frozen=True, slots=True)
class LinkFilter:
    """Which links of a note are read. None means any."""

    kinds: tuple[str, ...] | None = None
    status: str | None = None  # resolved, ambiguous, unresolved

    def condition(self) -> tuple[str, list[str]]:
        """Return the SQL condition and its parameters."""
        clauses, values = [_STATUS[self.status]], []
        if self.kinds is not None:
            clauses.append("link.kind IN (SELECT value FROM json_each(?))")
            values.append(json_array(self.kinds))
        return " AND ".join(clauses), values


def outgoing(
    connection: sqlite3.Connection, rowid: int, wanted: LinkFilter, *, start: int, limit: int
) -> list[OutgoingLink]:
    """Return the links of a note in order, from its link number `start` on."""
    first, end = keys_of(rowid)
    condition, values = wanted.condition()
    with translated():
        rows = connection.execute(
            _OUTGOING.format(condition=condition), (first + start, end, *values, limit)
        ).fetchall()
    return [OutgoingLink._make((row[0], LinkKind(row[1]), *row[2:])) for row in rows]


def external(
    connection: sqlite3.Connection, rowid: int, *, start: int, limit: int
) -> list[WebLink]:
    """Return the web links of a note in order, from number `start` on."""
    first, end = keys_of(rowid)
    with translated():
        rows = connection.execute(_EXTERNAL, (first + start, end, limit)).fetchall()
    return [WebLink(*row) for row in rows]


def linking(connection: sqlite3.Connection, handle: int) -> list[tuple[int, int, str]]:
    """Return the notes with links to a file as (rowid, number of links, path), in no order."""
    with translated():
        rows = connection.execute(_LINKING, (handle,)).fetchall()
    return [(rowid, count, path) for rowid, count, path in rows]


def linking_rowids(connection: sqlite3.Connection, handle: int) -> set[int]:
    """Return the rowids of the notes with links to a file."""
    with translated():
        rows = connection.execute(_LINKING_ROWIDS, (handle,)).fetchall()
    return {rowid for (rowid,) in rows}


def places(
    connection: sqlite3.Connection, handle: int, rowids: Iterable[int], *, limit: int
) -> dict[int, list[LinkPlace]]:
    """Return the first `limit` links to a file in each of some notes, by the note's rowid."""
    found: dict[int, list[LinkPlace]] = {}
    with translated():
        rows = connection.execute(_PLACES, (json_array(rowids), handle, handle, limit)).fetchall()
    for row in rows:
        place = LinkPlace(*row)
        found.setdefault(place.key >> CHUNK_BITS, []).append(place)
    return found


def anchors(
    connection: sqlite3.Connection, rowids: Sequence[int]
) -> dict[int, list[Anchor]] | None:
    """Return the anchors of notes in order, by rowid.

    A note whose text is not indexed is left out. Returns None if there are over 100,000 anchors.
    """
    asked = json_array(rowids)
    with translated():
        read = connection.execute(_READ, (asked, _SMALL_NOTE_BYTES)).fetchall()
        rows = connection.execute(_ANCHORS, (asked, MAX_ANCHORS_READ)).fetchall()
    if len(rows) == MAX_ANCHORS_READ:
        return None
    found: dict[int, list[Anchor]] = {rowid: [] for (rowid,) in read}
    for rowid, *anchor in rows:
        if rowid in found:
            found[rowid].append(Anchor(*anchor))
    return found


_STATUS = {
    None: "TRUE",
    "resolved": "link.dest IS NOT NULL AND NOT link.ambiguous",
    "ambiguous": "link.ambiguous",
    "unresolved": "link.dest IS NULL",
}

_OUTGOING = """
SELECT link.key, link.kind, link.target, link.fragment, link.text, link.line, link.col,
       link.lookup, link.ambiguous, note.rowid, note.path, note.title, attachment.path
FROM link
LEFT JOIN note ON note.handle = link.dest
LEFT JOIN attachment ON attachment.handle = link.dest
WHERE link.key >= ? AND link.key < ? AND {condition}
ORDER BY link.key LIMIT ?
"""

_EXTERNAL = """
SELECT key, url, text, line, col FROM external_link
WHERE key >= ? AND key < ? ORDER BY key LIMIT ?
"""

# The index on `dest` also holds the key, so this reads no row of `link`.
_LINKING = f"""
SELECT note.rowid, source.links, note.path FROM (
    SELECT key >> {CHUNK_BITS} AS rowid, count(*) AS links FROM link WHERE dest = ? GROUP BY 1
) AS source CROSS JOIN note ON note.rowid = source.rowid
"""

_LINKING_ROWIDS = f"SELECT DISTINCT key >> {CHUNK_BITS} FROM link WHERE dest = ?"

_PLACES = f"""
SELECT link.key, link.line, link.col, link.chunk FROM json_each(?) AS asked
CROSS JOIN link ON link.dest = ? AND link.key IN (
    SELECT key FROM link
    WHERE dest = ? AND key >= asked.value << {CHUNK_BITS}
        AND key < (asked.value + 1) << {CHUNK_BITS}
    ORDER BY key LIMIT ?
)
ORDER BY link.key
"""

_READ = """
SELECT rowid FROM note
WHERE rowid IN (SELECT value FROM json_each(?)) AND (chunk_count > 0 OR size <= ?)
"""

_ANCHORS = f"""
SELECT asked.value, anchor.level, anchor.name, anchor.line FROM json_each(?) AS asked
CROSS JOIN anchor ON anchor.key >= asked.value << {CHUNK_BITS}
    AND anchor.key < (asked.value + 1) << {CHUNK_BITS}
ORDER BY anchor.key LIMIT ?
"""
