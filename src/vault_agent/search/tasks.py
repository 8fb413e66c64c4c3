"""Lists of tasks: the list items with a check box."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from vault_agent.markdown.tasks import line_digest, task_fields
from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.lists import ListedTask, TaskList, TaskPlace, TaskStatus
from vault_agent.search.lists import admitted, note_key, path_of_key
from vault_agent.search.warnings import filter_warnings
from vault_agent.store.index import lists as sorting
from vault_agent.store.index import notes as reading
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.lists import TaskFields, TaskQuery
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.lists import TaskRow
    from vault_agent.store.index.notes import StoredChunk

_PAGE = 2_000
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
    places = tuple(TaskPlace(note_key(task.path), task.line) for task in tasks)
    return TaskList(tuple(tasks), more, places=places, warnings=warnings)


def _tasks(
    connection: Connection,
    query: TaskQuery,
    passing: set[int] | None,
    start: TaskPlace | None,
) -> tuple[list[ListedTask], bool]:
    """Return a page of tasks, and whether there are more."""
    path, line = "", 0
    found: list[tuple[TaskRow, TaskFields]] = []
    if start is not None:
        path, line = path_of_key(connection, start.path), start.line
    while len(found) <= query.limit:
        page = _page(connection, query.status, path, line)
        found += _fitting(page, passing, query)
        if len(page) < _PAGE:
            break
        path, line = page[-1].path, page[-1].line
    return _rows(connection, found[: query.limit]), len(found) > query.limit


async def open_tasks_of(snapshot: Snapshot, ids: Sequence[str]) -> list[str]:
    """Return those of the IDs (`🆔`) that open tasks have, in the given order."""
    rows = await snapshot.read(sorting.tasks_with, ids, without=(*_DONE, *_CANCELLED))
    found = {task_fields(text).id for _, text in rows}
    return [each for each in dict.fromkeys(ids) if each in found]


def status_of(symbol: str) -> TaskStatus:
    """Return the status that the character in a box means."""
    if symbol in _DONE:
        return TaskStatus.DONE
    return TaskStatus.CANCELLED if symbol in _CANCELLED else TaskStatus.OPEN


def _page(connection: Connection, status: str, path: str, line: int) -> list[TaskRow]:
    symbols: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    if status == "open":
        without = (*_DONE, *_CANCELLED)
    elif status != "all":
        symbols = _DONE if status == "done" else _CANCELLED
    return sorting.tasks_from(connection, path, line, symbols=symbols, without=without, limit=_PAGE)


def _fitting(
    page: Sequence[TaskRow], passing: set[int] | None, query: TaskQuery
) -> list[tuple[TaskRow, TaskFields]]:
    tags = [fold(tag.lstrip("#")).strip("/") for tag in query.tag]
    found = []
    for row in page:
        if passing is not None and row.rowid not in passing:
            continue
        fields = task_fields(row.text)
        if query.due_after is not None and (fields.due or "") < query.due_after:
            continue
        if query.due_before is not None and not ("" < (fields.due or "") <= query.due_before):
            continue
        own = [f"{fold(tag)}/" for tag in fields.tags]
        if all(any(each.startswith(f"{tag}/") for each in own) for tag in tags):
            found.append((row, fields))
    return found


def _rows(connection: Connection, found: Sequence[tuple[TaskRow, TaskFields]]) -> list[ListedTask]:
    keys = {row.rowid << CHUNK_BITS | row.chunk for row, _ in found if row.chunk is not None}
    chunks = reading.chunks(connection, keys)
    tasks = []
    for row, fields in found:
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
    """Return a task's line as it is in the file, without its end.

    Without its chunk, which a run has replaced, return its text.
    """
    if chunk is None:
        return row.text
    lines = _lines(chunk.text)
    place = row.line - chunk.start_line
    if not 0 <= place < len(lines):
        return row.text
    pieces = [lines[place]]
    while place == len(lines) - 1:  # a very long line goes on in the next chunk
        following = reading.chunks(connection, [chunk.key + 1]).get(chunk.key + 1)
        if following is None:
            break
        chunk, place = following, 0
        lines = _lines(chunk.text)
        pieces.append(lines[0])
    return "".join(pieces)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
