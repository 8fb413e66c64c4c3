"""Finds the communities of the notes of an index. The keeper runs this: it takes seconds of CPU.

It is the Louvain method, on the undirected graph, with resolution 1 (Blondel, Guillaume, Lambiotte,
Lefebvre: Fast unfolding of communities in large networks, 2008). Notes are visited in order of
their positions, so equal graphs give equal communities. A community is named after the folder or
tag that its notes share. If there is none, it has the title of its best-connected note. Words of
titles are not used: those that tell communities apart best are rare ones, which say nothing.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from vault_agent.errors import IndexUnavailable
from vault_agent.model.adjacency import Adjacency
from vault_agent.model.graph import Clusters
from vault_agent.store.database import open_reader
from vault_agent.store.directory import IndexDirectory
from vault_agent.store.index import links
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.meta import check_compatible, read_meta

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vault_agent.indexing.protocol import IndexSpec
    from vault_agent.store.index.meta import Meta


class StoredGraph(NamedTuple):
    """The notes by path and the links of one revision."""

    meta: Meta
    order: list[tuple[int, str]]  # the rowid and path of each note, by path
    links: tuple[list[int], list[int]]  # the rowids at both ends
    notes: dict[int, stored_notes.NoteColumns]  # by rowid


def cluster(spec: IndexSpec) -> Clusters:
    """Return the communities of the current revision.

    Raises:
        IndexUnavailable: `INDEX_NOT_FOUND`, `INDEX_INCOMPATIBLE`.
    """
    graph = read_graph(spec)
    adjacency = Adjacency.of([rowid for rowid, _ in graph.order], *graph.links)
    clustering = communities(adjacency)
    notes = [
        _describe(graph.notes[rowid], adjacency.degree(position))
        for position, (rowid, _) in enumerate(graph.order)
    ]
    return Clusters(
        f"{graph.meta.generation}.{graph.meta.revision}",
        tuple(clustering.members),
        clustering.modularity,
        tuple(labels(clustering.members, notes)),
    )


def read_graph(spec: IndexSpec) -> StoredGraph:
    """Read the graph of the current revision.

    Raises:
        IndexUnavailable: `INDEX_NOT_FOUND`, `INDEX_INCOMPATIBLE`.
    """
    directory = IndexDirectory(Path(spec.directory))
    number = directory.current()
    if number is None:
        raise IndexUnavailable("INDEX_NOT_FOUND", "There is no index yet.")
    with open_reader(directory.database(number)) as connection:
        # A transaction reads one state, even if a run commits another meanwhile.
        connection.execute("BEGIN")
        meta = read_meta(connection)
        check_compatible(meta, vault=spec.identity, fingerprint=spec.fingerprint)
        order = stored_notes.order(connection)
        edges = links.edges(connection)
        notes = {row.rowid: row for row in stored_notes.columns(connection)}
    return StoredGraph(meta, order, edges, notes)


def _describe(note: stored_notes.NoteColumns, degree: int) -> CommunityMember:
    tags = (orjson.loads(note.metadata).get("tags") or ()) if note.metadata else ()
    return CommunityMember(note.path, note.title, tags, degree)


_LEAST_GAIN = 1e-7
"""Passes end when modularity grows by less than this."""
_SHARED = 0.6
"""A folder or tag names a community only if it has at least this share of the community's notes."""
_OWN = 0.5
"""It also needs at least this share of its own notes in the community."""


class Communities(NamedTuple):
    """The community of every note, and the modularity. Community 0 is the largest.

    Communities of one size are ordered by their first note.
    """

    members: list[int]
    modularity: float


class _Level(NamedTuple):
    """A weighted undirected graph. Its nodes are notes, or communities of the level before."""

    neighbours: list[dict[int, int]]  # other nodes, with the weight of the edge
    loops: list[int]  # weight of the edges inside each node
    degrees: list[int]  # sum of the weights at each node; an edge inside counts twice


def communities(graph: Adjacency) -> Communities:
    """Return the communities of the notes. All links between two notes are one edge."""
    level = _first_level(graph)
    total = sum(level.degrees)  # twice the weight of all edges
    members = list(range(graph.size))
    if not total:
        return Communities(members, 0.0)
    modularity = _modularity(level, list(range(graph.size)), total)
    while True:
        moved = _move_nodes(level, total)
        gained = _modularity(level, moved, total)
        if gained - modularity < _LEAST_GAIN:
            return Communities(_number_by_size(members), modularity)
        modularity = gained
        numbers = {old: new for new, old in enumerate(dict.fromkeys(moved))}
        moved = [numbers[community] for community in moved]
        members = [moved[community] for community in members]
        level = _join_communities(level, moved)


def _first_level(graph: Adjacency) -> _Level:
    neighbours = [dict.fromkeys(graph.neighbours(note), 1) for note in range(graph.size)]
    return _Level(neighbours, [0] * graph.size, [len(others) for others in neighbours])


