"""Reads links: where they are written, where they lead, and how notes hang together by them.

`LinkReader` reads what decides where links lead, in the thread of a write.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.link_resolver import LinkResolver, target_key
from vault_agent.model.notes import Anchor, Link, LinkKind
from vault_agent.store.database import fetch, json_array, read_statements
from vault_agent.store.index.notes import attachments, files_named, names
from vault_agent.store.index.rows import handle_of, keys_of, name_hash

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from vault_agent.store.index.notes import StoredNote

MAX_ANCHORS_READ = 100_000
MAX_NEIGHBOURS = 2_000
MAX_LINKS = 3_000
"""Links that are read. A neighbour with more of them says little about any of its own."""
PAGE = 20_000
"""Links that a run resolves together, so that a million links are never in memory at once."""
_SMALL_NOTE_BYTES = 1_000  # a larger note without chunks was not parsed
_LAST_PLACE = (1 << CHUNK_BITS) - 1
_ROWID_BITS = 31  # no index has so many notes
SQL = read_statements(
    "index/links.sql",
    CHUNK_BITS=CHUNK_BITS,
    ROWID_BITS=_ROWID_BITS,
    MOST_LINKS=MAX_LINKS + 1,
    LAST_PLACE=_LAST_PLACE,
)


class LinkRow(NamedTuple):
    """A link with the note that contains it, and with its destination."""

    key: int
    source: str  # path of the note that contains it
    kind: LinkKind
    target: str
    fragment: str | None
    text: str | None
    line: int
    column: int
    chunk: int | None
    first: int | None  # its range in the text of the chunk, in characters
    past: int | None
    dest: int | None  # handle of a note or attachment; None: unresolved
    ambiguous: int
    rowid: int | None  # of the note that it leads to
    note_path: str | None  # of that note
    title: str | None  # of that note
    attachment_path: str | None

    @property
    def path(self) -> str | None:
        """The path of the file that it leads to."""
        return self.note_path or self.attachment_path


class WebLink(NamedTuple):
    """A link to a web address."""

    key: int
    url: str
    text: str | None
    line: int
    column: int


# --- links with their places ---------------------------------------------------------------------


def rows_of(
    connection: sqlite3.Connection, chosen: str, condition: str, *values: str | int | None
) -> list[LinkRow]:
    """Return links by key. `chosen` is what follows FROM, and has the table `link` last."""
    if "ORDER BY" not in condition:
        condition = f"{condition} ORDER BY link.key"
    statement = SQL["select"].format(chosen=chosen, condition=condition)
    rows = fetch(connection, statement, values)
    return [LinkRow(key, path, LinkKind(kind), *rest) for key, path, kind, *rest in rows]


def outgoing(
    connection: sqlite3.Connection,
    rowid: int,
    *,
    kinds: tuple[str, ...] | None = None,
    status: str | None = None,
    start: int = 0,
    limit: int = -1,
) -> list[LinkRow]:
    """Return the links of a note in order, from its link number `start` on.

    `status` is resolved, ambiguous or unresolved. None means any kind or status.
    """
    first, end = keys_of(rowid)
    condition = SQL["outgoing_condition"].format(status=_STATUS[status])
    wanted = None if kinds is None else json_array(kinds)
    return rows_of(connection, "link", condition, first + start, end, wanted, limit)


def with_keys(connection: sqlite3.Connection, keys: Iterable[int]) -> list[LinkRow]:
    """Return the links with these keys."""
    return rows_of(connection, SQL["with_keys"], "TRUE", json_array(keys))


def to_names(
    connection: sqlite3.Connection,
    lookups: Iterable[int],
    *,
    after: int = -1,
    limit: int = -1,
) -> list[LinkRow]:
    """Return the links with one of these names (hashes) in their target, after a key."""
    condition = "link.key > ? ORDER BY link.key LIMIT ?"
    return rows_of(connection, SQL["to_names"], condition, json_array(lookups), after, limit)


def of_notes(connection: sqlite3.Connection, rowids: Iterable[int]) -> list[LinkRow]:
    """Return the links of these notes."""
    return rows_of(connection, SQL["of_notes"], "TRUE", json_array(rowids))


def every(connection: sqlite3.Connection, *, after: int) -> list[LinkRow]:
    """Return the next page of all links, after a key."""
    condition = "link.key > ? ORDER BY link.key LIMIT ?"
    return rows_of(connection, "link", condition, after, PAGE)


def places(
    connection: sqlite3.Connection, handle: int, rowids: Iterable[int], *, limit: int
) -> dict[int, list[LinkRow]]:
    """Return the first `limit` links to a file in each of some notes, by the note's rowid."""
    links: dict[int, list[LinkRow]] = {}
    values = (json_array(rowids), handle, handle, limit)
    for row in rows_of(connection, SQL["places"], "TRUE", *values):
        links.setdefault(row.key >> CHUNK_BITS, []).append(row)
    return links


