"""Walks over the graph of links: the notes near a note, a shortest path, and PageRank."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.model.adjacency import Adjacency


_DAMPING = 0.85
_TOLERANCE = 1e-9
_MAX_STEPS = 500


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


def pagerank(graph: Adjacency) -> list[float]:
    """Return the PageRank of every note. The ranks sum to 1.

    Each edge counts once, however many links it stands for. The rank of a note without outgoing
    links goes to all notes. Stops when the ranks change by less than 1e-9 in sum.
    """
    import numpy as np  # takes 0.2 s

    size = graph.size
    if not size:
        return []
    targets = np.frombuffer(graph.targets, dtype=np.intc) if graph.edges else np.empty(0, np.intc)
    out = np.fromiter(map(graph.out_degree, range(size)), np.float64, size)
    sources = np.repeat(np.arange(size), out.astype(np.intp))
    shares = 1 / np.maximum(out, 1)
    ranks = np.full(size, 1 / size)
    for _ in range(_MAX_STEPS):
        passed = np.bincount(targets, weights=(ranks * shares)[sources], minlength=size)
        lost = ranks[out == 0].sum()
        following = (1 - _DAMPING) / size + _DAMPING * (passed + lost / size)
        change = np.abs(following - ranks).sum()
        ranks = following
        if change < _TOLERANCE:
            break
    found: list[float] = (ranks / ranks.sum()).tolist()
    return found
