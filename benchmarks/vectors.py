"""Latency, memory and recall of the nearest-vector search.

    python benchmarks/vectors.py                       # synthetic, 10k to 1M, 384 and 768 wide
    python benchmarks/vectors.py --real VECTORS.npy --queries QUERIES.npy     # recall

Synthetic vectors are clustered and measure only the time. Recall needs real vectors: each file is a
float32 array with one unit vector a row.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from vault_agent.model.vectors import VectorSpace
from vault_agent.ranking.cosine import Scan, nearest
from vault_agent.store.vectors.cache import open_vectors
from vault_agent.store.vectors.matrix import open_matrix

BATCH = 20_000


def clustered(count: int, dimension: int):
    """Yield batches of clustered unit vectors."""
    generator = np.random.default_rng(5)
    centres = generator.standard_normal((1 + count // 100, dimension), dtype=np.float32)
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        vectors = centres[generator.integers(0, len(centres), size)]
        vectors += generator.standard_normal((size, dimension), dtype=np.float32)
        yield vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


async def build(batches, count: int, dimension: int, folder: Path) -> dict[str, float]:
    """Store and publish the vectors; return the seconds of each step."""
    space = VectorSpace("m", dimension, "", "", np.eye(1, dimension, dtype="<f4").tobytes())
    keys = [i.to_bytes(16) for i in range(count)]
    chunks = np.arange(count, dtype=np.int64) << 20
    taken = {}
    async with open_vectors(folder / "vectors.db") as store:
        await store.use(space)
        started = time.perf_counter()
        plan = await store.plan(chunks, keys)
        taken["plan"] = time.perf_counter() - started
        done = saving = 0
        for vectors in batches:
            part = keys[done : done + len(vectors)]
            started = time.perf_counter()
            plan.fill(part, await store.save(part, vectors))
            saving += time.perf_counter() - started
            done += len(part)
        taken["save"] = saving
        started = time.perf_counter()
        await store.publish(plan, folder / "vectors.map")
        taken["publish"] = time.perf_counter() - started
        started = time.perf_counter()
        await store.publish(plan, folder / "vectors.map")
        taken["again"] = time.perf_counter() - started
    return taken


def private_memory() -> float:
    """Return this process's private resident memory in MB, without mapped files."""
    with Path("/proc/self/smaps_rollup").open() as file:
        found = dict(line.split(":") for line in file if ":" in line and "-" not in line.split()[0])
    return int(found["Anonymous"].split()[0]) / 1024


def search(folder: Path, queries: np.ndarray, count: int) -> None:
    """Print the time to open and to search, and the memory used."""
    before = private_memory()
    started = time.perf_counter()
    matrix = open_matrix(folder / "vectors.map", folder / "vectors")
    opened = time.perf_counter() - started
    scan = Scan(matrix.vectors, matrix.planes, matrix.alive)
    nearest(scan, queries[0], matrix.signs(queries[0]), count)
    held = private_memory() - before
    taken = []
    for query in queries:
        started = time.perf_counter()
        found = nearest(scan, query, matrix.signs(query), count)
        matrix.chunks_of(found.rows, found.cosines)
        taken.append((time.perf_counter() - started) * 1e3)
    taken.sort()
    print(
        f"open {opened * 1e3:.0f} ms, top {count}: p50 {taken[len(taken) // 2]:.1f} ms,"
        f" p99 {taken[int(len(taken) * 0.99)]:.1f} ms, private {held:.0f} MB,"
        f" scan structure {matrix.planes.nbytes / 1e6:.0f} MB,"
        f" peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB",
        flush=True,
    )


def recall(folder: Path, queries: np.ndarray) -> None:
    """Print the recall for several numbers of rescored vectors."""
    matrix = open_matrix(folder / "vectors.map", folder / "vectors")
    scan = Scan(matrix.vectors, matrix.planes, matrix.alive)
    vectors = np.array(matrix.vectors)
    for rescored in (500, 1_000, 2_000, None):
        shared = {10: 0, 50: 0}
        for query in queries:
            best = np.argsort(-(vectors @ query), kind="stable")
            for count in shared:
                found = nearest(scan, query, matrix.signs(query), count, rescored=rescored)
                shared[count] += len(set(found.rows.tolist()) & set(best[:count].tolist()))
        figures = ", ".join(
            f"recall@{count} {hits / count / len(queries):.4f}" for count, hits in shared.items()
        )
        print(f"rescored {rescored or 'as shipped'}: {figures}")


def main() -> None:
    """Parse the command line and measure each size in a separate process, for its memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--dimensions", type=int, nargs="*", default=[384, 768])
    parser.add_argument("--real", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--folder", type=Path, help="folder for temporary files")
    parser.add_argument("--search", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.search:
        for count in (50, 1_000):
            search(arguments.search, np.load(arguments.search / "queries.npy"), count)
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        if arguments.real:
            vectors, queries = np.load(arguments.real), np.load(arguments.queries)
            folder = Path(name)
            asyncio.run(build([vectors], *vectors.shape, folder))
            print(f"{len(vectors)} real vectors of {vectors.shape[1]}, {len(queries)} queries")
            recall(folder, queries)
            return
        for count in arguments.counts:
            for dimension in arguments.dimensions:
                folder = Path(name) / f"{count}x{dimension}"
                folder.mkdir()
                taken = asyncio.run(build(clustered(count, dimension), count, dimension, folder))
                steps = ", ".join(f"{step} {value:.2f} s" for step, value in taken.items())
                print(f"{count} x {dimension}: {steps}", flush=True)
                queries = next(iter(clustered(count, dimension)))[:200] + np.float32(0.01)
                queries /= np.linalg.norm(queries, axis=1, keepdims=True)
                np.save(folder / "queries.npy", queries)
                subprocess.run([sys.executable, __file__, "--search", folder], check=True)
                for file in (folder / "vectors").iterdir():
                    file.unlink()


if __name__ == "__main__":
    main()
