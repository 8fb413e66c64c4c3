"""Computes positions for a drawing of the graph. The keeper runs this: it takes seconds of CPU.

The positions are in one file of the index's folder. No generation has a file of its own, so that a
rebuild does not change the picture. The file is disposable.

Every node pushes all others away, links pull their ends together, and a group (such as a folder)
pulls its nodes to its middle. The push is that of a cloud of points in two dimensions, one over the
distance. It is computed on a grid by a fast Fourier transform, so the time grows with the number of
nodes and not with its square. The same graph has the same picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from zipfile import BadZipFile

import numpy as np

from vault_agent.indexing.cluster import read_graph
from vault_agent.indexing.protocol import LaidOut
from vault_agent.model.adjacency import Adjacency
from vault_agent.model.graph import MAX_NODES
from vault_agent.store.directory import IndexDirectory
from vault_agent.store.index.rows import handle_of
from vault_agent.system.files import read_optional, replacing
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_agent.indexing.protocol import IndexSpec

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]


def compute_layout(spec: IndexSpec) -> LaidOut:
    """Compute and write the positions of the current revision.

    Raises:
        IndexUnavailable: `INDEX_NOT_FOUND`, `INDEX_INCOMPATIBLE`.
        OSError: if the file cannot be written.
    """
    graph = read_graph(spec)
    links = Adjacency.of([rowid for rowid, _ in graph.order], *graph.links)
    drawn = best_connected(links)
    paths = [graph.order[position][1] for position in drawn]
    handles = np.array([handle_of(path) for path in paths], np.int64)
    file = IndexDirectory(Path(spec.directory)).positions
    earlier = read_positions(file)
    places = place_nodes(
        len(drawn),
        _edges(links, drawn),
        _folders(paths),
        None if earlier is None else _positions_before(earlier, handles),
    )
    revision = f"{graph.meta.generation}.{graph.meta.revision}"
    write_positions(file, Positions(revision, handles, places))
    return LaidOut(graph.meta.generation, graph.meta.revision)


def best_connected(links: Adjacency) -> list[int]:
    """Return the positions of the notes to draw: at most 50,000, as `GET /graph` chooses them."""
    if links.size <= MAX_NODES:
        return list(range(links.size))
    order = sorted(range(links.size), key=lambda position: (-links.degree(position), position))
    return sorted(order[:MAX_NODES])


def _edges(links: Adjacency, drawn: list[int]) -> Edges:
    pairs = np.array(links.pairs(), np.int64).reshape(-1, 2)
    weights = np.array(links.weights, np.float32)
    places = np.full(max(links.size, 1), -1, np.int64)
    places[drawn] = np.arange(len(drawn))
    ends = places[pairs]
    kept = (ends >= 0).all(axis=1)
    return Edges(ends[kept, 0], ends[kept, 1], weights[kept])


def _folders(paths: list[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the number of each note's folder."""
    numbers: dict[str, int] = {}
    folders = [numbers.setdefault(fold(path.rpartition("/")[0]), len(numbers)) for path in paths]
    return np.array(folders, np.int64)


