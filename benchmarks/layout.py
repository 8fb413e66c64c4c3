"""How well the drawing of the graph shows the links, against other layouts.

    python -m benchmarks layout FOLDER…

The other layouts are sfdp, if `sfdp` of Graphviz is on the PATH, and ForceAtlas2, if the package
`fa2_modified` is installed. Each picture is brought to the same size, then measured:

neighbours  how alike the notes linked with a note and as many nearest ones in the picture are
            (Jaccard), on average over the notes with links
crossings   the share of pairs of links that cross, of pairs drawn by chance
overlap     the share of notes whose sign lies over another one
length      the average length of a link, against the distance of two notes drawn by chance
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.server import Server
from vault_agent.indexing.lay_out import SPACING, Edges, lay_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Places = NDArray[np.float32]

SEED = 1
PAIRS = 2_000_000
"""Pairs of links that are looked at for crossings."""
ROWS = 512
"""Notes whose distances to all others are computed at once."""
MOST_LINKS = 50
"""Of a note, as neighbours: the nearest thousand of a hub say nothing."""
ROUNDS = 300
"""Of ForceAtlas2."""


class Graph(NamedTuple):
    """The notes as numbers, the links between two of them, and the folder of each note."""

    size: int
    pairs: NDArray[np.int64]  # of shape (links, 2), each pair once
    weights: NDArray[np.float32]
    folders: NDArray[np.int64]


def read_graph(server: Server) -> Graph:
    """Return the graph that the page draws."""
    running = server.running_job()
    if running:
        server.finish(running)
    data = server.call("GET", "/graph")
    ends = np.sort(np.array(data["edges"], np.int64).reshape(-1, 2), axis=1)
    ends, at = np.unique(ends, axis=0, return_inverse=True)
    weights = np.bincount(at.ravel(), np.array(data["weights"], float), len(ends))
    apart = ends[:, 0] != ends[:, 1]
    folders = np.array(data["nodes"]["folder"], np.int64)
    return Graph(len(folders), ends[apart], weights[apart].astype(np.float32), folders)


# --- layouts ------------------------------------------------------------------------------------


def ours(graph: Graph) -> Places:
    """Return the positions of the product."""
    edges = Edges(graph.pairs[:, 0], graph.pairs[:, 1], graph.weights)
    return lay_out(graph.size, edges, graph.folders)


def sfdp(graph: Graph) -> Places:
    """Return the positions of Graphviz's program for large graphs."""
    nodes = "".join(f"{node};\n" for node in range(graph.size))
    links = "".join(f"{one}--{other};\n" for one, other in graph.pairs.tolist())
    done = subprocess.run(
        ["sfdp", "-Tplain"],
        input=f"graph {{\n{nodes}{links}}}\n",
        capture_output=True,
        text=True,
        check=True,
    )
    places = np.zeros((graph.size, 2), np.float32)
    for line in done.stdout.splitlines():
        if line.startswith("node "):
            _, name, x, y, *_ = line.split(" ")
            places[int(name)] = float(x), float(y)
    return places


def force_atlas_2(graph: Graph) -> Places:
    """Return the positions of ForceAtlas2, which Obsidian's forces are like."""
    from fa2_modified import ForceAtlas2
    from scipy.sparse import coo_matrix

    rows, columns = graph.pairs.T
    ones = np.ones(2 * len(graph.pairs))
    ends = (np.concatenate((rows, columns)), np.concatenate((columns, rows)))
    matrix = coo_matrix((ones, ends), (graph.size, graph.size)).tolil()
    start = np.random.default_rng(SEED).random((graph.size, 2)) * 1_000
    found = ForceAtlas2(verbose=False).forceatlas2(matrix, start, iterations=ROUNDS)
    return np.array(found, np.float32)


# --- measures -----------------------------------------------------------------------------------


def at_one_size(places: Places) -> Places:
    """Return a picture moved and scaled to the product's natural size."""
    places = places - places.mean(axis=0)
    spread = np.sqrt((places * places).sum(axis=1).mean())
    wanted = SPACING * np.sqrt(len(places) / np.pi / 2)  # of a disc with the usual spacing
    return (places * (wanted / max(float(spread), 1e-9))).astype(np.float32)


