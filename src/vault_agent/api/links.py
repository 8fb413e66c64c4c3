"""The operations about links, tags and folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api.codes import INDEX_CODES, NOTE_CODES, PAGE_CODES
from vault_agent.api.operation import Found, Operation
from vault_agent.api.pages import page_of, shown
from vault_agent.app import app_of
from vault_agent.model.graph import Wanted
from vault_agent.wire.convert import warnings_data
from vault_agent.wire.links import (
    BROKEN,
    BacklinkData,
    BacklinksData,
    BacklinksRequest,
    BrokenLinkData,
    BrokenLinksData,
    BrokenLinksRequest,
    FolderData,
    FoldersData,
    LinksData,
    LinksRequest,
    MentionData,
    MentionsData,
    MentionsRequest,
    NoteLinkData,
    TagData,
    TagsData,
    TreeRequest,
    WantedData,
)
from vault_agent.wire.replies import Reply

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.model.graph import Backlink, Branch, Finding, NoteLink
    from vault_agent.vaults.open_vault import OpenVault


async def _links(vault: OpenVault, _: Caller, sent: LinksRequest) -> Found:
    """List the links of a note in the order in which they are written."""
    page = page_of(vault, sent, positions=2)
    found = await vault.links.links(sent.note_id, page, status=sent.status, kinds=sent.kind)
    entries, fields = shown(vault, sent, found, _link)
    data = LinksData(links=await _across(vault, entries), **fields)
    return Found(Reply[LinksData](data=data, warnings=warnings_data(found.warnings)))


async def _across(vault: OpenVault, links: list[NoteLinkData]) -> list[NoteLinkData]:
    """Say of links such as `[[global:a]]` where they lead in the global vault."""
    names = {each.target for each in links if each.status == "unresolved"}
    known = await app_of(vault).across.targets(vault, names)
    return [
        link.model_copy(
            update={
                "status": "resolved",
                "vault": "global",
                "note_id": note.note_id,
                "path": note.path,
                "title": note.title,
            }
        )
        if link.status == "unresolved" and (note := known.get(link.target)) is not None
        else link
        for link in links
    ]


async def _backlinks(vault: OpenVault, _: Caller, sent: BacklinksRequest) -> Found:
    """List the notes that link to a note, with the places of the links."""
    page = page_of(vault, sent)
    found = await vault.links.backlinks(sent.note_id, page, contexts=sent.contexts)
    entries, fields = shown(vault, sent, found, _backlink)
    data = BacklinksData(backlinks=entries, total=found.total or 0, **fields)
    return Found(Reply[BacklinksData](data=data, warnings=warnings_data(found.warnings)))


async def _mentions(vault: OpenVault, _: Caller, sent: MentionsRequest) -> Found:
    """List the notes that name a note without a link to it."""
    found = await vault.links.mentions(sent.note_id, limit=sent.limit, linked=sent.linked)
    data = MentionsData(
        revision=found.revision,
        total=found.total or 0,
        has_more=found.more,
        mentions=[MentionData.model_validate(each, from_attributes=True) for each in found.entries],
    )
    return Found(Reply[MentionsData](data=data, warnings=warnings_data(found.warnings)))


async def _broken(vault: OpenVault, _: Caller, sent: BrokenLinksRequest) -> Found:
    """List the links that lead nowhere, or the targets that are missing."""
    page, faults = page_of(vault, sent), sent.kinds or BROKEN
    if sent.group_by is not None:
        wanted = await vault.links.wanted(page, faults)
        warnings, total = wanted.warnings, wanted.total
        entries, fields = shown(vault, sent, wanted, _broken_link)
    else:
        found = await vault.links.broken(page, faults)
        warnings, total = found.warnings, found.total
        entries, fields = shown(vault, sent, found, _broken_link)
    data = BrokenLinksData(links=entries, total=total or 0, **fields)
    return Found(Reply[BrokenLinksData](data=data, warnings=warnings_data(warnings)))


async def _tags(vault: OpenVault, caller: Caller, sent: TreeRequest) -> Found:
    """Return the tree of tags with the number of notes of each."""
    tree = await vault.links.tags(sent.to_query(caller.scope))
    data = TagsData(
        revision=tree.revision,
        tags=[_tag(branch) for branch in tree.branches],
        untagged=tree.count,
        truncated=tree.truncated,
    )
    warnings = warnings_data(vault.links.warnings())
    return Found(Reply[TagsData](data=data, warnings=warnings))


async def _folders(vault: OpenVault, caller: Caller, sent: TreeRequest) -> Found:
    """Return the tree of folders with the number of notes in each."""
    tree = await vault.links.folders(sent.to_query(caller.scope))
    data = FoldersData(
        revision=tree.revision,
        folders=[_folder(branch) for branch in tree.branches],
        count=tree.count,
        truncated=tree.truncated,
    )
    warnings = warnings_data(vault.links.warnings())
    return Found(Reply[FoldersData](data=data, warnings=warnings))


def _link(link: NoteLink) -> NoteLinkData:
    return NoteLinkData.model_validate(link, from_attributes=True)


def _backlink(backlink: Backlink) -> BacklinkData:
    return BacklinkData.model_validate(backlink, from_attributes=True)


def _broken_link(found: Finding | Wanted) -> BrokenLinkData | WantedData:
    kind = WantedData if isinstance(found, Wanted) else BrokenLinkData
    return kind.model_validate(found, from_attributes=True)


def _tag(branch: Branch) -> TagData:
    return TagData(
        tag=branch.name,
        count=branch.count,
        total=branch.total,
        children=tuple(map(_tag, branch.children)),
    )


def _folder(branch: Branch) -> FolderData:
    return FolderData(
        folder=branch.name,
        count=branch.count,
        total=branch.total,
        children=tuple(map(_folder, branch.children)),
    )


LINKS = Operation(
    "links",
    LinksRequest,
    _links,
    (Reply[LinksData],),
    (*NOTE_CODES, "INVALID_FILTER", *PAGE_CODES, *INDEX_CODES),
)
BACKLINKS = Operation(
    "backlinks",
    BacklinksRequest,
    _backlinks,
    (Reply[BacklinksData],),
    (*NOTE_CODES, *PAGE_CODES, *INDEX_CODES),
)
MENTIONS = Operation(
    "mentions",
    MentionsRequest,
    _mentions,
    (Reply[MentionsData],),
    (*NOTE_CODES, "INVALID_LIMIT", *INDEX_CODES),
    listed="mentions",
)
BROKEN_LINKS = Operation(
    "broken_links",
    BrokenLinksRequest,
    _broken,
    (Reply[BrokenLinksData],),
    ("INVALID_FILTER", *PAGE_CODES, *INDEX_CODES),
)
TAGS = Operation(
    "tags",
    TreeRequest,
    _tags,
    (Reply[TagsData],),
    ("INVALID_LIMIT", "INVALID_FILTER", *INDEX_CODES),
    listed="tags",
    scoped=True,
)
FOLDERS = Operation(
    "folders",
    TreeRequest,
    _folders,
    (Reply[FoldersData],),
    ("INVALID_LIMIT", "INVALID_FILTER", *INDEX_CODES),
    listed="folders",
    scoped=True,
)

LINK_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    LINKS,
    BACKLINKS,
    MENTIONS,
    BROKEN_LINKS,
    TAGS,
    FOLDERS,
)
"""In the order of the reference."""
