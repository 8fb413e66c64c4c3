"""Lists of notes: filtered, in an order, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.errors import InvalidRequest
from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.lists import ListedNote, ListPlace, NoteList, Sort
from vault_agent.model.search import Filters
from vault_agent.search.snippet import beginning
from vault_agent.search.warnings import filter_warnings
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index import links
from vault_agent.store.index import lists as sorting
from vault_agent.store.index import notes as reading
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vault_agent.model.lists import ListQuery
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.lists import SortedNote


EXCERPT_CHARACTERS = 160
MAX_FILES = 10
_MAX_VALUE = 200
_PROMOTED = Filters(properties=(("promoted", "true"),))
MAX_TITLE = 200


async def admitted(snapshot: Snapshot, filters: Filters) -> set[int] | None:
    """Return the notes that pass the filters, or None if there are none."""
    if filters == Filters():
        return None
    return await snapshot.threads.run(snapshot.fulltext.admitted, filters, attachments=False)


async def list_notes(
    snapshot: Snapshot, query: ListQuery, start: ListPlace | None = None
) -> NoteList:
    """Return a page of notes after the place `start`.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if path patterns are too complex, `CURSOR_EXPIRED` if the
            note at which the list continues is gone.
    """
    if not query.recursive and set("*?") & set("".join(query.path)):
        raise InvalidRequest("INVALID_REQUEST", "recursive=false needs folders without wildcards.")
    among = await _among(snapshot, query)
    warnings = await filter_warnings(snapshot, query.filters)

    def read(connection: Connection) -> tuple[list[SortedNote], list[ListedNote]]:
        after = _after(connection, query, start) if start else None
        page = sorting.sorted_notes(
            connection,
            query.sort,
            among=among,
            after=after,
            limit=query.limit + 1,
        )
        return page, _rows(connection, page[: query.limit])

    page, notes = await snapshot.read(read)
    shown = page[: query.limit]
    titled = query.sort is Sort.TITLE
    places = tuple(ListPlace("" if titled else at.value, note_key(at.path)) for at in shown)
    total = snapshot.meta.notes if among is None else len(among)
    more = len(page) > len(shown)
    return NoteList(tuple(notes), total, more, places=places, warnings=warnings)


async def _among(snapshot: Snapshot, query: ListQuery) -> set[int] | None:
    """Return the notes that are listed, or None for all."""
    filters = query.filters
    passing = await admitted(snapshot, filters)
    promoted: set[int] | None = None
    if query.promoted is not None:
        promoted = await admitted(snapshot, _PROMOTED)

    def read(connection: Connection) -> Iterator[set[int]]:
        if passing is not None:
            yield passing
        if promoted is not None:
            others = {rowid for rowid, _ in reading.order(connection)} - promoted
            yield promoted if query.promoted else others
        if query.tasks == "open":
            yield sorting.with_open_tasks(connection)
        if query.linked is not None:
            linked = links.connected(connection)
            paths = reading.order(connection)
            yield {rowid for rowid, _ in paths if (rowid in linked) is query.linked}
        if not query.recursive:
            yield _directly_in(reading.order(connection), filters.paths)

    sets = await snapshot.read(lambda connection: list(read(connection)))
    return set.intersection(*sets) if sets else None


def _directly_in(paths: Iterable[tuple[int, str]], folders: Sequence[str]) -> set[int]:
    """Return the notes that are in one of the folders itself, or in the vault's top folder."""
    wanted = {fold(folder).strip("/") for folder in folders} or {""}
    return {rowid for rowid, path in paths if fold(path.rpartition("/")[0]) in wanted}


def _after(connection: Connection, query: ListQuery, start: ListPlace) -> tuple[str | int, str]:
    path = path_of_key(connection, start.path)
    if query.sort is not Sort.TITLE:
        return start.value, path
    title = sorting.title_of(connection, path)  # too long for a cursor
    if title is None:
        raise InvalidRequest(
            "CURSOR_EXPIRED", "The note at which the list continues is no longer in the index."
        )
    return title, path


def _rows(connection: Connection, shown: Sequence[SortedNote]) -> list[ListedNote]:
    rowids = [each.rowid for each in shown]
    notes = reading.by_rowid(connection, rowids)
    if len(notes) < len(rowids):
        raise SnapshotOutdated
    first = [rowid << CHUNK_BITS for rowid in rowids]
    chunks = reading.chunks(connection, first)
    texts = {key: chunk.text for key, chunk in chunks.items()}
    counts = links.count_connections(connection, rowids)
    ids, statuses, files, promoted = [
        reading.values_of(connection, rowids, name)
        for name in ("id", "status", "files", "promoted")
    ]
    return [
        ListedNote(
            note_id=note.id,
            path=note.path,
            title=note.title[:MAX_TITLE],
            type=note.metadata.type,
            tags=note.metadata.tags,
            created=note.metadata.created or note.metadata.date,
            updated=each.updated,
            excerpt=beginning(texts.get(each.rowid << CHUNK_BITS, ""), EXCERPT_CHARACTERS),
            connections=counts.get(each.rowid, 0),
            id=_first(ids.get(each.rowid)),
            status=_first(statuses.get(each.rowid)),
            files=tuple(_cut(file) for file in files.get(each.rowid, ())[:MAX_FILES]),
            promoted=_first(promoted.get(each.rowid)) == "true",
        )
        for each in shown
        for note in (notes[each.rowid],)
    ]


def _first(values: Sequence[str] | None) -> str | None:
    return _cut(values[0]) if values else None


def _cut(value: str) -> str:
    return value if len(value) <= _MAX_VALUE else value[: _MAX_VALUE - 1] + "…"


_MAX_PATH_BYTES = 90


def note_key(path: str) -> str:
    """Return a short text for a note's path: the path itself, or `/` and the note ID."""
    fits = len(path.encode("utf-8", "surrogatepass")) <= _MAX_PATH_BYTES and path.isprintable()
    return path if fits else f"/{identify(path)}"


def path_of_key(connection: Connection, key: str) -> str:
    """Return the path of a key.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED` if the key is an ID and the note is gone, or
            `INVALID_CURSOR` if it is no key.
    """
    if not key.startswith("/"):
        return key
    if len(key) != 33 or not set(key[1:]) <= set("0123456789abcdef"):
        raise InvalidRequest("INVALID_CURSOR", "This cursor does not belong to this request.")
    note = reading.note_by_id(connection, key[1:])
    if note is None:
        raise InvalidRequest(
            "CURSOR_EXPIRED", "The note at which the list continues is no longer in the index."
        )
    return note.path
