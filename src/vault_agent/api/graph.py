"""The operations about the graph of links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, Generic, NamedTuple, TypeVar

from vault_agent.api.caller import CallContext
from vault_agent.api.operation import Found, operation
from vault_agent.api.pages import page_of, shown
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
from vault_agent.model.sent import Between, Doc
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

    from_: Annotated[NoteId, Doc("The ID of the first note.")]
    to: Annotated[NoteId, Doc("The ID of the last note.")]
    max: Annotated[int, Between(1, 50), Doc("The most links.")] = 12
    directed: Annotated[bool, Doc("Follow links only forwards.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunitiesRequest:
    """A request for the communities of notes."""

    limit: Annotated[int, Between(1, 1000)] = 20
    members: Annotated[bool, Doc("Whether to name the community of every note.")] = False
    cursor: Cursor = None


Data = TypeVar("Data")


class GraphToBuild(NamedTuple, Generic[Data]):
    """The whole graph, not built yet: a client that has this `etag` does not need it.

    `build` returns the reply as JSON.
    """

    etag: str
    build: Callable[[], Awaitable[bytes]]


@operation("GET", "/graph", tagged=True)
async def graph(call: CallContext, sent: GraphQuery) -> GraphToBuild[WholeGraph | GraphObjects]:
    """Return the whole graph in columns: its notes, their folders, types and tags, and links."""
    warnings = shown_warnings(call.vault.links.warnings())
    as_objects = sent.as_objects

    async def build() -> bytes:
        data = await call.vault.links.columns(sent, member=sent.member and not as_objects)
        if as_objects:
            await _with_global(call, data)
        return await in_thread(dump, {"data": data, "warnings": warnings})

    if as_objects:  # notes of the global vault are in it, which has revisions of its own
        body = await build()
        return GraphToBuild(_digest(body), lambda: _ready(body))
    described = (
        call.vault.identity,
        await call.vault.links.revision(),
        as_object(sent),
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
    there: dict[str, dict[str, Any]] = {}
    for source, note in await call.app.across.edges(call.vault, ids):
        node = there.setdefault(
            note.note_id,
            {
                "id": f"global:{note.note_id}",  # the note ID of another vault may be the same
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
    data["nodes"] += there.values()


@operation("GET", "/notes/{noteId}/graph")
async def local_graph(call: CallContext, sent: LocalGraphRequest) -> Found[LocalGraph]:
    """Return the notes near a note, and the links between them."""
    found = await call.vault.links.local(sent.note_id, depth=sent.depth, limit=sent.limit)
    nodes = list(found.nodes)
    edges, weights = list(found.edges), list(found.weights)
    for source, target in await _into_global(call, nodes, sent.depth):
        edges.append((source, target))
        weights.append(1)
    data = replace(found, nodes=tuple(nodes), edges=tuple(edges), weights=tuple(weights))
    return Found(data, found.warnings)


async def _into_global(
    call: CallContext, nodes: list[NearNote], depth: int
) -> list[tuple[int, int]]:
    """Add the notes of the global vault that notes of a project link to. Return the edges."""
    places = {node.note_id: place for place, node in enumerate(nodes) if node.distance < depth}
    there: dict[str, int] = {}
    edges = []
    for source, note in await call.app.across.edges(call.vault, list(places)):
        if note.note_id not in there:
            there[note.note_id] = len(nodes)
            distance = nodes[places[source]].distance + 1
            nodes.append(
                NearNote(
                    *(note.note_id, note.path, note.title, 0, 0),
                    type=note.type,
                    distance=distance,
                    vault="global",
                )
            )
        edges.append((places[source], there[note.note_id]))
    return edges


@operation("GET", "/graph/path")
async def graph_path(call: CallContext, sent: PathRequest) -> Found[PathOfNotes]:
    """Return a shortest path of links between two notes."""
    notes = await call.vault.links.path(
        sent.from_, sent.to, directed=sent.directed, longest=sent.max
    )
    return Found(PathOfNotes(len(notes) - 1, tuple(notes)), call.vault.links.warnings())


@operation("GET", "/graph/communities")
async def communities(call: CallContext, sent: CommunitiesRequest) -> Found[CommunitiesPage]:
    """List groups of notes that are linked more with each other than with others."""
    found, clusters, members = await call.vault.links.communities(page_of(call.vault, sent))
    entries, page_fields = shown(call.vault, sent, found)
    data = CommunitiesPage(
        modularity=round(clusters.modularity, 6),
        alone=clusters.alone,
        communities=entries,
        members=tuple(members) if sent.members else None,
        total=found.total or 0,
        **page_fields,
    )
    return Found(data, found.warnings)