def _move_nodes(level: _Level, total: int) -> list[int]:
    """Move each node to the neighbouring community with the most gain, until none gains."""
    communities = list(range(len(level.neighbours)))
    sums = list(level.degrees)  # of each community
    moved = True
    while moved:
        moved = False
        for node, neighbours in enumerate(level.neighbours):
            degree, home = level.degrees[node], communities[node]
            links: dict[int, int] = {}
            for other, weight in neighbours.items():
                community = communities[other]
                links[community] = links.get(community, 0) + weight
            sums[home] -= degree
            # The gain times the total weight is a whole number: there are no rounding errors.
            best, most = home, links.get(home, 0) * total - sums[home] * degree
            for community, weight in links.items():
                gain = weight * total - sums[community] * degree
                if gain > most or (gain == most and community < best != home):
                    best, most = community, gain
            sums[best] += degree
            if best != home:
                communities[node] = best
                moved = True
    return communities


def _modularity(level: _Level, communities: list[int], total: int) -> float:
    inside, sums = Counter[int](), Counter[int]()
    for node, neighbours in enumerate(level.neighbours):
        community = communities[node]
        sums[community] += level.degrees[node]
        inside[community] += 2 * level.loops[node]
        inside[community] += sum(
            weight for other, weight in neighbours.items() if communities[other] == community
        )
    return sum(inside[community] / total - (sums[community] / total) ** 2 for community in sums)


def _join_communities(level: _Level, communities: list[int]) -> _Level:
    """Return the graph whose nodes are the communities of a level, numbered without gaps."""
    count = max(communities) + 1
    neighbours: list[dict[int, int]] = [{} for _ in range(count)]
    loops, degrees = [0] * count, [0] * count
    for node, around in enumerate(level.neighbours):
        community = communities[node]
        degrees[community] += level.degrees[node]
        loops[community] += level.loops[node]
        joined = neighbours[community]
        for other, weight in around.items():
            target = communities[other]
            if target != community:
                joined[target] = joined.get(target, 0) + weight
            elif other > node:
                loops[community] += weight
    return _Level(neighbours, loops, degrees)


def _number_by_size(members: list[int]) -> list[int]:
    """Return the communities numbered by size, the largest first, then by their first note."""
    sizes = Counter(members)
    firsts: dict[int, int] = {}
    for position, community in enumerate(members):
        firsts.setdefault(community, position)
    order = sorted(sizes, key=lambda community: (-sizes[community], firsts[community]))
    numbers = {community: number for number, community in enumerate(order)}
    return [numbers[community] for community in members]


class CommunityMember(NamedTuple):
    """A note of a community, with the properties after which the community may be named."""

    path: str
    title: str
    tags: Sequence[str]
    degree: int  # the number of its neighbours


def labels(members: Sequence[int], notes: Sequence[CommunityMember]) -> list[str]:
    """Return the name of every community with two notes or more. All differ, without letter case.

    Args:
        members: the community of each note. Communities are numbered by size, the largest first.
        notes: the notes.
    """
    sizes = Counter(members)
    count = sum(size > 1 for size in sizes.values())
    shared = [Counter[str]() for _ in range(count)]
    everywhere = Counter[str]()
    central: list[list[CommunityMember]] = [[] for _ in range(count)]
    for community, note in zip(members, notes, strict=True):
        names = set(_names(note))
        everywhere.update(names)
        if community < count:
            shared[community].update(names)
            central[community].append(note)
    names_of: list[str] = []
    taken: set[str] = set()
    for community in range(count):
        name = _best_name(shared[community], everywhere, sizes[community], taken)
        if name is None:
            name = _best_title(central[community], taken)
        taken.add(name.casefold())
        names_of.append(name)
    return names_of


def _names(note: CommunityMember) -> Iterator[str]:
    """Yield the folders that a note is in, as paths that end with `/`, and its tags."""
    end = note.path.find("/")
    while end >= 0:
        yield note.path[: end + 1]
        end = note.path.find("/", end + 1)
    for tag in note.tags:
        yield f"#{tag}"


def _best_name(
    shared: Counter[str], everywhere: Counter[str], size: int, taken: Iterable[str]
) -> str | None:
    """Return the folder or tag that tells most about a community, or None if none does."""
    fitting = [
        (-min(number / size, number / everywhere[name]), -name.count("/"), name)
        for name, number in shared.items()
        if number >= _SHARED * size and number >= _OWN * everywhere[name]
    ]
    for _, _, name in sorted(fitting):  # of equal ones the deepest folder, then a tag
        label = name if name.startswith("#") else name.rstrip("/").rpartition("/")[2]
        if label.casefold() not in taken:
            return label
    return None


def _best_title(notes: Sequence[CommunityMember], taken: Iterable[str]) -> str:
    """Return the title of the best-connected note whose title is not taken.

    Without such a note, return the path of the best-connected note.
    """
    ranked = sorted(notes, key=lambda note: (-note.degree, note.path))
    for note in ranked:
        if note.title.strip() and note.title.casefold() not in taken:
            return note.title
    return ranked[0].path
