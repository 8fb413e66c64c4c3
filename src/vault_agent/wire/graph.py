"""The requests and replies about the graph of notes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vault_agent.model.graph import MAX_NODES
from vault_agent.wire.base import Model
from vault_agent.wire.pages import CURSOR, CountedPageData, FilteredRequest
from vault_agent.wire.queries import CursorText, whole
from vault_agent.wire.requests import Flag, NoteId

# --- requests ---------------------------------------------------------------------------------


class LocalGraphRequest(Model):
    """A request for the notes near a note."""

    note_id: NoteId
    depth: whole(1, 5) = 1  # type: ignore[valid-type]
    limit: whole(1, 2_000) = 300  # type: ignore[valid-type]


class GraphRequest(FilteredRequest):
    """A request for the whole graph."""

    min_degree: whole(0, 1_000_000) = Field(  # type: ignore[valid-type]
        default=0, description="Only notes that are linked with at least so many others."
    )
    limit: whole(1, MAX_NODES) = Field(  # type: ignore[valid-type]
        default=MAX_NODES,
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


class OrphansRequest(FilteredRequest):
    """A request for notes without links."""

    limit: whole(1, 1_000) = 100  # type: ignore[valid-type]
    cursor: CursorText | None = CURSOR


class DeadEndsRequest(OrphansRequest):
    """A request for notes that are linked, but link to no note."""


class CentralRequest(Model):
    """A request for the most central notes."""

    by: Literal["pagerank", "in", "out", "degree"] = "pagerank"
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    cursor: CursorText | None = CURSOR


class CommunitiesRequest(Model):
    """A request for the communities of notes."""

    limit: whole(1, 1_000) = 20  # type: ignore[valid-type]
    members: Flag = Field(default=False, description="Whether to name the community of every note.")
    cursor: CursorText | None = CURSOR


# --- replies ----------------------------------------------------------------------------------


class GraphNoteData(Model):
    """A note of the graph. `in` and `out` count notes, not links."""

    note_id: str
    path: str
    title: str
    in_: int = Field(alias="in")
    out: int


class NearNoteData(GraphNoteData):
    """A note near another one. `distance` is in links."""

    type: str | None
    distance: int
    vault: str | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="`global` for a note of the global vault that a note of the project links to.",
    )


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


class GraphNotesData(CountedPageData):
    """Notes of the graph."""

    notes: list[GraphNoteData]


class ScoredNoteData(GraphNoteData):
    """A note with its score."""

    score: float


class CentralData(CountedPageData):
    """The notes with the highest scores."""

    by: str
    notes: list[ScoredNoteData]


class CommunityData(Model):
    """A group of notes. `label` is made of the terms that tell it from the others."""

    id: int
    size: int
    label: str
    central: tuple[GraphNoteData, ...]


class CommunitiesData(CountedPageData):
    """The communities, the largest first."""

    modularity: float
    communities: list[CommunityData]
    members: list[int] | None = Field(
        description="The community of each note, in the order of `GET /graph`; with `members=true`."
    )


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
    identifier: str | None = Field(description="The `id` of its frontmatter.")
    label: str
    type: str | None
    tags: list[str]
    created_at: str | None
    connection_count: int
    vault: str | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="`global` for a note of the global vault, whose `id` then begins with it.",
    )


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
