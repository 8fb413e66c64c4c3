"""Computes positions for a drawing of the graph. The keeper does, because it takes seconds of CPU.

They are kept in one file of the index's folder, and not in that of the generation: after a rebuild
the picture stays as it is known. The file is disposable.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vault_agent.indexing.cluster import read_graph
from vault_agent.indexing.positions import Edges, lay_out
from vault_agent.indexing.protocol import LaidOut
from vault_agent.model.adjacency import Adjacency
from vault_agent.model.graph import MAX_NODES
from vault_agent.store.index.rows import handle_of
from vault_agent.store.layout import IndexDirectory
from vault_agent.store.positions import Positions, read_positions, write_positions
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from vault_agent.indexing.task import IndexTask


def compute_layout(task: IndexTask) -> LaidOut:
    """Compute and write the positions of the current revision.

    Raises:
        IndexUnavailable: `INDEX_NOT_FOUND`, `INDEX_INCOMPATIBLE`.
        OSError: if the file cannot be written.
    """
    graph = read_graph(task)
    links = Adjacency.of([rowid for rowid, _ in graph.order], *graph.links)
    shown = best_connected(links)
    paths = [graph.order[position][1] for position in shown]
    handles = np.array([handle_of(path) for path in paths], np.int64)
    file = IndexDirectory(Path(task.directory)).positions
    known = read_positions(file)
    places = lay_out(
        len(shown),
        _edges(links, shown),
        _folders(paths),
        None if known is None else _known(known, handles),
    )
    revision = f"{graph.meta.generation}.{graph.meta.revision}"
    write_positions(file, Positions(revision, handles, places))
    return LaidOut(graph.meta.generation, graph.meta.revision)


def best_connected(links: Adjacency) -> list[int]:
    """Return the notes that the whole graph has: at most 50,000, as `GET /graph` chooses them."""
    if links.size <= MAX_NODES:
        return list(range(links.size))
    order = sorted(range(links.size), key=lambda position: (-links.degree(position), position))
    return sorted(order[:MAX_NODES])


def _edges(links: Adjacency, shown: list[int]) -> Edges:
    pairs = np.array(links.pairs(), np.int64).reshape(-1, 2)
    weights = np.array(links.weights, np.float32)
    places = np.full(max(links.size, 1), -1, np.int64)
    places[shown] = np.arange(len(shown))
    ends = places[pairs]
    kept = (ends >= 0).all(axis=1)
    return Edges(ends[kept, 0], ends[kept, 1], weights[kept])


def _folders(paths: list[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the number of each note's folder."""
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(fold(path.rpartition("/")[0]), len(numbers)) for path in paths]
    return np.array(found, np.int64)


def _known(
    positions: Positions, handles: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return the positions from before of these notes, NaN for new ones."""
    found = np.full((len(handles), 2), np.nan, np.float32)
    if len(positions.handles) and len(handles):
        order = np.argsort(positions.handles, kind="stable")
        at = np.searchsorted(positions.handles, handles, sorter=order).clip(0, len(order) - 1)
        same = positions.handles[order[at]] == handles
        found[same] = positions.places[order[at[same]]]
    return found
