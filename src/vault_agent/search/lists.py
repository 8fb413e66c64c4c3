"""Lists: notes and tasks, filtered and page by page, and the trees of tags and folders."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from vault_agent.errors import InvalidRequest
from vault_agent.markdown.tasks import line_digest, task_fields
from vault_agent.model.graph import FolderBranch, FolderTree, TagBranch, TagTree
from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.lists import (
    ListedNote,
    ListedTask,
    ListPlace,
    NoteList,
    Sort,
    TaskList,
    TaskPlace,
    TaskStatus,
)
from vault_agent.model.search import Filters
from vault_agent.search.resolve import NOTE_ID
from vault_agent.search.snippet import beginning
from vault_agent.search.warnings import filter_warnings
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index import links
from vault_agent.store.index import lists as sorting
from vault_agent.store.index import notes as stored_notes
from vault_agent.text.names import fold, shorten
from vault_agent.vault.paths import folders_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vault_agent.model.graph import Page, TreeQuery
    from vault_agent.model.lists import ListQuery, TaskFields, TaskQuery
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.lists import SortedNote, TaskRow
    from vault_agent.store.index.notes import StoredChunk, StoredNote

EXCERPT_CHARACTERS = 160
MAX_FILES = 10
_MAX_VALUE = 200
_PROMOTED = Filters(properties=(("promoted", "true"),))
MAX_TITLE = 200


def check_revision(snapshot: Snapshot, page: Page) -> None:
    """Raise `CURSOR_EXPIRED` if the page's cursor is of another revision."""
    if page.revision is not None and page.revision != snapshot.revision:
        raise InvalidRequest("CURSOR_EXPIRED", "The index has changed since the first page.")


async def admitted(snapshot: Snapshot, filters: Filters) -> set[int] | None:
    """Return the notes that pass the filters, or None if there are no filters."""
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
        return page, _listed_notes(connection, page[: query.limit])

    page, notes = await snapshot.read(read)
    rows = page[: query.limit]
    titled = query.sort is Sort.TITLE
    places = tuple(ListPlace("" if titled else at.value, identify(at.path)) for at in rows)
    total = snapshot.meta.notes if among is None else len(among)
    more = len(page) > len(rows)
    return NoteList(tuple(notes), total, more, places=places, warnings=warnings)


async def _among(snapshot: Snapshot, query: ListQuery) -> set[int] | None:
    """Return the notes that the query lists, or None for all."""
    filters = query.filters
    passing = await admitted(snapshot, filters)
    promoted: set[int] | None = None
    if query.promoted is not None:
        promoted = await admitted(snapshot, _PROMOTED)

    def read(connection: Connection) -> Iterator[set[int]]:
        if passing is not None:
            yield passing
        if promoted is not None:
            others = {rowid for rowid, _ in stored_notes.order(connection)} - promoted
            yield promoted if query.promoted else others
        if query.tasks == "open":
            yield sorting.with_open_tasks(connection)
        if query.linked is not None:
            linked = links.all_connections(connection)
            paths = stored_notes.order(connection)
            yield {rowid for rowid, _ in paths if (rowid in linked) is query.linked}
        if not query.recursive:
            yield _directly_in(stored_notes.order(connection), filters.paths)

    sets = await snapshot.read(lambda connection: list(read(connection)))
    return set.intersection(*sets) if sets else None


def _directly_in(paths: Iterable[tuple[int, str]], folders: Sequence[str]) -> set[int]:
    """Return the notes directly in one of the folders; without folders, in the vault itself."""
    wanted = {fold(folder).strip("/") for folder in folders} or {""}
    return {rowid for rowid, path in paths if fold(path.rpartition("/")[0]) in wanted}


def _after(connection: Connection, query: ListQuery, start: ListPlace) -> tuple[str | int, str]:
    note = note_of_cursor(connection, start.note_id)
    # A title is too long for a cursor.
    return note.title if query.sort is Sort.TITLE else start.value, note.path


def _listed_notes(connection: Connection, rows: Sequence[SortedNote]) -> list[ListedNote]:
    rowids = [row.rowid for row in rows]
    notes = stored_notes.by_rowid(connection, rowids)
    if len(notes) < len(rowids):
        raise SnapshotOutdated
    first = [rowid << CHUNK_BITS for rowid in rowids]
    chunks = stored_notes.chunks(connection, first)
    texts = {key: chunk.text for key, chunk in chunks.items()}
    counts = links.count_connections(connection, rowids)
    ids, statuses, files, promoted = [
        stored_notes.values_of(connection, rowids, name)
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
            updated=row.updated,
            excerpt=beginning(texts.get(row.rowid << CHUNK_BITS, ""), EXCERPT_CHARACTERS),
            connections=counts.get(row.rowid, 0),
            id=_first(ids.get(row.rowid)),
            status=_first(statuses.get(row.rowid)),
            files=tuple(shorten(file, _MAX_VALUE) for file in files.get(row.rowid, ())[:MAX_FILES]),
            promoted=_first(promoted.get(row.rowid)) == "true",
        )
        for row in rows
        for note in (notes[row.rowid],)
    ]