def doubtful(connection: sqlite3.Connection) -> list[LinkRow]:
    """Return the links that may lead nowhere: unresolved, ambiguous, or with a fragment."""
    condition = "link.dest IS NULL OR link.ambiguous OR link.fragment IS NOT NULL"
    return rows_of(connection, "link", condition)


def external(
    connection: sqlite3.Connection, rowid: int, *, start: int, limit: int
) -> list[WebLink]:
    """Return the web links of a note in order, from number `start` on."""
    first, end = keys_of(rowid)
    return [
        WebLink(*row) for row in fetch(connection, SQL["external"], (first + start, end, limit))
    ]


def count_links(connection: sqlite3.Connection, rowid: int) -> int:
    """Return how many links a note has, including links to attachments."""
    [(count,)] = fetch(connection, SQL["count_links"], keys_of(rowid))
    return int(count)


def unresolved(connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
    """Return every unresolved link as (rowid of its note, kind, target)."""
    return fetch(connection, SQL["unresolved"])


def unresolved_targets(
    connection: sqlite3.Connection, rowids: Iterable[int], prefix: str
) -> list[tuple[int, str]]:
    """Return the targets of links that lead nowhere and begin with a text, by their notes."""
    return fetch(connection, SQL["unresolved_of"], (json_array(rowids), len(prefix), prefix))


# --- which notes are linked ----------------------------------------------------------------------


def linking(connection: sqlite3.Connection, handle: int) -> list[tuple[int, int, str]]:
    """Return the notes with links to a file as (rowid, number of links, path), in no order."""
    return fetch(connection, SQL["linking"], (handle,))


def linking_rowids(connection: sqlite3.Connection, handle: int) -> set[int]:
    """Return the rowids of the notes with links to a file."""
    return {rowid for (rowid,) in fetch(connection, SQL["linking_rowids"], (handle,))}


def edges(connection: sqlite3.Connection) -> tuple[list[int], list[int]]:
    """Return the sources and the destinations of all links between notes, as rowids."""
    [(sources, targets)] = fetch(connection, SQL["edges"])
    return orjson.loads(sources), orjson.loads(targets)


def neighbours(connection: sqlite3.Connection, note: StoredNote) -> dict[int, int]:
    """Return the rowids of notes that `note` links to or is linked from, with how many links."""
    counts: dict[int, int] = {}
    outgoing = fetch(connection, SQL["neighbours_of"], keys_of(note.rowid))
    incoming = fetch(connection, SQL["neighbours_to"], (note.handle,))
    for rowid, count in (*outgoing, *incoming):
        if rowid != note.rowid:
            counts[rowid] = counts.get(rowid, 0) + count
    return counts


def circles(connection: sqlite3.Connection, rowids: Sequence[int]) -> dict[int, set[int]]:
    """Return the notes that each of some notes links to or is linked from.

    Of `rowids`, it takes the first 2,000, and of these the ones with the fewest links, as long as
    they have at most 3,000 links in all. The others are left out.
    """
    candidates = json_array(rowids[:MAX_NEIGHBOURS])
    chosen: list[int] = []
    left = MAX_LINKS
    counts = fetch(connection, SQL["counts"], (candidates,))
    for count, rowid in sorted((count, rowid) for rowid, count in counts):
        left -= count
        if left < 0:
            break
        chosen.append(rowid)
    walked = json_array(chosen)
    links = fetch(connection, SQL["outgoing"], (walked,))
    links += fetch(connection, SQL["incoming"], (walked,))
    circle_of: dict[int, set[int]] = {rowid: set() for rowid in chosen}
    for rowid, other in links:
        if rowid != other:
            circle_of[rowid].add(other)
    return circle_of


def count_connections(connection: sqlite3.Connection, rowids: Sequence[int]) -> dict[int, int]:
    """Return how many other notes each of these notes links to, or is linked from."""
    listed = json_array(rowids)
    return dict(fetch(connection, SQL["connections_of"], (listed, listed)))


def all_connections(connection: sqlite3.Connection) -> Counter[int]:
    """Return how many other notes each note links to, or is linked from, if there are any.

    SQLite would take three times as long to find which pairs of notes are linked several times.
    """
    [(read,)] = fetch(connection, SQL["paired"])
    pairs = set(orjson.loads(read))
    counts = Counter(pair >> _ROWID_BITS for pair in pairs)
    counts.update(pair & ((1 << _ROWID_BITS) - 1) for pair in pairs)
    return counts


def anchors(
    connection: sqlite3.Connection, rowids: Sequence[int]
) -> dict[int, list[Anchor]] | None:
    """Return the anchors of notes in order, by rowid.

    A note whose text is not indexed is left out. Returns None if there are over 100,000 anchors.
    """
    listed = json_array(rowids)
    read = fetch(connection, SQL["read"], (listed, _SMALL_NOTE_BYTES))
    rows = fetch(connection, SQL["anchors"], (listed, MAX_ANCHORS_READ))
    if len(rows) == MAX_ANCHORS_READ:
        return None
    anchors_of: dict[int, list[Anchor]] = {rowid: [] for (rowid,) in read}
    for rowid, *anchor in rows:
        if rowid in anchors_of:
            anchors_of[rowid].append(Anchor(*anchor))
    return anchors_of


_STATUS = {
    None: "TRUE",
    "resolved": "link.dest IS NOT NULL AND NOT link.ambiguous",
    "ambiguous": "link.ambiguous",
    "unresolved": "link.dest IS NULL",
}


def resolver_for(
    connection: sqlite3.Connection, targets: Iterable[str] | None = None
) -> LinkResolver:
    """Return what resolves links to these targets, or to any, as all names of the vault say."""
    if targets is None:
        return LinkResolver(names(connection), attachments(connection))
    lookups = {name_hash(target_key(target)) for target in targets}
    return LinkResolver(*files_named(connection, lookups))


class LinkFrom(NamedTuple):
    """A link, and the path of the note that contains it. It has no span and no text."""

    source: str
    link: Link


class LinkReader:
    """Reads names and links through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def paths_at(self, path: str) -> list[str]:
        """Return the path of the file at a path, or of all files below the folder at it."""
        notes = fetch(self._connection, SQL["notes_at"], (path,))
        attachments = fetch(self._connection, SQL["attachments_at"], (path,))
        return [path for (path,) in (*notes, *attachments)]

    def files_named(
        self, names: Iterable[str]
    ) -> tuple[list[tuple[str, tuple[str, ...]]], list[str]]:
        """Return `notes.files_named` for names as `names_of` returns them."""
        return files_named(self._connection, map(name_hash, names))

    def links_to(self, names: Iterable[str]) -> list[LinkFrom]:
        """Return the links with one of these names in their target, by note and place."""
        return _plain(to_names(self._connection, map(name_hash, names)))

    def links_of(self, paths: Iterable[str]) -> list[LinkFrom]:
        """Return the links of the notes at these paths, by note and place."""
        handles = json_array(map(handle_of, paths))
        return _plain(rows_of(self._connection, SQL["of_files"], "TRUE", handles))

    def links_into(self, path: str) -> list[LinkFrom]:
        """Return the links of other notes that lead to the file at `path`, by note and place."""
        rows = rows_of(self._connection, "link", "link.dest = ?", handle_of(path))
        return _plain(row for row in rows if row.source != path)

    def links_to_parts(self, path: str) -> list[LinkFrom]:
        """Return the links to a part of the note at `path`, by note and place."""
        where = "link.dest = ? AND link.fragment IS NOT NULL"
        return _plain(rows_of(self._connection, "link", where, handle_of(path)))

    def attachments_ending(self, suffix: str) -> list[str]:
        """Return the paths of the attachments that end in `suffix`, in order."""
        rows = fetch(self._connection, SQL["attachments_ending"], (suffix,))
        return [path for (path,) in rows]


def _plain(rows: Iterable[LinkRow]) -> list[LinkFrom]:
    return [
        LinkFrom(row.source, Link(row.kind, row.target, row.fragment, line=row.line))
        for row in rows
    ]
