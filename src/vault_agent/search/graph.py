"""The graph of a vault: the notes near a note, shortest paths, communities, and the whole graph.

The graph is built at its first use and kept until the next revision.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import orjson

from vault_agent.errors import NotFound
from vault_agent.markdown.broken import Fault, missing
from vault_agent.model.graph import (
    MAX_NODES,
    Community,
    GraphNote,
    Listed,
    LocalGraph,
    NearNote,
    Page,
)
from vault_agent.model.identifiers import identify
from vault_agent.model.notes import LinkKind
from vault_agent.search.lists import admitted, check_revision
from vault_agent.search.resolve import named_note
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.fulltext.schema import first_day
from vault_agent.store.index import links
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.notes import values_of
from vault_agent.system.cancelling import in_thread
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vault_agent.model.adjacency import Adjacency
    from vault_agent.model.graph import Clusters, GraphQuery
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.notes import NoteColumns

_CENTRAL = 5  # notes shown of a community


@dataclass(slots=True)
class Graph:
    """The notes of one revision by path, and the links between them.

    `broken` has the keys and faults of broken links, once somebody has asked for them.
    """

    revision: str
    rowids: array[int]
    positions: dict[int, int]  # by rowid
    links: Adjacency
    broken: list[tuple[int, Fault]] | None = None


class Graphs:
    """Keeps the graph of one revision. It builds one graph at a time, in a thread."""

    def __init__(self) -> None:
        self._kept: Graph | None = None
        self._building = anyio.Lock()

    async def of(self, snapshot: Snapshot) -> Graph:
        """Return the graph of a snapshot."""
        async with self._building:
            kept = self._kept
            if kept is None or kept.revision != snapshot.revision:
                kept = self._kept = None  # its memory is free for the next one
                kept = self._kept = await snapshot.read_unchanged(_graph, snapshot.revision)
            return kept

    def forget(self, revision: str | None) -> None:
        """Drop the graph if it is of another revision."""
        if self._kept is not None and self._kept.revision != revision:
            self._kept = None


def _graph(connection: Connection, revision: str) -> Graph:
    # Imported here: it imports numpy, which a server without embeddings needs only for this.
    from vault_agent.model.adjacency import Adjacency

    rowids = array("q", (rowid for rowid, _ in stored_notes.order(connection)))
    positions = {rowid: position for position, rowid in enumerate(rowids)}
    return Graph(revision, rowids, positions, Adjacency.of(rowids, *links.edges(connection)))


async def local(
    snapshot: Snapshot,
    graph: Graph,
    note_id: str,
    *,
    depth: int,
    limit: int,
) -> LocalGraph:
    """Return the notes near a note, in either direction of the links.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`.
    """
    start = await _position(snapshot, graph, note_id)
    nearby = await in_thread(near, graph.links, start, depth=depth, limit=limit)
    positions = list(nearby.distances)
    places = {position: index for index, position in enumerate(positions)}
    edges = sorted(
        (index, places[target], weight)
        for position, index in places.items()
        for target, weight in graph.links.weighted(position)
        if target in places
    )
    notes = await _notes(snapshot, graph, positions)
    return LocalGraph(
        graph.revision,
        tuple(
            NearNote(
                *(note.note_id, note.path, note.title, note.incoming, note.outgoing),
                type=note.type,
                distance=distance,
            )
            for note, distance in zip(notes, nearby.distances.values(), strict=True)
        ),
        tuple((source, target) for source, target, _ in edges),
        tuple(weight for _, _, weight in edges),
        nearby.truncated,
    )


async def path(
    snapshot: Snapshot, graph: Graph, start: str, end: str, *, directed: bool, longest: int
) -> tuple[GraphNote, ...]:
    """Return the notes on a shortest path between two notes, both included.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, `PATH_NOT_FOUND`.
    """
    ends = [await _position(snapshot, graph, note_id) for note_id in (start, end)]
    positions = await in_thread(shortest_path, graph.links, *ends, directed=directed)
    if not positions:
        what = "No links connect the two notes."
        raise NotFound("PATH_NOT_FOUND", what, {"reason": "apart"})
    if len(positions) - 1 > longest:
        what = f"The shortest path between the two notes has over {longest} links."
        raise NotFound("PATH_NOT_FOUND", what, {"reason": "too_long"})
    return await _notes(snapshot, graph, positions)


async def communities(
    snapshot: Snapshot,
    graph: Graph,
    clusters: Clusters,
    page: Page,
) -> Listed[Community]:
    """Return the communities, the largest first, each with its best-connected notes.

    Raises:
        InvalidRequest: `CURSOR_EXPIRED`.
    """
    check_revision(snapshot, page)
    if clusters.revision != graph.revision:
        raise SnapshotOutdated
    inside: dict[int, list[int]] = {}
    for position, community in enumerate(clusters.members):
        if page.first <= community < page.first + page.limit:
            inside.setdefault(community, []).append(position)
    central = {
        community: nsmallest(
            _CENTRAL, members, lambda position: (-graph.links.degree(position), position)
        )
        for community, members in sorted(inside.items())
    }
    every = [position for members in central.values() for position in members]
    notes = dict(zip(every, await _notes(snapshot, graph, every), strict=True))
    entries = tuple(
        Community(
            community,
            len(inside[community]),
            clusters.labels[community]
            if community < len(clusters.labels)
            else notes[members[0]].title,
            tuple(notes[position] for position in members),
        )
        for community, members in central.items()
    )
    return page.listed(graph.revision, entries, clusters.total)


async def _position(snapshot: Snapshot, graph: Graph, note_id: str) -> int:
    return graph.positions[(await snapshot.read_unchanged(named_note, note_id)).rowid]


async def _notes(
    snapshot: Snapshot, graph: Graph, positions: Sequence[int]
) -> tuple[GraphNote, ...]:
    rowids = [graph.rowids[position] for position in positions]
    rows = await snapshot.read_unchanged(stored_notes.columns, rowids)
    by_position = {graph.positions[row.rowid]: row for row in rows}
    return tuple(
        GraphNote(
            identify(row.path),
            row.path,
            row.title,
            graph.links.in_degree(position),
            graph.links.out_degree(position),
            orjson.loads(row.metadata).get("type") if row.metadata else None,
        )
        for position in positions
        for row in (by_position[position],)
    )


class Neighbourhood(NamedTuple):
    """The notes near a note as {note: distance}, and whether some are left out."""

    distances: dict[int, int]
    truncated: bool


def near(graph: Adjacency, note: int, *, depth: int, limit: int) -> Neighbourhood:
    """Return at most `limit` notes within `depth` links of a note, in either direction.

    The nearest come first, then those with the most neighbours, then the first by position.
    """
    distances = {note: 0}
    level = [note]
    for distance in range(1, depth + 1):
        notes = {
            neighbour for one in level for neighbour in graph.neighbours(one)
        } - distances.keys()
        room = limit - len(distances)
        level = sorted(notes, key=lambda note: (-graph.degree(note), note))[:room]
        distances.update(dict.fromkeys(level, distance))
        if len(notes) > room:
            return Neighbourhood(distances, truncated=True)
        if not level:
            break
    return Neighbourhood(distances, truncated=False)


def shortest_path(graph: Adjacency, start: int, end: int, *, directed: bool) -> list[int]:
    """Return a shortest path from `start` to `end`, [] if there is none.

    Of several paths, return the first by the positions of their notes.
    """
    # Distances are from the end, so that the path can be followed from the start.
    back: Callable[[int], Sequence[int]] = graph.incoming if directed else graph.neighbours
    distances = _distances(end, start, back)
    if start not in distances:
        return []
    forth: Callable[[int], Sequence[int]] = graph.outgoing if directed else graph.neighbours
    path = [start]
    while path[-1] != end:
        left = distances[path[-1]] - 1
        path.append(next(note for note in forth(path[-1]) if distances.get(note) == left))
    return path


def _distances(first: int, last: int, step: Callable[[int], Sequence[int]]) -> dict[int, int]:
    """Return the distance of every note from `first`, at least up to that of `last`."""
    distances = {first: 0}
    level, distance = [first], 0
    while level and last not in distances:
        distance += 1
        following = []
        for note in level:
            for neighbour in step(note):
                if neighbour not in distances:
                    distances[neighbour] = distance
                    following.append(neighbour)
        level = following
    return distances


# --- the whole graph ------------------------------------------------------------------------------


class Rows(NamedTuple):
    """What the index has about the notes of a graph."""

    notes: list[NoteColumns]
    admitted: set[int] | None
    unresolved: list[tuple[int, str, str]]
    unresolved_links: int
    identifiers: dict[int, list[str]]  # for objects: the `id` of the frontmatter, by rowid


async def read_rows(snapshot: Snapshot, query: GraphQuery) -> Rows:
    """Read the notes of the graph, of which `to_columns` and `to_objects` make a reply."""
    passing = await admitted(snapshot, query.filters)

    def read(connection: Connection) -> Rows:
        notes = stored_notes.columns(connection)
        return Rows(
            notes,
            passing,
            links.unresolved(connection) if query.unresolved else [],
            snapshot.meta.unresolved_links,
            values_of(connection, [row.rowid for row in notes], "id") if query.as_objects else {},
        )

    return await snapshot.read_unchanged(read)


def to_columns(
    graph: Graph, read: Rows, query: GraphQuery, clusters: Clusters | None
) -> dict[str, Any]:
    """Return the graph in columns. Nodes are in the order of paths, edges of positions."""
    shown_notes, truncated = _shown(graph, read, query)
    places = {position: index for index, position in enumerate(shown_notes)}
    edges, weights = _edges(graph, places)
    notes = list(shown_notes.values())
    folders: dict[str, int] = {}
    types: dict[str, int] = {}
    tags: dict[str, int] = {}  # by their first spelling
    spellings: dict[str, str] = {}
    places_of_folders, kinds, labels, days = [], [], [], []
    known_days: dict[tuple[str | None, str | None], int | None] = {}
    for row in notes:
        public = orjson.loads(row.metadata) if row.metadata else {}
        places_of_folders.append(folders.setdefault(row.path.rpartition("/")[0], len(folders)))
        kind = public.get("type")
        kinds.append(types.setdefault(kind, len(types)) if kind else None)
        names = [spellings.setdefault(fold(tag), tag) for tag in public.get("tags") or ()]
        labels.append([tags.setdefault(name, len(tags)) for name in names])
        dates = public.get("date"), public.get("created")
        if dates not in known_days:
            known_days[dates] = first_day(*dates)
        days.append(known_days[dates])
    nodes: dict[str, list[Any]] = {
        "id": [identify(row.path) for row in notes],
        "title": [row.title for row in notes],
        "folder": places_of_folders,
        "type": kinds,
        "tags": labels,
        "day": days,
        "in": [graph.links.in_degree(position) for position in places],
        "out": [graph.links.out_degree(position) for position in places],
    }
    if clusters is not None:
        nodes["community"] = [clusters.members[position] for position in places]
    if query.unresolved:
        _add_targets(nodes, edges, weights, graph, places, read.unresolved)
    return {
        "revision": graph.revision,
        "directed": True,
        "nodes": nodes,
        "folders": list(folders),
        "types": list(types),
        "tags": list(tags),
        "edges": edges,
        "weights": weights,
        "truncated": truncated,
        "counts": _counts(graph, read),
    }


def to_objects(graph: Graph, read: Rows, query: GraphQuery) -> dict[str, Any]:
    """Return the graph as one object for each note and each edge."""
    shown_notes, truncated = _shown(graph, read, query)
    nodes = []
    for position, row in shown_notes.items():
        public = orjson.loads(row.metadata) if row.metadata else {}
        nodes.append(
            {
                "id": identify(row.path),
                "identifier": next(iter(read.identifiers.get(row.rowid, ())), None),
                "label": row.title,
                "type": public.get("type"),
                "tags": public.get("tags") or [],
                "createdAt": public.get("created") or public.get("date"),
                "connectionCount": graph.links.degree(position),
            }
        )
    places = {position: index for index, position in enumerate(shown_notes)}
    edges, _ = _edges(graph, places)
    return {
        "revision": graph.revision,
        "directed": True,
        "nodes": nodes,
        "edges": [
            {"source": nodes[source]["id"], "target": nodes[target]["id"]}
            for source, target in zip(edges[::2], edges[1::2], strict=True)
        ],
        "truncated": truncated,
        "counts": _counts(graph, read),
    }


def _shown(graph: Graph, read: Rows, query: GraphQuery) -> tuple[dict[int, NoteColumns], bool]:
    """Return the notes that pass the query, by position, and whether some are left out.

    They are in the order of their paths. If there are too many, the best-connected ones stay.
    """
    links = graph.links
    passing = [
        position
        for position, rowid in enumerate(graph.rowids)
        if (read.admitted is None or rowid in read.admitted)
        and (not query.min_degree or links.degree(position) >= query.min_degree)
    ]
    rows = {graph.positions[row.rowid]: row for row in read.notes}
    best = _best(graph, passing, query.most)
    return {position: rows[position] for position in best}, len(passing) > query.most


def best_connected(graph: Graph) -> list[int]:
    """Return the positions of the notes in the whole graph, if there are no filters."""
    return _best(graph, range(graph.links.size), MAX_NODES)


def _best(graph: Graph, among: Sequence[int], limit: int) -> list[int]:
    """Return the best-connected notes of `among`, in the order of their paths."""
    if len(among) <= limit:
        return list(among)
    return sorted(sorted(among, key=lambda at: (-graph.links.degree(at), at))[:limit])


def _edges(graph: Graph, places: dict[int, int]) -> tuple[list[int], list[int]]:
    if len(places) == graph.links.size:
        return graph.links.pairs(), list(graph.links.weights)
    edges: list[int] = []
    weights: list[int] = []
    for position, index in places.items():
        for target, weight in graph.links.weighted(position):
            place = places.get(target)
            if place is not None:
                edges += index, place
                weights.append(weight)
    return edges, weights


def _add_targets(  # noqa: PLR0917 - one caller, and the types differ
    nodes: dict[str, list[Any]],
    edges: list[int],
    weights: list[int],
    graph: Graph,
    places: dict[int, int],
    unresolved: Iterable[tuple[int, str, str]],
) -> None:
    """Add a node without an ID for each missing note that links name, and edges to the node."""
    spellings: dict[str, str] = {}
    counts: dict[tuple[int, str], int] = {}
    for rowid, kind, target in unresolved:
        place = places.get(graph.positions[rowid])
        if place is None or missing(LinkKind(kind), target) is not Fault.NOTE:
            continue
        name = fold(target)
        spellings.setdefault(name, target)
        counts[place, name] = counts.get((place, name), 0) + 1
    first = len(nodes["id"])
    numbers = {name: first + index for index, name in enumerate(sorted(spellings))}
    sources = dict.fromkeys(numbers, 0)
    for _, name in counts:
        sources[name] += 1
    for name in numbers:
        node = {"title": spellings[name], "tags": [], "in": sources[name], "out": 0}
        for column, values in nodes.items():
            values.append(node.get(column))
    every = list(zip(zip(edges[::2], edges[1::2], strict=True), weights, strict=True))
    every += [((place, numbers[name]), count) for (place, name), count in counts.items()]
    every.sort()
    edges[:] = [end for pair, _ in every for end in pair]
    weights[:] = [weight for _, weight in every]


def _counts(graph: Graph, read: Rows) -> dict[str, int]:
    links = graph.links
    return {
        "notes": links.size,
        "edges": links.edges,
        "orphans": sum(
            not (links.out_degree(position) or links.in_degree(position))
            for position in range(links.size)
        ),
        "unresolved": read.unresolved_links,
    }
