"""The operations about the graph of links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, Generic, NamedTuple, TypeVar

from vault_agent.api.caller import CallContext
from vault_agent.api.cursors import fit_page, page_of
from vault_agent.api.operation import Result, operation
from vault_agent.api.replies import shown_warnings
from vault_agent.model.fields import Cursor, NoteId
from vault_agent.model.graph import (
    CommunitiesPage,
    GraphObjects,
    GraphQuery,
    LocalGraph,
    NearNote,
    PathOfNotes,
    WholeGraph,
)
from vault_agent.model.sent import Between
from vault_agent.model.values import as_object, dump
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalGraphRequest:
    """A request for the notes near a note."""

    note_id: NoteId
    depth: Annotated[int, Between(1, 5)] = 1
    limit: Annotated[int, Between(1, 2000)] = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRequest:
    """A request for a shortest path between two notes."""

    from_: NoteId
    """The ID of the first note."""
    to_: NoteId
    """The ID of the last note."""
    max: Annotated[int, Between(1, 50)] = 12
    """The most links."""
    directed: bool = False
    """Follow links only forwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunitiesRequest:
    """A request for the communities of notes."""

    limit: Annotated[int, Between(1, 1000)] = 20
    members: bool = False
    """Whether to name the community of every note."""
    cursor: Cursor = None


Data = TypeVar("Data")


class GraphToBuild(NamedTuple, Generic[Data]):
    """The whole graph, not built yet: a client that has this `etag` does not need it.

    `build` returns the reply as JSON.
    """

    etag: str
    build: Callable[[], Awaitable[bytes]]


@operation("GET", "/graph", has_etag=True)
async def graph(call: CallContext, request: GraphQuery) -> GraphToBuild[WholeGraph | GraphObjects]:
    """Return the whole graph in columns: its notes, their folders, types and tags, and links."""
    warnings = shown_warnings(call.vault.links.warnings())
    as_objects = request.as_objects

    async def build() -> bytes:
        data = await call.vault.links.columns(request, member=request.member and not as_objects)
        if as_objects:
            await _with_global(call, data)
        return await in_thread(dump, {"data": data, "warnings": warnings})

    if as_objects:  # it has notes of the global vault, which has revisions of its own
        body = await build()
        return GraphToBuild(_digest(body), lambda: _ready(body))
    described = (
        call.vault.identity,
        await call.vault.links.revision(),
        as_object(request),
        warnings,
    )
    return GraphToBuild(_digest(dump(described)), build)


def _digest(described: bytes) -> str:
    return blake2b(described, digest_size=16).hexdigest()


async def _ready(body: bytes) -> bytes:
    return body


async def _with_global(call: CallContext, data: dict[str, Any]) -> None:
    """Add to a graph of objects the notes of the global vault that its notes link to."""
    ids = [node["id"] for node in data["nodes"]]
    nodes: dict[str, dict[str, Any]] = {}
    for source, note in await call.app.global_links.edges(call.vault, ids):
        node = nodes.setdefault(
            note.note_id,
            {
                "id": f"global:{note.note_id}",  # a note of this vault may have the same ID
                "identifier": note.identifier,
                "label": note.title,
                "type": note.type,
                "tags": [],
                "createdAt": None,
                "connectionCount": 0,
                "vault": "global",
            },
        )
        node["connectionCount"] += 1
        data["edges"].append({"source": source, "target": node["id"]})
    data["nodes"] += nodes.values()


@operation("GET", "/notes/{noteId}/graph")
async def local_graph(call: CallContext, request: LocalGraphRequest) -> Result[LocalGraph]:
    """Return the notes near a note, and the links between them."""
    near = await call.vault.links.local(request.note_id, depth=request.depth, limit=request.limit)
    nodes = list(near.nodes)
    edges, weights = list(near.edges), list(near.weights)
    for source, target in await _into_global(call, nodes, request.depth):
        edges.append((source, target))
        weights.append(1)
    data = replace(near, nodes=tuple(nodes), edges=tuple(edges), weights=tuple(weights))
    return Result(data)


async def _into_global(
    call: CallContext, nodes: list[NearNote], depth: int
) -> list[tuple[int, int]]:
    """Add the notes of the global vault that notes of a project link to. Return the edges."""
    places = {node.note_id: place for place, node in enumerate(nodes) if node.distance < depth}
    positions: dict[str, int] = {}
    edges = []
    for source, note in await call.app.global_links.edges(call.vault, list(places)):
        if note.note_id not in positions:
            positions[note.note_id] = len(nodes)
            distance = nodes[places[source]].distance + 1
            nodes.append(
                NearNote(
                    *(note.note_id, note.path, note.title, 0, 0),
                    type=note.type,
                    distance=distance,
                    vault="global",
                )
            )
        edges.append((places[source], positions[note.note_id]))
    return edges


@operation("GET", "/graph/path")
async def graph_path(call: CallContext, request: PathRequest) -> Result[PathOfNotes]:
    """Return a shortest path of links between two notes."""
    notes = await call.vault.links.path(
        request.from_, request.to_, directed=request.directed, longest=request.max
    )
    return Result(PathOfNotes(len(notes) - 1, tuple(notes)), call.vault.links.warnings())


@operation("GET", "/graph/communities")
async def communities(call: CallContext, request: CommunitiesRequest) -> Result[CommunitiesPage]:
    """List groups of notes that are linked more with each other than with others."""
    listed, clusters, members = await call.vault.links.communities(page_of(call.vault, request))
    entries, page_fields = fit_page(call.vault, request, listed)
    data = CommunitiesPage(
        modularity=round(clusters.modularity, 6),
        alone=clusters.alone,
        communities=entries,
        members=tuple(members) if request.members else None,
        total=listed.total or 0,
        **page_fields,
    )
    return Result(data, listed.warnings)