def _first(values: Sequence[str] | None) -> str | None:
    return shorten(values[0], _MAX_VALUE) if values else None


def note_of_cursor(connection: Connection, note_id: str) -> StoredNote:
    """Return the note at which a list continues.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED` if the note is gone, or `INVALID_CURSOR` if it is no ID.
    """
    if not NOTE_ID.fullmatch(note_id):
        raise InvalidRequest("INVALID_CURSOR", "This cursor does not belong to this request.")
    note = stored_notes.note_by_id(connection, note_id)
    if note is None:
        raise InvalidRequest(
            "CURSOR_EXPIRED", "The note at which the list continues is no longer in the index."
        )
    return note


# --- tasks ----------------------------------------------------------------------------------------


_TASKS_AT_ONCE = 2_000
_DONE, _CANCELLED = ("x", "X"), ("-",)


async def list_tasks(
    snapshot: Snapshot, query: TaskQuery, start: TaskPlace | None = None
) -> TaskList:
    """Return a page of tasks in the order of paths and lines, after the place `start`.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if path patterns are too complex, `CURSOR_EXPIRED` if the
            note at which the list continues is gone.
    """
    passing = await admitted(snapshot, query.filters)
    warnings = await filter_warnings(snapshot, query.filters)
    tasks, more = await snapshot.read(_tasks, query, passing, start)
    places = tuple(TaskPlace(identify(task.path), task.line) for task in tasks)
    return TaskList(tuple(tasks), more, places=places, warnings=warnings)


def _tasks(
    connection: Connection,
    query: TaskQuery,
    passing: set[int] | None,
    start: TaskPlace | None,
) -> tuple[list[ListedTask], bool]:
    """Return a page of tasks, and whether there are more."""
    path, line = "", 0
    rows: list[tuple[TaskRow, TaskFields]] = []
    if start is not None:
        path, line = note_of_cursor(connection, start.note_id).path, start.line
    while len(rows) <= query.limit:
        page = _task_page(connection, query.status, path, line)
        rows += _fitting(page, passing, query)
        if len(page) < _TASKS_AT_ONCE:
            break
        path, line = page[-1].path, page[-1].line
    return _listed_tasks(connection, rows[: query.limit]), len(rows) > query.limit


async def open_tasks_of(snapshot: Snapshot, ids: Sequence[str]) -> list[str]:
    """Return those of `ids` that are the ID (`🆔`) of an open task, in their order."""
    rows = await snapshot.read(sorting.tasks_with, ids, without=(*_DONE, *_CANCELLED))
    open_ids = {task_fields(text).id for _, text in rows}
    return [task_id for task_id in dict.fromkeys(ids) if task_id in open_ids]


def status_of(symbol: str) -> TaskStatus:
    """Return the status that the character in a box means."""
    if symbol in _DONE:
        return TaskStatus.DONE
    return TaskStatus.CANCELLED if symbol in _CANCELLED else TaskStatus.OPEN


def _task_page(connection: Connection, status: str, path: str, line: int) -> list[TaskRow]:
    symbols: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    if status == "open":
        without = (*_DONE, *_CANCELLED)
    elif status != "all":
        symbols = _DONE if status == "done" else _CANCELLED
    return sorting.tasks_from(
        connection, path, line, symbols=symbols, without=without, limit=_TASKS_AT_ONCE
    )


def _fitting(
    page: Sequence[TaskRow], passing: set[int] | None, query: TaskQuery
) -> list[tuple[TaskRow, TaskFields]]:
    tags = [fold(tag.lstrip("#")).strip("/") for tag in query.tag]
    rows = []
    for row in page:
        if passing is not None and row.rowid not in passing:
            continue
        fields = task_fields(row.text)
        if query.due_after is not None and (fields.due or "") < query.due_after:
            continue
        if query.due_before is not None and not ("" < (fields.due or "") <= query.due_before):
            continue
        own = [f"{fold(tag)}/" for tag in fields.tags]
        if all(any(own_tag.startswith(f"{tag}/") for own_tag in own) for tag in tags):
            rows.append((row, fields))
    return rows


def _listed_tasks(
    connection: Connection, rows: Sequence[tuple[TaskRow, TaskFields]]
) -> list[ListedTask]:
    keys = {row.rowid << CHUNK_BITS | row.chunk for row, _ in rows if row.chunk is not None}
    chunks = stored_notes.chunks(connection, keys)
    tasks = []
    for row, fields in rows:
        chunk = chunks.get(row.rowid << CHUNK_BITS | row.chunk) if row.chunk is not None else None
        line = _line(connection, row, chunk)
        digest = line_digest(line)
        tasks.append(
            ListedTask(
                task_id=f"{identify(row.path)}:{row.line}:{digest}",
                path=row.path,
                line=row.line,
                status=status_of(row.symbol),
                symbol=row.symbol,
                heading_path=chunk.heading_path if chunk is not None else (),
                **asdict(fields),
            )
        )
    return tasks