def _positions_before(
    positions: Positions, handles: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return the positions from before of these notes, NaN for new ones."""
    before = np.full((len(handles), 2), np.nan, np.float32)
    if len(positions.handles) and len(handles):
        order = np.argsort(positions.handles, kind="stable")
        at = np.searchsorted(positions.handles, handles, sorter=order).clip(0, len(order) - 1)
        same = positions.handles[order[at]] == handles
        before[same] = positions.places[order[at[same]]]
    return before


ROUNDS: Final = 120
SETTLING_ROUNDS: Final = 40
"""Rounds if a fifth of the nodes or more have a position from before."""
KEPT_SHARE: Final = 0.95
"""If this share of the nodes has a position from before, these nodes do not move."""
SPACING: Final = 24.0
"""The average distance of neighbours in the picture, in pixels at its natural size."""

_GRID = 256
_USED = 120  # cells that the nodes cover; with the rest empty, the transform does not wrap around
_WIDE = 40.0  # cells from the middle; the pull back grows fast from there
_APART = 0.7  # of the average distance: nearer nodes push each other apart
_LATE = 0.6  # the share of the rounds before they do
_SAME_PAIRS = 8  # rounds after which the near nodes are found anew
_CROWD = 16  # most nodes compared in a square of that width; a picture of more is a blot anyway
_STRENGTH = 0.5
_GOLDEN = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True, slots=True)
class Edges:
    """The links: positions of their ends in the list of nodes, and how often each occurs."""

    sources: Ints
    targets: Ints
    weights: Floats


def place_nodes(size: int, edges: Edges, groups: Ints, before: Floats | None = None) -> Floats:
    """Return the position of each node, as an array of shape (size, 2).

    `groups` has the number of each node's group. `before` has positions from before, NaN for a new
    node: a new node begins at the middle of its neighbours, and while few nodes are new, the others
    stay where they are.
    """
    if size == 0:
        return np.zeros((0, 2), np.float32)
    is_known: Flags = np.zeros(size, np.bool_)
    if before is not None:
        is_known[:] = np.isfinite(before).all(axis=1)
    share = float(is_known.mean())
    scale = SPACING * np.sqrt(size) / _USED
    if before is None or share < 0.2:
        places = _Field(size, edges, groups).settle(_start(groups), ROUNDS, warmth=12.0)
        return _centre(places * scale)
    start = _place_new_nodes(before / scale, is_known, edges, groups)
    moving = ~is_known if share >= KEPT_SHARE else np.ones(size, bool)
    if not moving.any():
        return np.where(is_known[:, None], before, 0).astype(np.float32)
    field = _Field(size, edges, groups)
    places = field.settle(start, SETTLING_ROUNDS, warmth=2.0, moving=moving)
    places *= scale
    if share >= KEPT_SHARE:
        places[is_known] = before[is_known]
    return places.astype(np.float32)


class _Field:
    """The forces between the nodes of one graph. Distances are in cells of the grid."""

    def __init__(self, size: int, edges: Edges, groups: Ints) -> None:
        self._size = size
        self._edges = edges
        self._groups = groups
        self._members = np.maximum(np.bincount(groups), 1).astype(np.float32)
        degree = np.bincount(edges.sources, minlength=size) + np.bincount(
            edges.targets, minlength=size
        )
        self._mass = (1 + np.sqrt(degree)).astype(np.float32) / 2
        # A link of two hubs must not pull as much as that of a note with one link.
        ends = np.minimum(degree[edges.sources], degree[edges.targets])
        self._pull = (np.minimum(edges.weights, 4) ** 0.5 / np.maximum(ends, 1) ** 0.5).astype(
            np.float32
        )
        self._kernel = _kernel()
        self._least = _APART * _USED / np.sqrt(size)  # distance
        self._aside = (_directions(size) * 0.1 * self._least).astype(np.float32)
        # The push at which `size` nodes of mass one fill the used part of the grid.
        self._push = _USED * _USED / 64 / max(float(self._mass.sum()), 1.0)

    def settle(
        self, places: Floats, rounds: int, *, warmth: float, moving: Flags | None = None
    ) -> Floats:
        """Return the positions after some rounds, in which the steps become shorter."""
        pairs: tuple[Ints, Ints]
        for number in range(rounds):
            force = self._forces(places)
            late = number - int(rounds * _LATE)
            if late >= 0:
                if late % _SAME_PAIRS == 0:
                    pairs = _near_pairs(places, self._least)
                force += self._near_pushes(places, *pairs)
            length = np.sqrt((force * force).sum(axis=1))
            longest = warmth * (1 - number / rounds) ** 1.5 + 0.02
            step = force * (np.minimum(length, longest) / np.maximum(length, 1e-6))[:, None]
            if moving is not None:
                step[~moving] = 0
            places = _keep_on_grid(places + step)
        return places

    def _forces(self, places: Floats) -> Floats:
        force = self._pushes(places)
        sources, targets = self._edges.sources, self._edges.targets
        if len(sources):
            between = (places[targets] - places[sources]) * self._pull[:, None] * 0.35
            for axis in (0, 1):
                pulled = between[:, axis]
                force[:, axis] += np.bincount(sources, pulled, self._size)
                force[:, axis] -= np.bincount(targets, pulled, self._size)
        for axis in (0, 1):
            middles = np.bincount(self._groups, places[:, axis]) / self._members
            force[:, axis] += (middles[self._groups] - places[:, axis]) * 0.06
        local = places - places.mean(axis=0)
        square = (local * local).sum(axis=1, keepdims=True)
        force -= local * (0.035 * (1 + square / _WIDE**2))
        return force

    def _pushes(self, places: Floats) -> Floats:
        """Return the push of all nodes on each: their masses on the grid, then the transform."""
        middle = (places.min(axis=0) + places.max(axis=0)) / 2
        local = np.clip(places - middle + _GRID / 2, 1, _GRID - 3)
        cell = local.astype(np.int64)
        part = (local - cell).astype(np.float32)
        corners, shares = _corners(cell, part)
        density = np.zeros(_GRID * _GRID, np.float64)
        for corner, share in zip(corners, shares, strict=True):
            density += np.bincount(corner, share * self._mass, _GRID * _GRID)
        spectrum = np.fft.rfft2(density.reshape(_GRID, _GRID))
        force = np.empty((self._size, 2), np.float32)
        for axis in (0, 1):
            field = np.fft.irfft2(spectrum * self._kernel[axis], s=(_GRID, _GRID)).ravel()
            force[:, axis] = sum(
                (field[corner] * share for corner, share in zip(corners, shares, strict=True)),
                np.zeros(self._size),
            )
        return force * self._push

    def _near_pushes(self, places: Floats, ones: Ints, others: Ints) -> Floats:
        """Return the push between nodes that are too near for the grid to tell them apart.

        Without it, nodes with the same neighbours gather on lines of equal force.
        """
        beside = places + self._aside  # two nodes at one place need a direction
        between = beside[ones] - beside[others]
        length = np.maximum(np.sqrt((between * between).sum(axis=1)), 1e-3)
        push = between * (np.maximum(self._least - length, 0) / length * _STRENGTH)[:, None]
        force = np.empty_like(places)
        for axis in (0, 1):
            force[:, axis] = np.bincount(ones, push[:, axis], self._size)
            force[:, axis] -= np.bincount(others, push[:, axis], self._size)
        return force


def _near_pairs(places: Floats, width: float) -> tuple[Ints, Ints]:
    """Return all pairs of nodes nearer than `width`, but for crowds, and some that are farther."""
    cell = ((places - places.min(axis=0)) / width).astype(np.int64) + 1
    columns = int(cell[:, 1].max()) + 2
    number = cell[:, 0] * columns + cell[:, 1]
    order = np.argsort(number, kind="stable")
    squares = number[order]
    rank = np.arange(len(order)) - np.searchsorted(squares, squares)
    order, squares = order[rank < _CROWD], squares[rank < _CROWD]
    ones, others = [], []
    for step in (0, 1, columns - 1, columns, columns + 1):
        first = np.searchsorted(squares, squares + step)
        last = np.searchsorted(squares, squares + step, side="right")
        if step == 0:
            first = np.arange(len(order)) + 1  # each pair once
        counts = last - first
        starts = np.cumsum(counts) - counts
        ones.append(np.repeat(order, counts))
        inside = np.arange(counts.sum()) - np.repeat(starts, counts)
        others.append(order[np.repeat(first, counts) + inside])
    return np.concatenate(ones), np.concatenate(others)


def _corners(cell: Ints, part: Floats) -> tuple[list[Ints], list[Floats]]:
    """Return the four cells around each node, and the share of each."""
    column, row = cell[:, 0], cell[:, 1]
    x, y = part[:, 0], part[:, 1]
    first = column * _GRID + row
    return (
        [first, first + _GRID, first + 1, first + _GRID + 1],
        [(1 - x) * (1 - y), x * (1 - y), (1 - x) * y, x * y],
    )


def _kernel() -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Return the transform of the push of one node: one over the distance, in x and in y."""
    offset = np.fft.fftfreq(_GRID, 1 / _GRID)
    x, y = np.meshgrid(offset, offset, indexing="ij")
    square = x * x + y * y + 0.5
    return np.fft.rfft2(x / square), np.fft.rfft2(y / square)


def _start(groups: Ints) -> Floats:
    """Return where the nodes begin: groups on a spiral, the largest inside, nodes around them."""
    size = len(groups)
    counts = np.bincount(groups)
    order = np.lexsort((np.arange(len(counts)), -counts))
    before = np.zeros(len(counts))
    before[order] = np.cumsum(counts[order]) - counts[order] / 2
    rank = np.empty(len(counts))
    rank[order] = np.arange(len(counts))
    far = np.sqrt(before[groups] / size) * _USED / 2
    turn = rank[groups] * _GOLDEN
    by_group = np.argsort(groups, kind="stable")
    first = np.cumsum(counts) - counts
    inside = np.empty(size)
    inside[by_group] = np.arange(size) - first[groups[by_group]]
    near = np.sqrt((inside + 0.5) / size) * _USED / 2
    own = inside * _GOLDEN
    return np.stack(
        (far * np.cos(turn) + near * np.cos(own), far * np.sin(turn) + near * np.sin(own)), axis=1
    ).astype(np.float32)


def _place_new_nodes(before: Floats, is_known: Flags, edges: Edges, groups: Ints) -> Floats:
    """Return positions in which each new node is at the middle of its neighbours or its group."""
    size = len(groups)
    places = np.where(is_known[:, None], before, 0).astype(np.float32)
    heart = places[is_known].mean(axis=0)
    in_group = np.bincount(groups, is_known.astype(float))
    sums = np.stack([np.bincount(groups, places[:, axis]) for axis in (0, 1)], axis=1)
    middles = np.where(
        in_group[:, None] > 0, sums / np.maximum(in_group, 1)[:, None], heart[None, :]
    )
    # Nodes at one place would stay together, so each begins a little beside.
    aside = _directions(size) * 0.4
    places[~is_known] = (middles[groups] + aside)[~is_known]
    ends = np.concatenate((edges.sources, edges.targets))
    others = np.concatenate((edges.targets, edges.sources))
    usable = is_known[others] & ~is_known[ends]
    counts = np.bincount(ends[usable], minlength=size)
    linked = counts > 0
    for axis in (0, 1):
        total = np.bincount(ends[usable], places[others[usable], axis], size)
        places[linked, axis] = total[linked] / counts[linked] + aside[linked, axis]
    return places


def _directions(size: int) -> NDArray[np.float64]:
    """Return a direction for each node, as different as they can be: of shape (size, 2)."""
    turn = np.arange(size) * _GOLDEN
    return np.stack((np.cos(turn), np.sin(turn)), axis=1)


def _keep_on_grid(places: Floats) -> Floats:
    """Keep the nodes in the part of the grid in which the transform is exact."""
    middle = places.mean(axis=0)
    kept: Floats = (middle + np.clip(places - middle, -_GRID / 4, _GRID / 4)).astype(np.float32)
    return kept


def _centre(places: Floats) -> Floats:
    centred: Floats = (places - places.mean(axis=0)).astype(np.float32)
    return centred


_FARTHEST = 1e6
"""No drawing has a note so far from its middle. Far larger numbers overflow in the layout."""


class Positions(NamedTuple):
    """The positions of one revision: the handle and the place of each note, by path."""

    revision: str
    handles: NDArray[np.int64]
    places: NDArray[np.float32]  # of shape (nodes, 2)


def read_positions(file: Path) -> Positions | None:
    """Return what a file holds, or None if it is missing, damaged or has no usable number."""
    try:
        with np.load(BytesIO(read_optional(file))) as stored:
            positions = Positions(str(stored["revision"]), stored["handles"], stored["places"])
    except (ValueError, KeyError, EOFError, BadZipFile):
        return None
    if not (np.abs(positions.places) < _FARTHEST).all():  # false for NaN too
        return None
    return positions


def write_positions(file: Path, positions: Positions) -> None:
    """Replace the file. Raises OSError."""
    with replacing(file, durable=False) as opened:
        np.savez(opened, **positions._asdict())
