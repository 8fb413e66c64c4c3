"""Links of a note, reports on links, and the graph that they form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, Literal, NamedTuple, TypeVar

from vault_agent.model.fields import FirstDay, LastDay, Texts
from vault_agent.model.notes import TitledNote
from vault_agent.model.search import Filters
from vault_agent.model.sent import TRIMMED, Between, IfAny, Internal, JsonKey, Length, OneOf
from vault_agent.model.warning import Warning

Entry = TypeVar("Entry")

MAX_NODES = 50_000
"""The most notes in the whole graph: the best connected."""
MAX_CANDIDATES = 5
"""The most paths listed for an ambiguous link."""
FAULTS = ("note", "heading", "block", "attachment", "ambiguous")
"""What can be wrong with a link."""
BROKEN = FAULTS[:-1]
"""Links that lead nowhere; an ambiguous one leads somewhere."""


MAX_OBJECTS = 5_000
"""Notes of the graph with `format=objects`, which takes five times the space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQuery:
    """A request for the whole graph."""

    paths: Texts = ()
    """Folders or glob patterns, relative to the vault. One must match."""
    tags: Texts = ()
    """All must match. A tag includes those nested under it."""
    types: Texts = ()
    """Values of `type` in the frontmatter. One must match."""
    after: FirstDay = None
    before: LastDay = None
    min_degree: Annotated[int, Between(0, 1_000_000)] = 0
    """Only notes that are linked with at least so many others."""
    limit: Annotated[int, Between(1, MAX_NODES)] = MAX_NODES
    """The best connected notes stay. With `format=objects` at most 5,000."""
    unresolved: bool = False
    """Also a node without an ID for each note that is missing."""
    member: bool = False
    """Add the column `community`."""
    format: Literal["columns", "objects"] = "columns"

    @property
    def filters(self) -> Filters:
        """The conditions that each note satisfies."""
        return Filters(self.paths, self.tags, self.types, after=self.after, before=self.before)

    @property
    def as_objects(self) -> bool:
        """Whether each note and edge is an object."""
        return self.format == "objects"

    @property
    def most(self) -> int:
        """The most notes of the reply."""
        return min(self.limit, MAX_OBJECTS) if self.as_objects else self.limit


@dataclass(frozen=True, slots=True)
class TreeQuery:
    """A request for a tree of tags or folders."""

    prefix: Annotated[str, TRIMMED, Length(0, 500)] = ""
    depth: Annotated[int, Between(1, 20)] = 20
    limit: Annotated[int, Between(1, 1_000)] = 1_000
    """Entries."""
    sort: Literal["name", "count"] = "name"
    """`count`: those with the most notes first, on each level."""


class Finding(NamedTuple):
    """A link that leads nowhere or is ambiguous. `fault` says what is missing.

    Findings sort by path, line and column.
    """

    path: str
    line: int
    column: int
    fault: Annotated[str, OneOf(*FAULTS)]
    kind: str
    target: str
    fragment: str | None
    candidates: tuple[str, ...] = ()
    """Paths that an ambiguous link can mean, at most five."""


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is asked for."""

    limit: int
    start: tuple[int, ...] = ()  # from a cursor; () is the beginning
    revision: str | None = None  # that the cursor belongs to

    @property
    def first(self) -> int:
        """The place of its first entry in the whole list."""
        return self.start[0] if self.start else 0

    def of(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Return the part of a whole list."""
        return tuple(entries[self.first : self.first + self.limit])

    def listed(self, revision: str, entries: Sequence[Entry], total: int) -> Listed[Entry]:
        """Return the entries of this part of a list of `total` entries."""
        end = self.first + len(entries)
        ends = tuple((place,) for place in range(self.first + 1, end + 1))
        return Listed(revision, tuple(entries), ends, end < total, total)


@dataclass(frozen=True, slots=True)
class Listed(Generic[Entry]):
    """A part of a list. `ends` has the start of the next part after each entry."""

    revision: str
    entries: tuple[Entry, ...]
    ends: tuple[tuple[int, ...], ...]
    more: bool  # whether entries follow
    total: int | None = None
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link of a note. `target` is as written; an external one has no user info or query."""

    kind: str
    """A kind of link within the vault, or `external`."""
    target: str
    fragment: str | None
    fragment_found: bool | None
    """Whether the note has the heading or block; null if the link names none."""
    text: str | None
    line: int
    column: int
    status: Annotated[str, OneOf("resolved", "ambiguous", "unresolved", "external")]
    note_id: str | None = None
    path: str | None = None
    title: str | None = None
    candidates: tuple[str, ...] = ()
    """Paths that an ambiguous link can mean, at most five, the chosen one first."""
    vault: IfAny[str | None] = None
    """`global` if it leads to a note of the global vault."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a note. `matches` are ranges of the snippet, in characters."""

    line: int
    heading: str | None
    chunk_index: int | None
    """Null in the frontmatter."""
    snippet: str
    matches: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Backlink(TitledNote):
    """A note that links to another one, with the number of links and the first places."""

    count: int
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Mention(Backlink):
    """A note that names another one. `linked`: it also links to it."""

    linked: bool


@dataclass(frozen=True, slots=True)
class GraphNote(TitledNote):
    """A note of the graph. `in` and `out` count notes, not links."""

    incoming: Annotated[int, JsonKey("in")]
    outgoing: Annotated[int, JsonKey("out")]
    type: Internal[str | None] = None


@dataclass(frozen=True, slots=True)
class NearNote(GraphNote):
    """A note near another one. `distance` is in links."""

    type: str | None = None
    distance: int = 0
    vault: IfAny[str | None] = None
    """`global` for a note of the global vault that a note of the project links to."""


