"""The operations that find notes: by words or meaning, by a name, in lists, and by their lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from vault_agent.api.caller import CallContext
from vault_agent.api.cursors import (
    decode_cursor,
    encode_cursor,
    entries_that_fit,
    invalid_cursor,
    position_of,
)
from vault_agent.api.operation import Result, operation
from vault_agent.errors import NotFound
from vault_agent.markdown.tree import anchor
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
from vault_agent.model.search import (
    MAX_RANKED,
    Answer,
    Context,
    ContextRequest,
    GrepAnswer,
    GrepPlace,
    GrepQuery,
    RelatedQuery,
    SearchQuery,
)
from vault_agent.model.sent import Form, Length
from vault_agent.search.context import gather
from vault_agent.search.grep import grep as find_lines
from vault_agent.search.lists import list_notes, list_tasks
from vault_agent.search.resolve import resolve as find_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.vaults.federated_search import FederatedSearch
    from vault_agent.vaults.open_vault import OpenVault


@operation("POST", "/search", bounded_list="results", for_named_agents=True)
async def search(call: CallContext, request: SearchQuery) -> Result[Answer]:
    """Find chunks and notes by lexical search, semantic search, or both."""
    rerank = call.vault.reranker is not None
    query = replace(request, weights=call.vault.config.search.weights, rerank=rerank)
    federated = _federated(call, request.vaults)
    if request.cursor is not None:
        position, revision = decode_cursor(
            request, request.cursor, int, int, vault=call.vault.identity
        )
        offset, reranked = map(int, position)
        if not (revision and 0 < offset <= MAX_RANKED):
            raise invalid_cursor()
        # In another order than that of the first page, results would be repeated or missing.
        rerank = rerank and reranked == 1
        query = replace(query, offset=offset, revision=revision, rerank=rerank)
    answer = await (
        federated.search(request.vaults, query) if federated else call.vault.search(query)
    )
    following = None
    if answer.has_more:
        failed = any(warning.code == "RERANK_UNAVAILABLE" for warning in answer.warnings)
        position = (query.offset + len(answer.results), int(query.rerank and not failed))
        following = encode_cursor(
            request, position, vault=call.vault.identity, revision=answer.revision
        )
    return Result(replace(answer, next_cursor=following))


@operation("POST", "/related", bounded_list="results", for_named_agents=True)
async def related(call: CallContext, request: RelatedQuery) -> Result[Answer]:
    """Find notes and chunks similar to a note or chunk, or linked with it."""
    if federated := _federated(call, request.vaults):
        answer = await federated.related(request.vaults, request, home=call.vault)
    else:
        answer = await call.vault.related(request)
    return Result(answer)


def _federated(call: CallContext, names: Sequence[str]) -> FederatedSearch | None:
    """Return the searches over several vaults if a request names some.

    Raises:
        Misconfigured: `FEATURE_DISABLED` if several vaults are off.
        NotFound: `VAULT_UNKNOWN` if the caller is a named agent, which sees one vault only.
    """
    if not names:
        return None
    call.app.vaults.require_several()
    if call.caller.is_named_agent:
        raise NotFound("VAULT_UNKNOWN", "There is no vault of this name.", remedy="")
    return call.app.federated


_REGEX_SECONDS = 2.0
"""After this time, a search by regular expression stops and replies with a cursor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRequest:
    """A request for the notes that a name means."""

    name: Annotated[str, Length(0, 4096), Form("(?s:.*\\S.*)", "must not be empty")]
    """An ID, a path, the end of a path, a note's name, alias or title, a `[[wikilink]]`, a
    `[Markdown](link.md)`, or an `obsidian://` or `file://` address."""
    from_: NoteId | None = None
    """The ID of the note that has the link. Where a link leads depends on its note."""


_List = TypeVar("_List", NoteList, TaskList)


@operation("GET", "/resolve", bounded_list="notes", for_named_agents=True)
async def resolve(call: CallContext, request: ResolveRequest) -> Result[NamedNotes]:
    """Find the notes that a path, name, title, link or ID means."""
    try:
        named = await call.vault.reader.read(
            find_named,
            request.name,
            open_root=call.vault.open_root,
            roots=call.vault.root_paths,
            source=request.from_,
            attachments=True,
        )
    except NotFound as error:
        folder = call.vault.excluded_folder(call.vault.scope.in_vault(request.name))
        if error.code != "NOTE_NOT_FOUND" or folder is None:
            raise
        raise NotFound(
            error.code,
            f"No note has this path. Folders named {folder} are excluded.",
            {**error.details, "excluded": folder},
            remedy=f"To index it, add !{folder}/ to vault.exclude.",
        ) from None
    if named.heading is not None:
        named = replace(named, anchor=anchor(named.heading))
    return Result(named)


@operation("GET", "/notes", bounded_list="notes", for_named_agents=True)
async def notes(call: CallContext, request: ListQuery) -> Result[NoteList]:
    """List notes that pass filters, in an order."""
    kind = int if request.sort is Sort.CONNECTIONS else str
    position = position_of(call.vault, request, kind, str)
    start = ListPlace(position[0], str(position[1])) if position else None
    page = await call.vault.reader.read_with_warnings(list_notes, request, start)
    rows = page.notes
    if (name := call.vault.name) is not None:
        rows = tuple(replace(row, vault=name) for row in rows)
    return _page(call.vault, request, page, notes=rows)


@operation("GET", "/tasks", bounded_list="tasks", for_named_agents=True)
async def tasks(call: CallContext, request: TaskQuery) -> Result[TaskList]:
    """List the tasks of notes, in the order of paths and lines."""
    position = position_of(call.vault, request, str, int)
    start = TaskPlace(str(position[0]), int(position[1])) if position else None
    page = await call.vault.reader.read_with_warnings(list_tasks, request, start)
    return _page(call.vault, request, page, tasks=page.tasks)


def _page(vault: OpenVault, query: object, page: _List, **listed: tuple[Any, ...]) -> Result[_List]:
    """Return a list with as many of its entries as fit into a reply."""
    ((name, entries),) = listed.items()
    kept = entries_that_fit(entries)
    more = page.has_more or kept < len(entries)
    following = None
    if more:
        following = encode_cursor(query, page.places[kept - 1], vault=vault.identity)
    changes: Any = {name: entries[:kept], "has_more": more, "next_cursor": following}
    return Result(replace(page, **changes))


@operation("POST", "/context", for_named_agents=True)
async def context(call: CallContext, request: ContextRequest) -> Result[Context]:
    """Gather excerpts of notes for a prompt, within a number of tokens."""
    vault = call.vault
    indexing = vault.jobs.is_indexing
    excerpts = await vault.reader.read_with_warnings(
        gather, request, roots=vault.root_paths, embedder=vault.embedder, indexing=indexing
    )
    return Result(excerpts)


@operation("POST", "/grep", bounded_list="lines", for_named_agents=True)
async def grep(call: CallContext, request: GrepQuery) -> Result[GrepAnswer]:
    """Find lines by a regular expression."""
    start = None
    if position := position_of(call.vault, request, str, int, int):
        start = GrepPlace(str(position[0]), int(position[1]), int(position[2]))
    async with call.vault.grep_turns:
        answer = await call.vault.reader.read_with_warnings(
            find_lines, request, seconds=_REGEX_SECONDS, start=start
        )
    if answer.place is not None:
        cursor = encode_cursor(request, answer.place, vault=call.vault.identity)
        answer = replace(answer, has_more=True, next_cursor=cursor)
    return Result(answer)