def neighbours(graph: Graph, places: Places) -> float:
    """Return how alike the nearest notes and the linked ones are, from 0 to 1."""
    linked: list[set[int]] = [set() for _ in range(graph.size)]
    for one, other in graph.pairs.tolist():
        linked[one].add(other)
        linked[other].add(one)
    alike = []
    for first in range(0, graph.size, ROWS):
        rows = range(first, min(first + ROWS, graph.size))
        between = places[rows.start : rows.stop, None] - places[None]
        far = (between * between).sum(axis=2)
        far[np.arange(len(rows)), list(rows)] = np.inf
        nearest = np.argpartition(far, min(MOST_LINKS, graph.size - 1), axis=1)[:, :MOST_LINKS]
        order = np.take_along_axis(far, nearest, axis=1).argsort(axis=1)
        nearest = np.take_along_axis(nearest, order, axis=1)
        for row, node in enumerate(rows):
            if count := min(len(linked[node]), MOST_LINKS):
                beside = set(nearest[row, :count].tolist())
                alike.append(len(beside & linked[node]) / len(beside | linked[node]))
    return float(np.mean(alike))


def crossings(graph: Graph, places: Places) -> float:
    """Return the share of pairs of links without a common note that cross."""
    chosen = np.random.default_rng(SEED).integers(0, len(graph.pairs), (2, PAIRS))
    one, other = graph.pairs[chosen[0]], graph.pairs[chosen[1]]
    apart = (one[:, :, None] != other[:, None, :]).all(axis=(1, 2))
    one, other = one[apart], other[apart]
    a, b, c, d = (places[ends] for ends in (one[:, 0], one[:, 1], other[:, 0], other[:, 1]))
    crossed = (_side(a, b, c) != _side(a, b, d)) & (_side(c, d, a) != _side(c, d, b))
    return float(crossed.mean())


def _side(start: Places, end: Places, point: Places) -> NDArray[np.bool_]:
    along, to = end - start, point - start
    return along[:, 0] * to[:, 1] > along[:, 1] * to[:, 0]


def overlap(graph: Graph, places: Places) -> float:
    """Return the share of notes whose sign lies over another one, with the page's sizes."""
    degree = np.bincount(graph.pairs.ravel(), minlength=graph.size)
    radius = np.clip(1.9 + 1.5 * np.sqrt(degree), 2, 14).astype(np.float32)
    over = 0
    for first in range(0, graph.size, ROWS):
        rows = np.arange(first, min(first + ROWS, graph.size))
        between = places[rows, None] - places[None]
        near = (between * between).sum(axis=2) < (radius[rows, None] + radius[None]) ** 2
        near[np.arange(len(rows)), rows] = False
        over += int(near.any(axis=1).sum())
    return over / graph.size


def length(graph: Graph, places: Places) -> float:
    """Return the average length of a link, against two notes drawn by chance."""
    drawn = np.random.default_rng(SEED).integers(0, graph.size, (2, 100_000))
    by_chance = np.linalg.norm(places[drawn[0]] - places[drawn[1]], axis=1).mean()
    links = np.linalg.norm(places[graph.pairs[:, 0]] - places[graph.pairs[:, 1]], axis=1)
    return float(links.mean() / by_chance)


def main() -> None:
    """Parse the command line and measure each vault."""
    parser = argparse.ArgumentParser(prog="benchmarks.layout", description=__doc__)
    parser.add_argument("vaults", type=Path, nargs="+", metavar="FOLDER")
    layouts: dict[str, Callable[[Graph], Places]] = {"ours": ours}
    if shutil.which("sfdp"):
        layouts["sfdp"] = sfdp
    if find_spec("fa2_modified"):
        layouts["ForceAtlas2"] = force_atlas_2
    for vault in parser.parse_args().vaults:
        with tempfile.TemporaryDirectory() as folder, Server(vault, Path(folder)) as server:
            graph = read_graph(server)
        print(f"\n{vault.name}: {graph.size:,} notes, {len(graph.pairs):,} linked pairs\n")
        print(
            "| | neighbours | crossings | overlap | length | CPU |\n|---|---:|---:|---:|---:|---:|"
        )
        for name, lay in layouts.items():
            before = cpu_time()
            raw = lay(graph)
            taken = cpu_time() - before
            places = at_one_size(raw)
            measured = [each(graph, places) for each in (neighbours, crossings, overlap, length)]
            print(f"| {name} |", *(f"{each:.3f} |" for each in measured), f"{taken:.1f} s |")


def cpu_time() -> float:
    """Return the processor time of this process and of its children that have ended."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


if __name__ == "__main__":
    main()
