"""The requests and replies about links, tags and folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StringConstraints

from vault_agent.model.graph import TreeQuery
from vault_agent.wire.base import Model
from vault_agent.wire.pages import CURSOR, CountedPageData, PageData
from vault_agent.wire.queries import CursorText, choices, whole
from vault_agent.wire.requests import Flag, NoteId

if TYPE_CHECKING:
    from vault_agent.model.scope import Scope

_KINDS = ("wikilink", "embed", "markdown", "image", "frontmatter", "external")
FAULTS = ("note", "heading", "block", "attachment", "ambiguous")
"""What can be wrong with a link."""
BROKEN = FAULTS[:-1]
"""Links that lead nowhere; an ambiguous one leads somewhere."""

# --- requests ---------------------------------------------------------------------------------


class LinksRequest(Model):
    """A request for the links of a note."""

    note_id: NoteId
    status: Literal["resolved", "ambiguous", "unresolved", "external"] | None = None
    kind: choices(*_KINDS) | None = Field(  # type: ignore[valid-type]
        default=None, description="One kind of link or several, separated by commas."
    )
    limit: whole(1, 1_000) = 100  # type: ignore[valid-type]
    cursor: CursorText | None = CURSOR


class BacklinksRequest(Model):
    """A request for the notes that link to a note."""

    note_id: NoteId
    contexts: whole(0, 10) = Field(  # type: ignore[valid-type]
        default=3, description="Places to show of each note."
    )
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    cursor: CursorText | None = CURSOR


class MentionsRequest(Model):
    """A request for the notes that name a note without a link."""

    note_id: NoteId
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    linked: Flag = Field(default=False, description="Also notes that link to it elsewhere.")


class BrokenLinksRequest(Model):
    """A request for the links that lead nowhere."""

    kinds: choices(*FAULTS) | None = Field(  # type: ignore[valid-type]
        default=None,
        description="What is missing, separated by commas. Default: all but `ambiguous`.",
    )
    group_by: Literal["target"] | None = Field(
        default=None, description="`target`: the targets instead of the links, most wanted first."
    )
    limit: whole(1, 1_000) = 100  # type: ignore[valid-type]
    cursor: CursorText | None = CURSOR


class TreeRequest(Model):
    """A request for a tree of tags or folders."""

    prefix: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""
    depth: whole(1, 20) = 20  # type: ignore[valid-type]
    limit: whole(1, 1_000) = Field(default=1_000, description="Entries.")  # type: ignore[valid-type]
    sort: Literal["name", "count"] = Field(
        default="name", description="`count`: those with the most notes first, on each level."
    )

    def to_query(self, scope: Scope) -> TreeQuery:
        """Return the domain value for a caller that may see `scope`."""
        return TreeQuery(self.prefix, self.depth, self.limit, self.sort == "count", scope)


# --- replies ----------------------------------------------------------------------------------


class NoteLinkData(Model):
    """A link of a note. `target` is as written; an external one has no user info or query."""

    kind: str
    target: str
    fragment: str | None
    fragment_found: bool | None = Field(
        description="Whether the note has the heading or block; null if the link names none."
    )
    text: str | None
    line: int
    column: int
    status: Literal["resolved", "ambiguous", "unresolved", "external"]
    note_id: str | None
    path: str | None
    title: str | None
    candidates: tuple[str, ...] = Field(
        description="Paths that an ambiguous link can mean, at most five, the chosen one first."
    )
    vault: str | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="`global` if it leads to a note of the global vault.",
    )


class LinksData(PageData):
    """The links of a note, in the order in which they are written."""

    links: list[NoteLinkData]


class PlaceData(Model):
    """A place in a note. `matches` are ranges of the snippet, in characters."""

    line: int
    heading: str | None
    chunk_index: int | None = Field(description="Null in the frontmatter.")
    snippet: str
    matches: tuple[tuple[int, int], ...]


class BacklinkData(Model):
    """A note that links to another one, with the number of links and the first places."""

    note_id: str
    path: str
    title: str
    count: int
    places: tuple[PlaceData, ...]


class BacklinksData(CountedPageData):
    """The notes that link to a note, those with the most links first, then by path."""

    backlinks: list[BacklinkData]


class MentionData(BacklinkData):
    """A note that names another one. `linked`: it also links to it."""

    linked: bool


class MentionsData(Model):
    """The notes that name a note without a link, those that do most often first."""

    revision: str
    total: int
    has_more: bool
    mentions: list[MentionData]


class BrokenLinkData(Model):
    """A link that leads nowhere. `fault` says what is missing."""

    path: str
    line: int
    column: int
    fault: Literal["note", "heading", "block", "attachment", "ambiguous"]
    kind: str
    target: str
    fragment: str | None
    candidates: tuple[str, ...]


class WantedData(Model):
    """A target to which links lead in vain. `notes` is the number of notes with such a link."""

    target: str
    fault: Literal["note", "heading", "block", "attachment", "ambiguous"]
    count: int
    notes: int


class BrokenLinksData(CountedPageData):
    """The links that lead nowhere by path and line, or their targets."""

    links: list[BrokenLinkData | WantedData]


class TagData(Model):
    """A tag with the tags below it."""

    tag: str
    count: int = Field(description="Notes with just this tag.")
    total: int = Field(description="Notes with this tag or one below it, each once.")
    children: tuple[TagData, ...]


class TagsData(Model):
    """The tree of tags."""

    revision: str
    tags: list[TagData]
    untagged: int = Field(description="Notes without a tag.")
    truncated: bool


class FolderData(Model):
    """A folder with the folders below it."""

    folder: str
    count: int = Field(description="Notes in this folder itself.")
    total: int = Field(description="Notes in this folder or below it.")
    children: tuple[FolderData, ...]


class FoldersData(Model):
    """The tree of folders that contain notes."""

    revision: str
    folders: list[FolderData]
    count: int = Field(description="Notes in no folder.")
    truncated: bool
