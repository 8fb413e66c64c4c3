"""The operations about names and lists of notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vault_agent.api.codes import INDEX_CODES, PAGE_CODES
from vault_agent.api.cursors import decode_cursor, encode_cursor, invalid_cursor
from vault_agent.api.operation import Found, Http, Operation
from vault_agent.api.pages import entries_that_fit
from vault_agent.markdown.named_parts import anchor
from vault_agent.model.context import Context
from vault_agent.model.grep import GrepAnswer, Place
from vault_agent.model.lists import ListPlace, NoteList, Sort, TaskList, TaskPlace
from vault_agent.model.names import NamedNotes
from vault_agent.search.context import gather
from vault_agent.search.grep import grep
from vault_agent.search.lists import list_notes
from vault_agent.search.resolve import resolve
from vault_agent.search.tasks import list_tasks
from vault_agent.wire.context import ContextBody
from vault_agent.wire.lists import GrepBody, NotesRequest, ResolveRequest, TasksRequest

if TYPE_CHECKING:
    from vault_agent.api.context import CallContext
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.wire.base import Model

_MAX_NUMBER = 1 << 53


async def _resolve(call: CallContext, sent: ResolveRequest) -> Found:
    """Find the notes that a path, name, title, link or ID means."""
    found = await call.vault.read(
        resolve, sent.name, roots=call.vault.roots, scope=call.scope, source=sent.from_
    )
    if found.heading is not None:
        found = replace(found, anchor=anchor(found.heading))
    return Found(found)


async def _notes(call: CallContext, sent: NotesRequest) -> Found:
    """List notes that pass filters, in an order."""
    start = None
    if sent.cursor is not None:
        kind = int if sent.sort is Sort.CONNECTIONS else str
        position = _position(call.vault, sent, sent.cursor, kind, str)
        start = ListPlace(position[0], str(position[1]))
    found = await call.vault.answer(list_notes, sent.to_query(call.scope), start)
    rows = found.notes
    if (name := call.vault.name) is not None:
        rows = tuple(replace(row, vault=name) for row in rows)
    kept = entries_that_fit(rows)
    more = found.has_more or kept < len(rows)
    data = replace(
        found,
        notes=rows[:kept],
        has_more=more,
        next_cursor=_next(call.vault, sent, found.places[kept - 1]) if more else None,
    )
    return Found(data, found.warnings)


async def _tasks(call: CallContext, sent: TasksRequest) -> Found:
    """List the tasks of notes, in the order of paths and lines."""
    start = None
    if sent.cursor is not None:
        position = _position(call.vault, sent, sent.cursor, str, int)
        start = TaskPlace(str(position[0]), int(position[1]))
    found = await call.vault.answer(list_tasks, sent.to_query(call.scope), start)
    kept = entries_that_fit(found.tasks)
    more = found.has_more or kept < len(found.tasks)
    data = replace(
        found,
        tasks=found.tasks[:kept],
        has_more=more,
        next_cursor=_next(call.vault, sent, found.places[kept - 1]) if more else None,
    )
    return Found(data, found.warnings)


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


async def _context(call: CallContext, sent: ContextBody) -> Found:
    """Gather excerpts of notes for a prompt, within a number of tokens."""
    queries = [each.to_query(call.scope) for each in sent.queries]
    found = await call.vault.answer(
        gather,
        queries,
        max_tokens=sent.max_tokens,
        roots=call.vault.roots,
        embedder=call.vault.embedder,
        indexing=call.vault.jobs.is_indexing,
    )
    return Found(found, found.warnings)


async def _grep(call: CallContext, sent: GrepBody) -> Found:
    """Find lines by a regular expression."""
    start = None
    if sent.cursor is not None:
        position = _position(call.vault, sent, sent.cursor, str, int, int)
        start = Place(str(position[0]), int(position[1]), int(position[2]))
    seconds = call.vault.config.search.regex_seconds
    async with call.vault.scans:
        found = await call.vault.answer(
            grep, sent.to_query(call.scope), seconds=seconds, start=start
        )
    if found.place is not None:
        found = replace(found, has_more=True, next_cursor=_next(call.vault, sent, found.place))
    return Found(found, found.warnings)


RESOLVE = Operation(
    "resolve",
    ResolveRequest,
    _resolve,
    (NamedNotes,),
    ("INVALID_PATH", "PATH_OUTSIDE_VAULT", "NOTE_NOT_FOUND", *INDEX_CODES),
    listed="notes",
    scoped=True,
    http=Http("GET", "/resolve"),
)

GREP = Operation(
    "grep",
    GrepBody,
    _grep,
    (GrepAnswer,),
    ("REGEX_UNSUPPORTED", *PAGE_CODES, *INDEX_CODES),
    listed="lines",
    scoped=True,
    http=Http("POST", "/grep", body=True),
)

_LIST_CODES = ("INVALID_PATH", "INVALID_FILTER", *PAGE_CODES, *INDEX_CODES)
NOTES = Operation(
    "notes",
    NotesRequest,
    _notes,
    (NoteList,),
    _LIST_CODES,
    listed="notes",
    scoped=True,
    http=Http("GET", "/notes"),
)
TASKS = Operation(
    "tasks",
    TasksRequest,
    _tasks,
    (TaskList,),
    _LIST_CODES,
    listed="tasks",
    scoped=True,
    http=Http("GET", "/tasks"),
)

CONTEXT = Operation(
    "context",
    ContextBody,
    _context,
    (Context,),
    ("INVALID_QUERY", "INVALID_PATH", "PATH_OUTSIDE_VAULT", *INDEX_CODES),
    scoped=True,
    http=Http("POST", "/context", body=True),
)

LIST_OPERATIONS: tuple[Operation[Any, Any], ...] = (NOTES, RESOLVE, GREP, TASKS, CONTEXT)
"""In the order of the reference."""
