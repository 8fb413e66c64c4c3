"""The operations about names and lists of notes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vault_agent.api.codes import INDEX_CODES, PAGE_CODES
from vault_agent.api.cursors import decode_cursor, encode_cursor, invalid_cursor
from vault_agent.api.operation import Found, Operation
from vault_agent.api.pages import entries_that_fit
from vault_agent.markdown.named_parts import anchor
from vault_agent.model.grep import Place
from vault_agent.model.lists import ListPlace, Sort, TaskPlace
from vault_agent.wire.context import ContextBody, ContextData
from vault_agent.wire.convert import warnings_data
from vault_agent.wire.lists import (
    GrepBody,
    GrepData,
    GrepLineData,
    NamedData,
    NamedNoteData,
    NoteRow,
    NotesData,
    NotesRequest,
    ResolveRequest,
    TaskData,
    TasksData,
    TasksRequest,
)
from vault_agent.wire.replies import Reply

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.model.lists import ListedTask
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.wire.base import Model

_MAX_NUMBER = 1 << 53


async def _resolve(vault: OpenVault, caller: Caller, sent: ResolveRequest) -> Found:
    """Find the notes that a path, name, title, link or ID means."""
    found = await vault.lists.resolve(sent.name, caller.scope, source=sent.from_)
    data = NamedData(
        notes=[NamedNoteData.model_validate(each, from_attributes=True) for each in found.notes],
        has_more=found.has_more,
        line=found.line,
        heading=found.heading,
        anchor=anchor(found.heading) if found.heading is not None else None,
    )
    return Found(Reply[NamedData](data=data))


async def _notes(vault: OpenVault, caller: Caller, sent: NotesRequest) -> Found:
    """List notes that pass filters, in an order."""
    start = None
    if sent.cursor is not None:
        kind = int if sent.sort is Sort.CONNECTIONS else str
        position = _position(vault, sent, sent.cursor, kind, str)
        start = ListPlace(position[0], str(position[1]))
    found = await vault.lists.notes(sent.to_query(caller.scope), start)
    rows = [NoteRow.model_validate(each, from_attributes=True) for each in found.notes]
    if (name := vault.name) is not None:
        rows = [row.model_copy(update={"vault": name}) for row in rows]
    kept = entries_that_fit(rows)
    more = found.has_more or kept < len(rows)
    data = NotesData(
        notes=rows[:kept],
        total=found.total,
        has_more=more,
        next_cursor=_next(vault, sent, found.places[kept - 1]) if more else None,
    )
    return Found(Reply[NotesData](data=data, warnings=warnings_data(found.warnings)))


async def _tasks(vault: OpenVault, caller: Caller, sent: TasksRequest) -> Found:
    """List the tasks of notes, in the order of paths and lines."""
    start = None
    if sent.cursor is not None:
        position = _position(vault, sent, sent.cursor, str, int)
        start = TaskPlace(str(position[0]), int(position[1]))
    found = await vault.lists.tasks(sent.to_query(caller.scope), start)
    rows = [_task_data(each) for each in found.tasks]
    kept = entries_that_fit(rows)
    more = found.has_more or kept < len(rows)
    data = TasksData(
        tasks=rows[:kept],
        has_more=more,
        next_cursor=_next(vault, sent, found.places[kept - 1]) if more else None,
    )
    return Found(Reply[TasksData](data=data, warnings=warnings_data(found.warnings)))


def _position(
    vault: OpenVault, sent: Model, cursor: str, *types: type[int | str]
) -> tuple[int | str, ...]:
    """Return the position of a cursor, with numbers that the database can take."""
    position = decode_cursor(sent, cursor, *types, vault=vault.identity).position
    if any(isinstance(value, int) and not 0 <= value < _MAX_NUMBER for value in position):
        raise invalid_cursor()
    return position


def _next(vault: OpenVault, sent: Model, place: tuple[int | str, ...]) -> str:
    return encode_cursor(sent, place, vault=vault.identity)


def _task_data(task: ListedTask) -> TaskData:
    return TaskData(
        task_id=task.task_id,
        path=task.path,
        line=task.line,
        status=task.status,
        symbol=task.symbol,
        heading_path=task.heading_path,
        **asdict(task.fields),
    )


async def _context(vault: OpenVault, caller: Caller, sent: ContextBody) -> Found:
    """Gather excerpts of notes for a prompt, within a number of tokens."""
    queries = [each.to_query(caller.scope) for each in sent.queries]
    found = await vault.lists.context(queries, max_tokens=sent.max_tokens)
    data = ContextData.model_validate(found, from_attributes=True)
    return Found(Reply[ContextData](data=data, warnings=warnings_data(found.warnings)))


async def _grep(vault: OpenVault, caller: Caller, sent: GrepBody) -> Found:
    """Find lines by a regular expression."""
    start = None
    if sent.cursor is not None:
        position = _position(vault, sent, sent.cursor, str, int, int)
        start = Place(str(position[0]), int(position[1]), int(position[2]))
    found = await vault.lists.grep(sent.to_query(caller.scope), start)
    data = GrepData(
        lines=[GrepLineData.model_validate(each, from_attributes=True) for each in found.lines],
        incomplete=found.incomplete,
        has_more=found.place is not None,
        next_cursor=_next(vault, sent, found.place) if found.place is not None else None,
    )
    return Found(Reply[GrepData](data=data, warnings=warnings_data(found.warnings)))


RESOLVE = Operation(
    "resolve",
    ResolveRequest,
    _resolve,
    (Reply[NamedData],),
    ("INVALID_PATH", "PATH_OUTSIDE_VAULT", "NOTE_NOT_FOUND", *INDEX_CODES),
    listed="notes",
    scoped=True,
)

GREP = Operation(
    "grep",
    GrepBody,
    _grep,
    (Reply[GrepData],),
    ("REGEX_UNSUPPORTED", *PAGE_CODES, *INDEX_CODES),
    listed="lines",
    scoped=True,
)

_LIST_CODES = ("INVALID_PATH", "INVALID_FILTER", *PAGE_CODES, *INDEX_CODES)
NOTES = Operation(
    "notes",
    NotesRequest,
    _notes,
    (Reply[NotesData],),
    _LIST_CODES,
    listed="notes",
    scoped=True,
)
TASKS = Operation(
    "tasks",
    TasksRequest,
    _tasks,
    (Reply[TasksData],),
    _LIST_CODES,
    listed="tasks",
    scoped=True,
)

CONTEXT = Operation(
    "context",
    ContextBody,
    _context,
    (Reply[ContextData],),
    ("INVALID_QUERY", "INVALID_PATH", "PATH_OUTSIDE_VAULT", *INDEX_CODES),
    scoped=True,
)

LIST_OPERATIONS: tuple[Operation[Any, Any], ...] = (NOTES, RESOLVE, GREP, TASKS, CONTEXT)
"""In the order of the reference."""
