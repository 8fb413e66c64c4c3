"""The requests and replies about links, the graph, tags and folders."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from vault_agent.model.search import Filters
from vault_agent.wire.base import Model
from vault_agent.wire.queries import CursorText, Texts, choices, whole
from vault_agent.wire.requests import CalendarDate, Flag, NoteId

_CURSOR = Field(default=None, description="`nextCursor` of the page before.")
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
    cursor: CursorText | None = _CURSOR


class BacklinksRequest(Model):
    """A request for the notes that link to a note."""

    note_id: NoteId
    contexts: whole(0, 10) = Field(  # type: ignore[valid-type]
        default=3, description="Places to show of each note."
    )
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    cursor: CursorText | None = _CURSOR


class MentionsRequest(Model):
    """A request for the notes that name a note without a link."""

    note_id: NoteId
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    linked: Flag = Field(default=False, description="Also notes that link to it elsewhere.")


class LocalGraphRequest(Model):
    """A request for the notes near a note."""

    note_id: NoteId
    depth: whole(1, 5) = 1  # type: ignore[valid-type]
    limit: whole(1, 2_000) = 300  # type: ignore[valid-type]


class _FilteredRequest(Model):
    paths: Texts = Field(
        default=(), description="Folders or glob patterns, relative to the vault. One must match."
    )
    tags: Texts = Field(
        default=(), description="All must match. A tag includes those nested under it."
    )
    types: Texts = Field(
        default=(), description="Values of `type` in the frontmatter. One must match."
    )
    after: CalendarDate | None = Field(default=None, description="The first day, inclusive.")
    before: CalendarDate | None = Field(default=None, description="The last day, inclusive.")

    def to_filters(self) -> Filters:
        """Return the domain value."""
        return Filters(
            paths=self.paths,
            tags=self.tags,
            types=self.types,
            after=self.after,
            before=self.before,
        )


class GraphRequest(_FilteredRequest):
    """A request for the whole graph."""

    min_degree: whole(0, 1_000_000) = Field(  # type: ignore[valid-type]
        default=0, description="Only notes that are linked with at least so many others."
    )
    limit: whole(1, 50_000) = Field(  # type: ignore[valid-type]
        default=50_000,
        description="Of more notes the best connected stay. With `format=objects` at most 5,000.",
    )
    unresolved: Flag = Field(
        default=False, description="Also a node without an ID for each note that is missing."
    )
    member: Flag = Field(default=False, description="Add the column `community`.")
    format: Literal["columns", "objects"] = "columns"


class PathRequest(Model):
    """A request for a shortest path between two notes."""

    from_: NoteId = Field(alias="from", description="The ID of the first note.")
    to: NoteId = Field(description="The ID of the last note.")
    max: whole(1, 50) = Field(default=12, description="The most links.")  # type: ignore[valid-type]
    directed: Flag = Field(default=False, description="Follow links only forwards.")


class OrphansRequest(_FilteredRequest):
    """A request for notes without links."""

    limit: whole(1, 1_000) = 100  # type: ignore[valid-type]
    cursor: CursorText | None = _CURSOR


class DeadEndsRequest(OrphansRequest):
    """A request for notes that are linked, but link to no note."""


class CentralRequest(Model):
    """A request for the most central notes."""

    by: Literal["pagerank", "in", "out", "degree"] = "pagerank"
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    cursor: CursorText | None = _CURSOR


class CommunitiesRequest(Model):
    """A request for the communities of notes."""

    limit: whole(1, 1_000) = 20  # type: ignore[valid-type]
    cursor: CursorText | None = _CURSOR


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
    cursor: CursorText | None = _CURSOR


class TreeRequest(Model):
    """A request for a tree of tags or folders."""

    prefix: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""
    depth: whole(1, 20) = 20  # type: ignore[valid-type]
    limit: whole(1, 1_000) = Field(default=1_000, description="Entries.")  # type: ignore[valid-type]


# --- replies ----------------------------------------------------------------------------------


class _Page(Model):
    revision: str = Field(description="The revision of the index. A cursor is valid for it only.")
    has_more: bool
    next_cursor: str | None


class _CountedPage(_Page):
    total: int


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


class LinksData(_Page):
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


class BacklinksData(_CountedPage):
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


class GraphNoteData(Model):
    """A note of the graph. `in` and `out` count notes, not links."""

    note_id: str
    path: str
    title: str
    in_: int = Field(alias="in")
    out: int


class NearNoteData(GraphNoteData):
    """A note near another one. `distance` is in links."""

    distance: int


class LocalGraphData(Model):
    """The notes near a note, itself first, and the links between them."""

    revision: str
    nodes: list[NearNoteData]
    edges: list[tuple[int, int]] = Field(description="Positions in `nodes`: source, target.")
    weights: list[int] = Field(description="The number of links of each edge.")
    truncated: bool


class PathData(Model):
    """A shortest path. `length` is the number of links."""

    length: int
    notes: list[GraphNoteData]


class GraphNotesData(_CountedPage):
    """Notes of the graph."""

    notes: list[GraphNoteData]


class ScoredNoteData(GraphNoteData):
    """A note with its score."""

    score: float


class CentralData(_CountedPage):
    """The notes with the highest scores."""

    by: str
    notes: list[ScoredNoteData]


class CommunityData(Model):
    """A group of notes. `label` is made of the terms that tell it from the others."""

    id: int
    size: int
    label: str
    central: tuple[GraphNoteData, ...]


class CommunitiesData(_CountedPage):
    """The communities, the largest first."""

    modularity: float
    communities: list[CommunityData]


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


class BrokenLinksData(_CountedPage):
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


class GraphNodes(Model):
    """The notes of the graph in columns, by path. Missing notes have `id` null, and come last."""

    id: list[str | None]
    title: list[str]
    folder: list[int | None] = Field(description="Positions in `folders`.")
    type: list[int | None] = Field(description="Positions in `types`.")
    tags: list[list[int]] = Field(description="Positions in `tags`.")
    day: list[int | None] = Field(description="Days since 1970 of `date`, else of `created`.")
    in_: list[int] = Field(alias="in", description="Notes that link to it, of the whole vault.")
    out: list[int] = Field(description="Notes that it links to, of the whole vault.")
    community: list[int | None] | None = Field(default=None, description="With `member=true`.")


class GraphCounts(Model):
    """Counts of the whole vault. `unresolved` is a number of links."""

    notes: int
    edges: int
    orphans: int
    unresolved: int


class GraphData(Model):
    """The whole graph in columns."""

    revision: str
    directed: Literal[True]
    nodes: GraphNodes
    folders: list[str]
    types: list[str]
    tags: list[str]
    edges: list[int] = Field(description="Pairs of positions in `nodes`: source, target.")
    weights: list[int] = Field(description="The number of links of each edge.")
    truncated: bool
    counts: GraphCounts


class GraphNodeObject(Model):
    """A note of the graph."""

    id: str
    label: str
    type: str | None
    tags: list[str]
    created_at: str | None
    connection_count: int


class GraphEdgeObject(Model):
    """A link between two notes."""

    source: str
    target: str
    label: str


class GraphObjectsData(Model):
    """The whole graph as objects."""

    revision: str
    directed: Literal[True]
    nodes: list[GraphNodeObject]
    edges: list[GraphEdgeObject]
    truncated: bool
    counts: GraphCounts
