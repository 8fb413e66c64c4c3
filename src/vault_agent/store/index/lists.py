"""Reads lists of notes and of tasks, page by page, and whole tables.

The tables are counts, the names of all notes, and the facts of notes that memory compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import fetch, json_array, read_statements
from vault_agent.store.index.links import all_connections
from vault_agent.store.index.rows import read_list

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from vault_agent.model.lists import Sort


SQL = read_statements("index/lists.sql", CHUNK_BITS=CHUNK_BITS)


class SortedNote(NamedTuple):
    """A note with the value by which it is sorted."""

    rowid: int
    path: str
    value: str | int
    updated: str


class TaskRow(NamedTuple):
    """A task with its note."""

    rowid: int
    path: str
    line: int
    symbol: str
    text: str
    chunk: int | None


def sorted_notes(
    connection: sqlite3.Connection,
    sort: Sort,
    *,
    among: Iterable[int] | None,
    after: tuple[str | int, str] | None,
    limit: int,
) -> list[SortedNote]:
    """Return notes in an order, after a sort value and path. `among`: rowids, or None for all."""
    if sort.value == "connections":
        return _most_connected(connection, among=among, after=after, limit=limit)
    value, descending = _VALUES[sort.value]
    conditions: list[str] = ["true"]
    arguments: list[str | int] = []
    if among is not None:
        conditions.append("note.rowid IN (SELECT value FROM json_each(?))")
        arguments.append(json_array(among))
    if after is not None:
        way = "<" if descending else ">"
        conditions.append(f"(value {way} ? OR (value = ? AND note.path > ?))")
        arguments += [after[0], after[0], after[1]]
    statement = SQL["sorted"].format(
        value=value,
        conditions=" AND ".join(conditions),
        direction="DESC" if descending else "ASC",
    )
    return [SortedNote(*row) for row in fetch(connection, statement, (*arguments, limit))]


def _most_connected(
    connection: sqlite3.Connection,
    *,
    among: Iterable[int] | None,
    after: tuple[str | int, str] | None,
    limit: int,
) -> list[SortedNote]:
    """Do the same in the order of connections. A join would compare all notes with all counts."""
    rows = fetch(connection, "SELECT rowid, path FROM note")
    counts = all_connections(connection)
    wanted = None if among is None else set(among)
    order = sorted(
        (-counts[rowid], path, rowid) for rowid, path in rows if wanted is None or rowid in wanted
    )
    if after is not None:
        last = (-int(after[0]), after[1])
        order = [entry for entry in order if entry[:2] > last]
    page = order[:limit]
    times = updated_of(connection, (rowid for _, _, rowid in page))
    return [SortedNote(rowid, path, -count, times.get(rowid, "")) for count, path, rowid in page]


def updated_of(connection: sqlite3.Connection, rowids: Iterable[int]) -> dict[int, str]:
    """Return when each of these notes was changed, ISO 8601.

    The later of its property and its file's time, unless many files got that at once.
    """
    return dict(fetch(connection, SQL["updated_of"], (json_array(rowids),)))


def count_types(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the number of notes of each type, most frequent first; "" for notes without one."""
    return {
        name or "": count for name, count in fetch(connection, SQL["frequent_types"], (_MAX_TYPES,))
    }


def with_open_tasks(connection: sqlite3.Connection) -> set[int]:
    """Return the notes with open tasks."""
    return {rowid for (rowid,) in fetch(connection, SQL["with_open_tasks"])}


def tasks_from(
    connection: sqlite3.Connection,
    path: str,
    line: int,
    *,
    symbols: Sequence[str] | None,
    without: Sequence[str] = (),
    limit: int,
) -> list[TaskRow]:
    """Return tasks in the order of path and line, after a line of the note at `path`.

    `symbols` are those wanted, or None for all but `without`.
    """
    wanted = json_array(symbols if symbols is not None else without)
    operator = "IN" if symbols is not None else "NOT IN"
    rows = fetch(
        connection, SQL["tasks_from"].format(operator=operator), (path, path, line, wanted, limit)
    )
    return [TaskRow(*row) for row in rows]


