"""The operations about names and lists of notes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from vault_agent.api.context import CallContext
from vault_agent.api.cursors import decode_cursor, encode_cursor, invalid_cursor
from vault_agent.api.operation import Found, operation
from vault_agent.api.pages import entries_that_fit
from vault_agent.errors import NotFound
from vault_agent.markdown.named_parts import anchor
from vault_agent.model.fields import NoteId
from vault_agent.model.lists import (
    ListPlace,
    ListQuery,
    NoteList,
    Sort,
    TaskList,
    TaskPlace,
    TaskQuery,
)
from vault_agent.model.names import NamedNotes
from vault_agent.model.search import Context, ContextRequest, GrepAnswer, GrepQuery, Place
from vault_agent.model.sent import Doc, Form, Length
from vault_agent.search.context import gather
from vault_agent.search.grep import grep as find_lines
from vault_agent.search.lists import list_notes
from vault_agent.search.resolve import resolve as find_named
from vault_agent.search.tasks import list_tasks

if TYPE_CHECKING:
    from vault_agent.vaults.open_vault import OpenVault

_REGEX_SECONDS = 2.0
"""After so long a search by regular expression pauses, and replies with a cursor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRequest:
    """A request for the notes that a name means."""

    name: Annotated[
        str,
        Length(0, 4096),
        Form(r"(?s:.*\S.*)", "must not be empty"),
        Doc(
            "An ID, a path, the end of a path, a note's name, alias or title, a `[[wikilink]]`, a"
            " `[Markdown](link.md)`, or an `obsidian://` or `file://` address."
        ),
    ]
    from_: Annotated[
        NoteId | None, Doc("The ID of the note that has the link: it means what it leads to there.")
    ] = None


_MAX_NUMBER = 1 << 53
_List = TypeVar("_List", NoteList, TaskList)


@operation("GET", "/resolve", listed="notes", for_agents=True)
async def resolve(call: CallContext, sent: ResolveRequest) -> Found[NamedNotes]:
    """Find the notes that a path, name, title, link or ID means."""
    try:
        found = await call.vault.read(
            find_named,
            sent.name,
            open_vault=call.vault.open_root,
            roots=call.vault.roots,
            source=sent.from_,
            attachments=True,
        )
    except NotFound as error:
        folder = call.vault.excluded_folder(call.vault.scope.outer(sent.name))
        if error.code != "NOTE_NOT_FOUND" or folder is None:
            raise
        raise NotFound(
            error.code,
            f"No note has this path. Folders named {folder} are excluded.",
            {**error.details, "excluded": folder},
            remedy=f"To index it, add !{folder}/ to vault.exclude.",
        ) from None
    if found.heading is not None:
        found = replace(found, anchor=anchor(found.heading))
    return Found(found)


@operation("GET", "/notes", listed="notes", for_agents=True)
async def notes(call: CallContext, sent: ListQuery) -> Found[NoteList]:
    """List notes that pass filters, in an order."""
    start = None
    if sent.cursor is not None:
        kind = int if sent.sort is Sort.CONNECTIONS else str
        position = _position(call.vault, sent, sent.cursor, kind, str)
        start = ListPlace(position[0], str(position[1]))
    found = await call.vault.answer(list_notes, sent, start)
    rows = found.notes
    if (name := call.vault.name) is not None:
        rows = tuple(replace(row, vault=name) for row in rows)
    return _page(call.vault, sent, found, notes=rows)


@operation("GET", "/tasks", listed="tasks", for_agents=True)
async def tasks(call: CallContext, sent: TaskQuery) -> Found[TaskList]:
    """List the tasks of notes, in the order of paths and lines."""
    start = None
    if sent.cursor is not None:
        position = _position(call.vault, sent, sent.cursor, str, int)
        start = TaskPlace(str(position[0]), int(position[1]))
    found = await call.vault.answer(list_tasks, sent, start)
    return _page(call.vault, sent, found, tasks=found.tasks)


def _position(
    vault: OpenVault, sent: object, cursor: str, *types: type[int | str]
) -> tuple[int | str, ...]:
    """Return the position of a cursor, with numbers that the database can take."""
    position = decode_cursor(sent, cursor, *types, vault=vault.identity).position
    if any(isinstance(value, int) and not 0 <= value < _MAX_NUMBER for value in position):
        raise invalid_cursor()
    return position


def _page(vault: OpenVault, query: object, page: _List, **listed: tuple[Any, ...]) -> Found[_List]:
    """Return a list with as many of its entries as fit into a reply."""
    ((name, entries),) = listed.items()
    kept = entries_that_fit(entries)
    more = page.has_more or kept < len(entries)
    following = _next(vault, query, page.places[kept - 1]) if more else None
    changes: Any = {name: entries[:kept], "has_more": more, "next_cursor": following}
    return Found(replace(page, **changes), page.warnings)


def _next(vault: OpenVault, sent: object, place: tuple[int | str, ...]) -> str:
    return encode_cursor(sent, place, vault=vault.identity)


@operation("POST", "/context", for_agents=True)
async def context(call: CallContext, sent: ContextRequest) -> Found[Context]:
    """Gather excerpts of notes for a prompt, within a number of tokens."""
    found = await call.vault.answer(
        gather,
        sent,
        roots=call.vault.roots,
        embedder=call.vault.embedder,
        indexing=call.vault.jobs.is_indexing,
    )
    return Found(found, found.warnings)


@operation("POST", "/grep", listed="lines", for_agents=True)
async def grep(call: CallContext, sent: GrepQuery) -> Found[GrepAnswer]:
    """Find lines by a regular expression."""
    start = None
    if sent.cursor is not None:
        position = _position(call.vault, sent, sent.cursor, str, int, int)
        start = Place(str(position[0]), int(position[1]), int(position[2]))
    async with call.vault.scans:
        found = await call.vault.answer(find_lines, sent, seconds=_REGEX_SECONDS, start=start)
    if found.place is not None:
        found = replace(found, has_more=True, next_cursor=_next(call.vault, sent, found.place))
    return Found(found, found.warnings)
