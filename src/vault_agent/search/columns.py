"""The whole graph in columns: a few long lists instead of an object for every note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from vault_agent.markdown.broken import Fault, missing
from vault_agent.model.graph import MAX_NODES
from vault_agent.model.identifiers import identify
from vault_agent.model.notes import LinkKind
from vault_agent.search.graph import admit
from vault_agent.store.fulltext.schema import first_day
from vault_agent.store.index import links
from vault_agent.store.index import notes as reading
from vault_agent.store.index.notes import values_of
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vault_agent.model.graph import GraphQuery
    from vault_agent.search.graph import Clusters, Graph
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.notes import NoteColumns


class Rows(NamedTuple):
    """What the index knows about the notes of a graph."""

    notes: list[NoteColumns]
    admitted: set[int] | None
    unresolved: list[tuple[int, str, str]]
    unresolved_links: int
    identifiers: dict[int, list[str]]  # for objects: the `id` of the frontmatter, by rowid


async def rows(snapshot: Snapshot, query: GraphQuery) -> Rows:
    """Read the notes of the graph. `columns` and `objects` make a reply of them in a thread."""
    admitted = await admit(snapshot, query.filters)

    def read(connection: Connection) -> Rows:
        notes = reading.columns(connection)
        return Rows(
            notes,
            admitted,
            links.unresolved(connection) if query.unresolved else [],
            snapshot.meta.unresolved_links,
            values_of(connection, [row.rowid for row in notes], "id") if query.as_objects else {},
        )

    return await snapshot.read_unchanged(read)


def columns(
    graph: Graph, read: Rows, query: GraphQuery, clusters: Clusters | None
) -> dict[str, Any]:
    """Return the graph in columns. Nodes are by path, edges by position."""
    shown, truncated = _shown(graph, read, query)
    places = {position: index for index, position in enumerate(shown)}
    edges, weights = _edges(graph, places)
    by_position = {graph.positions[row.rowid]: row for row in read.notes}
    notes = [by_position[position] for position in shown]
    folders, types, tags = _Numbers(), _Numbers(), _Numbers(fold)
    kinds, labels, days = [], [], []
    known_days: dict[tuple[str | None, str | None], int | None] = {}
    for row in notes:
        public = orjson.loads(row.metadata) if row.metadata else {}
        kinds.append(types.of(public["type"]) if public.get("type") else None)
        labels.append([tags.of(tag) for tag in public.get("tags") or ()])
        dates = public.get("date"), public.get("created")
        if dates not in known_days:
            known_days[dates] = first_day(*dates)
        days.append(known_days[dates])
    nodes: dict[str, list[Any]] = {
        "id": [identify(row.path) for row in notes],
        "title": [row.title for row in notes],
        "folder": [folders.of(row.path.rpartition("/")[0]) for row in notes],
        "type": kinds,
        "tags": labels,
        "day": days,
        "in": [graph.links.in_degree(position) for position in shown],
        "out": [graph.links.out_degree(position) for position in shown],
    }
    if clusters is not None:
        nodes["community"] = [clusters.members[position] for position in shown]
    if query.unresolved:
        _add_targets(nodes, edges, weights, graph, places, read.unresolved)
    return {
        "revision": graph.revision,
        "directed": True,
        "nodes": nodes,
        "folders": folders.names,
        "types": types.names,
        "tags": tags.names,
        "edges": edges,
        "weights": weights,
        "truncated": truncated,
        "counts": _counts(graph, read),
    }


def objects(graph: Graph, read: Rows, query: GraphQuery) -> dict[str, Any]:
    """Return the graph as one object for each note and each edge."""
    shown, truncated = _shown(graph, read, query)
    places = {position: index for index, position in enumerate(shown)}
    by_position = {graph.positions[row.rowid]: row for row in read.notes}
    nodes = []
    for position in shown:
        row = by_position[position]
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


def _shown(graph: Graph, read: Rows, query: GraphQuery) -> tuple[list[int], bool]:
    """Return the notes that pass, by path. Over the limit the best connected stay."""
    links = graph.links
    passing = [
        position
        for position, rowid in enumerate(graph.rowids)
        if (read.admitted is None or rowid in read.admitted)
        and (not query.min_degree or links.degree(position) >= query.min_degree)
    ]
    return _best(graph, passing, query.most), len(passing) > query.most


def best_connected(graph: Graph) -> list[int]:
    """Return the notes that the whole graph has without filters."""
    return _best(graph, range(graph.links.size), MAX_NODES)


def _best(graph: Graph, among: Sequence[int], limit: int) -> list[int]:
    """Return the best connected of some notes, by path."""
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
    """Add a node without an ID for each missing note that links name, and the edges to it."""
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


class _Numbers:
    """Numbers names in the order in which they come."""

    def __init__(self, key: Callable[[str], str] = str) -> None:
        self.names: list[str] = []
        self._key = key
        self._known: dict[str, int] = {}
        self._spelled: dict[str, int] = {}

    def of(self, name: str) -> int:
        """Return the number of a name."""
        number = self._spelled.get(name)
        if number is None:
            number = self._known.setdefault(self._key(name), len(self.names))
            if number == len(self.names):
                self.names.append(name)
            self._spelled[name] = number
        return number