def tasks_with(
    connection: sqlite3.Connection, words: Sequence[str], *, without: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the path and text of tasks that contain a word, but for those with some symbols."""
    return fetch(connection, SQL["tasks_with"], (json_array(without), json_array(words)))


_VALUES = {
    "path": ("''", False),
    "title": ("title COLLATE NOCASE", False),
    "updated": (SQL["UPDATED"], True),
    "created": (SQL["CREATED"], True),
}
"""The value of each order, and whether it is descending. Notes of one value are in path order."""


_MAX_TYPES = 50


class Counts(NamedTuple):
    """Numbers of rows."""

    attachments: int
    external_links: int
    tags: int
    open_tasks: int


class NoteNames(NamedTuple):
    """The names of a note, its type, and how many notes it links to or is linked from."""

    path: str
    title: str
    aliases: tuple[str, ...]
    type: str | None
    connections: int


class HeadingRow(NamedTuple):
    """A heading with its note, by its folded name, and headings around the place."""

    path: str
    title: str
    name: str
    line: int
    heading_path: tuple[str, ...]


def counts(connection: sqlite3.Connection) -> Counts:
    """Return the numbers of rows that no total has."""
    [row] = fetch(connection, SQL["counts"])
    return Counts(*row)


def types(connection: sqlite3.Connection) -> list[tuple[str | None, int]]:
    """Return every type of notes with their number, the most frequent first."""
    return fetch(connection, SQL["kinds"])


def by_change(connection: sqlite3.Connection) -> list[NoteNames]:
    """Return the names of every note, the last changed first."""
    rows = fetch(connection, SQL["by_change"])
    counts = all_connections(connection)
    return [
        NoteNames(path, title, read_list(aliases), kind, counts[rowid])
        for rowid, path, title, aliases, kind in rows
    ]


def headings(connection: sqlite3.Connection, part: str, *, limit: int) -> list[HeadingRow]:
    """Return headings whose folded name contains a text."""
    rows = fetch(connection, SQL["headings"], (part, limit))
    return [
        HeadingRow(path, title, name, line, read_list(above))
        for path, title, name, line, above in rows
    ]


_ATTACHMENT: Final = "attachment"
"""The type that attachments have in memory, by which their owner may leave them out."""


class NoteFacts(NamedTuple):
    """A note, or an attachment. `updated` is ISO 8601, `hash` that of its file.

    The others are of its frontmatter.
    """

    rowid: int
    path: str
    title: str
    chunk_count: int
    updated: str
    type: str | None
    tags: tuple[str, ...]
    files: tuple[str, ...] = ()
    identifier: str | None = None
    status: str | None = None
    memory: str | None = None
    session: str | None = None
    promoted_from: str | None = None
    hash: bytes = b""
    created: str | None = None


def read_facts(connection: sqlite3.Connection) -> list[NoteFacts]:
    """Return all notes by path."""
    rows = fetch(connection, SQL["notes"])
    named = fetch(connection, SQL["properties"])
    values: dict[int, dict[str, list[str]]] = {}
    for rowid, name, value in named:
        values.setdefault(rowid, {}).setdefault(name, []).append(value)
    facts = []
    for rowid, path, title, chunk_count, metadata, digest, updated in rows:
        public = orjson.loads(metadata) if metadata else {}
        own = values.get(rowid, {})
        facts.append(
            NoteFacts(
                rowid,
                path,
                title,
                chunk_count,
                updated,
                public.get("type"),
                tuple(public.get("tags") or ()),
                tuple(own.get("files", ())),
                **{field: own[name][0] for field, name in _SINGLE.items() if name in own},
                hash=digest,
                created=public.get("created") or public.get("date"),
            )
        )
    return facts


def read_attachments(connection: sqlite3.Connection) -> list[NoteFacts]:
    """Return all attachments whose text is indexed, by path."""
    rows = fetch(connection, SQL["documents"])
    return [
        NoteFacts(rowid, path, title, chunk_count, updated, _ATTACHMENT, (), hash=digest)
        for rowid, path, title, chunk_count, digest, updated in rows
    ]


_SINGLE: Final[Mapping[str, Any]] = {  # field and property
    "identifier": "id",
    "status": "status",
    "memory": "memory",
    "session": "session",
    "promoted_from": "promoted_from",
}