@dataclass(frozen=True, slots=True)
class LocalGraph:
    """The notes near a note, itself first, and the links between them."""

    revision: str
    nodes: tuple[NearNote, ...]
    edges: tuple[tuple[int, int], ...]
    """Positions in `nodes`: source, target."""
    weights: tuple[int, ...]
    """The number of links of each edge."""
    truncated: bool
    warnings: Internal[tuple[Warning, ...]] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A target to which links lead in vain, with how often and from how many notes."""

    target: str
    fault: Annotated[str, OneOf(*FAULTS)]
    count: int
    notes: int
    """The number of notes with such a link."""


@dataclass(frozen=True, slots=True)
class Community:
    """A group of notes that are linked more with each other than with others.

    `label` is made of the terms that tell it from the others.
    """

    id: int
    size: int
    label: str
    central: tuple[GraphNote, ...]


@dataclass(frozen=True, slots=True)
class Clusters:
    """The communities of one revision. Community 0 is the largest."""

    revision: str
    members: tuple[int, ...]  # the community of each note, by path
    modularity: float
    labels: tuple[str, ...]  # of the communities with two notes or more

    @property
    def total(self) -> int:
        """The number of communities, also of those with one note."""
        return max(self.members, default=-1) + 1

    @property
    def alone(self) -> int:
        """The number of communities with one note. They are the last ones."""
        return self.total - len(self.labels)


@dataclass(frozen=True, slots=True)
class TagBranch:
    """A tag with the tags below it."""

    tag: str
    """Its whole name, such as `project/alpha`."""
    count: int
    """Notes with just this tag."""
    total: int
    """Notes with this tag or one below it, each once."""
    children: tuple[TagBranch, ...]


@dataclass(frozen=True, slots=True)
class TagTree:
    """The tree of tags, cut at the requested depth and number of entries."""

    revision: str
    tags: tuple[TagBranch, ...]
    untagged: int
    """Notes without a tag."""
    truncated: bool


@dataclass(frozen=True, slots=True)
class FolderBranch:
    """A folder with the folders below it."""

    folder: str
    count: int
    """Notes in this folder itself."""
    total: int
    """Notes in this folder or below it."""
    children: tuple[FolderBranch, ...]


@dataclass(frozen=True, slots=True)
class FolderTree:
    """The tree of folders that contain notes."""

    revision: str
    folders: tuple[FolderBranch, ...]
    count: int
    """Notes in no folder."""
    truncated: bool


# --- pages of lists -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListPage:
    """A part of a list."""

    revision: str
    """The revision of the index. A cursor is valid for it only."""
    has_more: bool
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class CountedPage(ListPage):
    """A part of a list with the number of all its entries."""

    total: int


@dataclass(frozen=True, slots=True)
class LinksPage(ListPage):
    """The links of a note, in the order in which they are written."""

    links: tuple[NoteLink, ...]


@dataclass(frozen=True, slots=True)
class BacklinksPage(CountedPage):
    """The notes that link to a note, those with the most links first, then by path."""

    backlinks: tuple[Backlink, ...]


@dataclass(frozen=True, slots=True)
class Mentions:
    """The notes that name a note without a link, those that do most often first."""

    revision: str
    total: int
    has_more: bool
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class BrokenLinksPage(CountedPage):
    """The links that lead nowhere by path and line, or their targets."""

    links: tuple[Finding | Wanted, ...]


@dataclass(frozen=True, slots=True)
class PathOfNotes:
    """A shortest path. `length` is the number of links."""

    length: int
    notes: tuple[GraphNote, ...]


@dataclass(frozen=True, slots=True)
class CommunitiesPage(CountedPage):
    """The communities, the largest first."""

    modularity: float
    alone: int
    """How many of the `total` communities have one note. They come last."""
    communities: tuple[Community, ...]
    members: tuple[int, ...] | None
    """The community of each note, in the order of `GET /graph`; with `members=true`."""


# --- the whole graph ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GraphColumns:
    """The notes of the graph in columns, by path. Missing notes have `id` null, and come last."""

    id: tuple[str | None, ...]
    title: tuple[str, ...]
    folder: tuple[int | None, ...]
    """Positions in `folders`."""
    type: tuple[int | None, ...]
    """Positions in `types`."""
    tags: tuple[tuple[int, ...], ...]
    """Positions in `tags`."""
    day: tuple[int | None, ...]
    """Days since 1970 of `date`, else of `created`."""
    incoming: Annotated[tuple[int, ...], JsonKey("in")]
    """Notes that link to it, of the whole vault."""
    outgoing: Annotated[tuple[int, ...], JsonKey("out")]
    """Notes that it links to, of the whole vault."""
    community: IfAny[tuple[int | None, ...] | None] = None
    """With `member=true`."""


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """Counts of the whole vault. `unresolved` is a number of links."""

    notes: int
    edges: int
    orphans: int
    unresolved: int


@dataclass(frozen=True, slots=True)
class WholeGraph:
    """The whole graph in columns."""

    revision: str
    directed: Literal[True]
    nodes: GraphColumns
    folders: tuple[str, ...]
    types: tuple[str, ...]
    tags: tuple[str, ...]
    edges: tuple[int, ...]
    """Pairs of positions in `nodes`: source, target."""
    weights: tuple[int, ...]
    """The number of links of each edge."""
    truncated: bool
    counts: GraphCounts


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A note of the graph."""

    id: str
    identifier: str | None
    """The `id` of its frontmatter."""
    label: str
    type: str | None
    tags: tuple[str, ...]
    created_at: str | None
    connection_count: int
    vault: IfAny[str | None] = None
    """`global` for a note of the global vault, whose `id` then begins with it."""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A link between two notes."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class GraphObjects:
    """The whole graph as objects."""

    revision: str
    directed: Literal[True]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    truncated: bool
    counts: GraphCounts
