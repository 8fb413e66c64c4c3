"""The graph of a vault, the notes near a note, and shortest paths.

The graph is built at its first use and kept until the next revision.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

import anyio
import orjson

from vault_agent.errors import NotFound
from vault_agent.model.graph import Community, GraphNote, Listed, LocalGraph, NearNote, Page
from vault_agent.model.identifiers import identify
from vault_agent.model.search import Filters
from vault_agent.search.links import check_revision
from vault_agent.search.named import named_note
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index import links
from vault_agent.store.index import notes as reading
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.model.adjacency import Adjacency
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection


_CENTRAL = 5  # notes shown of a community


@dataclass(frozen=True, slots=True)
class Graph:
    """The notes of one revision by path, and the links between them."""

    revision: str
    rowids: array[int]
    positions: dict[int, int]  # by rowid
    links: Adjacency


class Graphs:
    """Keeps the graph of one revision. One is built at a time, not in the event loop."""

    def __init__(self) -> None:
        self._kept: Graph | None = None
        self._building = anyio.Lock()

    async def of(self, snapshot: Snapshot) -> Graph:
        """Return the graph of a snapshot."""
        async with self._building:
            if self._kept is None or self._kept.revision != snapshot.revision:
                self._kept = None
                kept = await snapshot.read_unchanged(_graph, snapshot.revision)
                self._kept = kept
                return kept
            return self._kept

    def forget(self, revision: str | None) -> None:
        """Drop the graph if it is of another revision."""
        if self._kept is not None and self._kept.revision != revision:
            self._kept = None


def _graph(connection: Connection, revision: str) -> Graph:
    # Imported here: it imports numpy, which a server without embeddings needs only for this.
    from vault_agent.model.adjacency import Adjacency

    rowids = array("q", (rowid for rowid, _ in reading.order(connection)))
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
    found = await in_thread(near, graph.links, start, depth=depth, limit=limit)
    shown = list(found.distances)
    places = {position: index for index, position in enumerate(shown)}
    edges = sorted(
        (index, places[target], weight)
        for position, index in places.items()
        for target, weight in graph.links.weighted(position)
        if target in places
    )
    return LocalGraph(
        graph.revision,
        tuple(
            NearNote(
                *(note.note_id, note.path, note.title, note.incoming, note.outgoing),
                type=note.type,
                distance=found.distances[position],
            )
            for position, note in zip(shown, await _notes(snapshot, graph, shown), strict=True)
        ),
        tuple((source, target) for source, target, _ in edges),
        tuple(weight for _, _, weight in edges),
        found.truncated,
    )


async def path(
    snapshot: Snapshot, graph: Graph, start: str, end: str, *, directed: bool, longest: int
) -> tuple[GraphNote, ...]:
    """Return the notes on a shortest path between two notes, both included.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, `PATH_NOT_FOUND`.
    """
    ends = [await _position(snapshot, graph, each) for each in (start, end)]
    try:
        found = await in_thread(
            shortest_path, graph.links, *ends, directed=directed, longest=longest
        )
    except NoPath as none:
        if none.apart:
            what, reason = "No links connect the two notes.", "apart"
        else:
            what = f"The shortest path between the two notes has over {longest} links."
            reason = "too_long"
        raise NotFound("PATH_NOT_FOUND", what, {"reason": reason}) from None
    return await _notes(snapshot, graph, found)


@dataclass(frozen=True, slots=True)
class Clusters:
    """The communities of one revision. Community 0 is the largest."""

    revision: str
    members: Sequence[int]  # the community of each note, by path
    modularity: float
    labels: Sequence[str]  # of the communities with two notes or more

    @property
    def total(self) -> int:
        """The number of communities, also of those with one note."""
        return max(self.members, default=-1) + 1

    @property
    def alone(self) -> int:
        """The number of communities with one note. They are the last ones."""
        return self.total - len(self.labels)


async def communities(
    snapshot: Snapshot,
    graph: Graph,
    clusters: Clusters,
    page: Page,
) -> Listed[Community]:
    """Return the communities, the largest first, each with its notes of most neighbours.

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
    shown = {
        community: nsmallest(
            _CENTRAL, members, lambda position: (-graph.links.degree(position), position)
        )
        for community, members in sorted(inside.items())
    }
    every = [position for members in shown.values() for position in members]
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
        for community, members in shown.items()
    )
    return page.listed(graph.revision, entries, clusters.total)


async def admit(snapshot: Snapshot, filters: Filters) -> set[int] | None:
    """Return the rowids of the notes that pass the filters, or None if there are no filters."""
    if filters == Filters():
        return None
    return await snapshot.threads.run(snapshot.fulltext.admitted, filters)


async def _position(snapshot: Snapshot, graph: Graph, note_id: str) -> int:
    return graph.positions[(await snapshot.read_unchanged(named_note, note_id)).rowid]


async def _notes(snapshot: Snapshot, graph: Graph, shown: Sequence[int]) -> tuple[GraphNote, ...]:
    rowids = [graph.rowids[position] for position in shown]
    rows = await snapshot.read_unchanged(reading.columns, rowids)
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
        for position, row in ((each, by_position[each]) for each in shown)
    )


class Near(NamedTuple):
    """The notes near a note as {note: distance}, and whether some are left out."""

    distances: dict[int, int]
    truncated: bool


def near(graph: Adjacency, note: int, *, depth: int, limit: int) -> Near:
    """Return at most `limit` notes within `depth` links of a note, in either direction.

    The nearest come first, then those with the most neighbours, then the first by position.
    """
    distances = {note: 0}
    level = [note]
    for distance in range(1, depth + 1):
        found = {each for one in level for each in graph.neighbours(one)} - distances.keys()
        room = limit - len(distances)
        level = sorted(found, key=lambda each: (-graph.degree(each), each))[:room]
        distances.update(dict.fromkeys(level, distance))
        if len(found) > room:
            return Near(distances, truncated=True)
        if not level:
            break
    return Near(distances, truncated=False)


class NoPath(Exception):
    """Two notes are not connected by a path of the allowed length.

    `apart` says that there is no path at all.
    """

    def __init__(self, *, apart: bool) -> None:
        super().__init__()
        self.apart = apart


def shortest_path(
    graph: Adjacency, start: int, end: int, *, directed: bool, longest: int
) -> list[int]:
    """Return a shortest path from `start` to `end`. Of several, the first by position.

    Raises:
        NoPath: if there is none with at most `longest` links.
    """
    # Walked from the end, so that the path can be read from the start.
    back: Callable[[int], Sequence[int]] = graph.incoming if directed else graph.neighbours
    distances = _distances(end, start, back)
    if start not in distances:
        raise NoPath(apart=True)
    if distances[start] > longest:
        raise NoPath(apart=False)
    forth: Callable[[int], Sequence[int]] = graph.outgoing if directed else graph.neighbours
    path = [start]
    while path[-1] != end:
        left = distances[path[-1]] - 1
        path.append(next(each for each in forth(path[-1]) if distances.get(each) == left))
    return path


def _distances(first: int, last: int, step: Callable[[int], Sequence[int]]) -> dict[int, int]:
    """Return the distance of every note from `first`, at least up to that of `last`."""
    distances = {first: 0}
    level, distance = [first], 0
    while level and last not in distances:
        distance += 1
        following = []
        for note in level:
            for each in step(note):
                if each not in distances:
                    distances[each] = distance
                    following.append(each)
        level = following
    return distances
