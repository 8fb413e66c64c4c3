"""The operations about links, tags and folders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeAlias

from vault_agent.api.caller import CallContext
from vault_agent.api.cursors import fit_page, page_of
from vault_agent.api.operation import Result, operation
from vault_agent.model.fields import Cursor, NoteId, some_of
from vault_agent.model.graph import (
    BROKEN,
    BacklinksPage,
    BrokenLinksPage,
    FolderTree,
    LinksPage,
    Listed,
    Mentions,
    NoteLink,
    TagTree,
    TreeQuery,
)
from vault_agent.model.sent import Between
from vault_agent.search import links as link_lists
from vault_agent.search import lists
from vault_agent.search.mentions import mentions as find_mentions

_Kind: TypeAlias = Literal["wikilink", "embed", "markdown", "image", "frontmatter", "external"]
_Fault: TypeAlias = Literal["note", "heading", "block", "attachment", "ambiguous"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksRequest:
    """A request for the links of a note."""

    note_id: NoteId
    status: Literal["resolved", "ambiguous", "unresolved", "external"] | None = None
    kind: Annotated[str, some_of(_Kind)] | None = None
    """One kind of link or several, separated by commas."""
    limit: Annotated[int, Between(1, 1000)] = 100
    cursor: Cursor = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BacklinksRequest:
    """A request for the notes that link to a note."""

    note_id: NoteId
    contexts: Annotated[int, Between(0, 10)] = 3
    """Places to show of each note."""
    limit: Annotated[int, Between(1, 100)] = 20
    cursor: Cursor = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionsRequest:
    """A request for the notes that name a note without a link."""

    note_id: NoteId
    limit: Annotated[int, Between(1, 100)] = 20
    linked: bool = False
    """Also notes that link to it elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLinksRequest:
    """A request for the links that lead nowhere."""

    kinds: Annotated[str, some_of(_Fault)] | None = None
    """Missing targets, separated by commas. Default: all but `ambiguous`."""
    group_by: Literal["target"] | None = None
    """`target`: the targets instead of the links, most wanted first."""
    limit: Annotated[int, Between(1, 1000)] = 100
    cursor: Cursor = None


@operation("GET", "/notes/{noteId}/links")
async def links(call: CallContext, request: LinksRequest) -> Result[LinksPage]:
    """List the links of a note in the order in which they are written."""
    page = page_of(call.vault, request, positions=2)
    kinds = tuple(request.kind.split(",")) if request.kind else None
    listed = await call.vault.reader.read_with_warnings(
        link_lists.links, request.note_id, page, status=request.status, kinds=kinds
    )
    entries, fields = fit_page(call.vault, request, listed)
    data = LinksPage(links=await _with_global_targets(call, entries), **fields)
    return Result(data, listed.warnings)


async def _with_global_targets(
    call: CallContext, links: tuple[NoteLink, ...]
) -> tuple[NoteLink, ...]:
    """Return links, and say where those such as `[[global:a]]` lead in the global vault."""
    names = {link.target for link in links if link.status == "unresolved"}
    targets = await call.app.global_links.targets(call.vault, names)
    return tuple(
        replace(
            link,
            status="resolved",
            vault="global",
            note_id=note.note_id,
            path=note.path,
            title=note.title,
        )
        if link.status == "unresolved" and (note := targets.get(link.target)) is not None
        else link
        for link in links
    )


@operation("GET", "/notes/{noteId}/backlinks")
async def backlinks(call: CallContext, request: BacklinksRequest) -> Result[BacklinksPage]:
    """List the notes that link to a note or an attachment, with the places of the links."""
    page = page_of(call.vault, request)
    listed = await call.vault.reader.read_with_warnings(
        link_lists.backlinks, request.note_id, page, contexts=request.contexts
    )
    entries, fields = fit_page(call.vault, request, listed)
    data = BacklinksPage(backlinks=entries, total=listed.total or 0, **fields)
    return Result(data, listed.warnings)


@operation("GET", "/notes/{noteId}/mentions", bounded_list="mentions")
async def mentions(call: CallContext, request: MentionsRequest) -> Result[Mentions]:
    """List the notes that name a note without a link to it."""
    listed = await call.vault.reader.read_with_warnings(
        find_mentions, request.note_id, limit=request.limit, linked=request.linked
    )
    data = Mentions(listed.revision, listed.total or 0, listed.more, listed.entries)
    return Result(data, listed.warnings)


@operation("GET", "/links/broken")
async def broken_links(call: CallContext, request: BrokenLinksRequest) -> Result[BrokenLinksPage]:
    """List the links that lead nowhere, or the targets that are missing."""
    page = page_of(call.vault, request)
    faults = request.kinds.split(",") if request.kinds else BROKEN
    listed: Listed[Any] = (
        await call.vault.links.wanted(page, faults)
        if request.group_by is not None
        else await call.vault.links.broken(page, faults)
    )
    entries, fields = fit_page(call.vault, request, listed)
    data = BrokenLinksPage(links=entries, total=listed.total or 0, **fields)
    return Result(data, listed.warnings)


@operation("GET", "/tags", bounded_list="tags", for_named_agents=True)
async def tags(call: CallContext, request: TreeQuery) -> Result[TagTree]:
    """Return the tree of tags with the number of notes of each."""
    tree = await call.vault.reader.read(lists.tag_tree, request)
    return Result(tree, call.vault.links.warnings())


@operation("GET", "/folders", bounded_list="folders", for_named_agents=True)
async def folders(call: CallContext, request: TreeQuery) -> Result[FolderTree]:
    """Return the tree of folders with the number of notes in each."""
    tree = await call.vault.reader.read(lists.folder_tree, request)
    return Result(tree, call.vault.links.warnings())