def _line(connection: Connection, row: TaskRow, chunk: StoredChunk | None) -> str:
    """Return a task's line as it is in the file, without its line end.

    If a run has replaced the chunk, return the task's text.
    """
    if chunk is None:
        return row.text
    lines = _lines(chunk.text)
    place = row.line - chunk.start_line
    if not 0 <= place < len(lines):
        return row.text
    pieces = [lines[place]]
    while place == len(lines) - 1:  # a very long line goes on in the next chunk
        following = stored_notes.chunks(connection, [chunk.key + 1]).get(chunk.key + 1)
        if following is None:
            break
        chunk, place = following, 0
        lines = _lines(chunk.text)
        pieces.append(lines[0])
    return "".join(pieces)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


# --- trees of tags and folders --------------------------------------------------------------------


Entry = TypeVar("Entry")


async def tag_tree(snapshot: Snapshot, query: TreeQuery) -> TagTree:
    """Return the tags of notes, each in its most frequent spelling."""

    def read(connection: Connection) -> TagTree:
        rows = stored_notes.tags(connection)
        tags, truncated = _tree(TagBranch, rows, query)
        tagged = len({note for _, _, note in rows})
        return TagTree(snapshot.revision, tags, snapshot.meta.notes - tagged, truncated)

    return await snapshot.read_unchanged(read)


async def folder_tree(snapshot: Snapshot, query: TreeQuery) -> FolderTree:
    """Return the folders that contain notes. Paths are relative to the scope's folder."""

    def read(connection: Connection) -> FolderTree:
        paths = stored_notes.order(connection)
        folders = [
            (note, snapshot.scope.to_caller(path).rpartition("/")[0]) for note, path in paths
        ]
        rows = [(fold(folder), folder, note) for note, folder in folders if folder]
        tree, truncated = _tree(FolderBranch, rows, query)
        return FolderTree(snapshot.revision, tree, len(folders) - len(rows), truncated)

    return await snapshot.read_unchanged(read)


def _tree(
    make: Callable[[str, int, int, tuple[Any, ...]], Entry],
    rows: Sequence[tuple[str, str, int]],
    query: TreeQuery,
) -> tuple[tuple[Entry, ...], bool]:
    """Return the tree of (folded name, spelling, note), and whether it is cut.

    If there are too many names, upper levels are kept, and on one level the first names in the
    query's order. There may be hundreds of thousands, so only kept names become objects.
    """
    own: dict[str, int] = {}
    notes: dict[str, int] = {}  # with those of the names below it
    last: dict[str, int] = {}  # the last note that was counted: rows are in their order
    for name, _, note in sorted(rows, key=itemgetter(2)):
        own[name] = own.get(name, 0) + 1
        for level in _levels(name):
            if last.get(level) != note:
                last[level] = note
                notes[level] = notes.get(level, 0) + 1

    prefix = fold(query.prefix)
    ordered = sorted(name for name in notes if name.startswith(prefix))
    if query.sort == "count":
        ordered.sort(key=lambda name: -notes[name])
    children: dict[str, list[str]] = {}
    spellings: dict[str, Counter[str]] = {}
    names, truncated = [""], False
    for _ in range(query.depth):
        below: dict[str, list[str]] = {name: [] for name in names}
        for name in ordered:
            above = name.rpartition("/")[0]
            parent = above if above.startswith(prefix) else ""
            if parent in below:
                below[parent].append(name)
        children |= below
        level_names = list(chain.from_iterable(below.values()))
        names = level_names[: query.limit - len(spellings)]
        truncated = truncated or len(names) < len(level_names)
        spellings.update((name, Counter()) for name in names)
        if not names:
            break
    for spelling, count in Counter(spelling for _, spelling, _ in rows).items():
        for level, spelled in zip(_levels(fold(spelling)), _levels(spelling), strict=False):
            if level in spellings:
                spellings[level][spelled] += count

    def branches(above: str) -> tuple[Entry, ...]:
        return tuple(
            make(most_frequent(spellings[name]), own.get(name, 0), notes[name], branches(name))
            for name in children.get(above, ())
            if name in spellings
        )

    return branches(""), truncated


def most_frequent(spellings: Counter[str]) -> str:
    """Return the most frequent spelling. Of equally frequent ones, the first in the alphabet."""
    return min(spellings, key=lambda spelling: (-spellings[spelling], spelling))


@lru_cache(maxsize=1 << 10)
def _levels(name: str) -> tuple[str, ...]:
    """Return `a/b/c`, `a/b` and `a` for `a/b/c`. Cached, because many notes share a folder."""
    return (name, *folders_of(name))
