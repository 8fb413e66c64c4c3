"""Measure a run of one path against a whole run, in turns, in one process with a kept worker.

A whole run is what a job does: a new worker, a walk, all rows. A run of a path has its worker
warm. Both index one changed note. Prints a Markdown table; only the ratios mean anything on a busy
machine.

    python benchmarks/paths.py                        10,000 notes
    python benchmarks/paths.py --sizes 10000 38000    and how the cost grows
    python benchmarks/paths.py --profile              where the time of a run of a path goes
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import random
import statistics
import tempfile
import time
from pathlib import Path

from vault import Vault
from vault_agent.indexing.index import index
from vault_agent.indexing.parse import FileTask, ParsedFile, parser
from vault_agent.indexing.task import IndexTask, fingerprint_of
from vault_agent.model.identifiers import identify
from vault_agent.system.workers import WorkerPool
from vault_agent.vault.exclude import Exclusions

MAX_NOTE_BYTES = 1 << 20
SECONDS_PER_BATCH = 60.0
Pool = WorkerPool[list[FileTask], list[ParsedFile]]


class Silent:
    """A report that nobody reads; it notes when the last revision was published."""

    published_at = 0.0

    def phase(self, name: str, done: int, total: int | None, characters: int = 0) -> None:
        """Take no notice."""

    def warn(self, warning: object) -> None:
        """Take no notice."""

    def published(self, run: object = None) -> None:  # noqa: ARG002
        """Note the time."""
        self.published_at = time.perf_counter()


def task_of(root: Path, directory: Path, *paths: str) -> IndexTask:
    """Return the task of a run; without paths, of everything."""
    return IndexTask(
        root=str(root),
        directory=str(directory),
        vault=identify(str(root.resolve())),
        exclude=(),
        max_note_bytes=MAX_NOTE_BYTES,
        fingerprint=fingerprint_of(Exclusions(()), MAX_NOTE_BYTES),
        rebuild=False,
        parallel=2,
        paths=paths or None,
    )


def pool_of(root: Path) -> Pool:
    """Return a pool of parse workers, started when first needed."""
    return WorkerPool(parser, (str(root), (), MAX_NOTE_BYTES), size=2)


async def seconds_of(task: IndexTask, pool: Pool) -> tuple[float, float]:
    """Return how long a run took, and how long until its revision was published."""

    async def parse(batch: list[FileTask]) -> list[ParsedFile]:
        return await pool.run(batch, cpu_seconds=SECONDS_PER_BATCH)

    report = Silent()
    started = time.perf_counter()
    await index(task, parse, report)
    return time.perf_counter() - started, report.published_at - started


def change(root: Path, path: str, number: int) -> None:
    """Add a line with a word of its own, and a link, to a note."""
    with (root / path).open("a", encoding="utf-8") as file:
        file.write(f"\nzq{number}word and [[a link {number}]]\n")


async def measure(notes: int, turns: int, *, profile: bool) -> dict[str, list[float]]:
    """Index a vault, then change a note in turns and run over everything or its path."""
    figures: dict[str, list[float]] = {
        name: [] for name in ("full", "whole", "unchanged", "path", "published")
    }
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        root, directory = Path(folder) / "vault", Path(folder) / "index"
        plan = Vault(notes)
        plan.write(root)
        async with pool_of(root) as pool:
            figures["full"].append((await seconds_of(task_of(root, directory), pool))[0])
            await seconds_of(task_of(root, directory), pool)
            profiler = cProfile.Profile()
            for turn in range(turns):
                path = plan.path(chance.randrange(notes))
                change(root, path, turn)
                whole = task_of(root, directory)
                started = time.perf_counter()
                async with pool_of(root) as cold:
                    await seconds_of(whole, cold)
                figures["whole"].append(time.perf_counter() - started)
                figures["unchanged"].append((await seconds_of(whole, pool))[0])
                for again in range(3):
                    change(root, path, turn * 100 + again)
                    if profile:
                        profiler.enable()
                    total, published = await seconds_of(task_of(root, directory, path), pool)
                    profiler.disable()
                    figures["path"].append(total)
                    figures["published"].append(published)
            if profile:
                pstats.Stats(profiler).sort_stats("cumulative").print_stats(45)
    return figures


def main() -> None:
    """Measure from the command line."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--sizes", type=int, nargs="+", default=[10_000])
    arguments.add_argument("--turns", type=int, default=8)
    arguments.add_argument("--profile", action="store_true")
    given = arguments.parse_args()
    print("| notes | first index | whole, one changed | unchanged | one path p50 (max) |", end="")
    print(" published p50 | path / whole | path / that of the first size |")
    print("|---|---|---|---|---|---|---|---|")
    smallest = 0.0
    for size in given.sizes:
        figures = asyncio.run(measure(size, given.turns, profile=given.profile))
        full, whole, unchanged, path, published = map(statistics.median, figures.values())
        smallest = smallest or path
        print(
            f"| {size:,} | {full:.1f} s | {whole * 1e3:.0f} ms | {unchanged * 1e3:.0f} ms "
            f"| {path * 1e3:.0f} ms ({max(figures['path']) * 1e3:.0f}) | {published * 1e3:.0f} ms "
            f"| {path / whole:.2f} | {path / smallest:.2f} |"
        )


if __name__ == "__main__":
    main()
