"""Measure vault-agent and compare each figure with the least work that the task needs.

This generates a vault, starts a real server on it, and uses it over HTTP and the command line. Each
task and its floor (the least work) run in turn on the same machine, so the ratios are comparable
between machines. Prints a Markdown table.

    python -m benchmarks run                      10,000 notes, a few minutes
    python -m benchmarks run --quick              1,000 notes, less precise
    python -m benchmarks run --sizes 1000 10000 100000
    python -m benchmarks run --vault FOLDER       only a full index of a real vault

Other load slows the parallel indexer more than its floor: the ratios look worse than they are.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.figures import latency, machine, megabytes, percentile, say, seconds, table
from benchmarks.server import (
    FINAL,
    PROGRAM,
    SEED,
    SETTLE_SECONDS,
    Server,
    disk_bytes,
    isolated,
    watch,
)
from benchmarks.vault import Vault, queries

FLOOR = Path(__file__).with_name("floor.py")
PAGE = Path(__file__).with_name("RESULTS.md")
FIGURES = "<!-- figures: written by `make bench ARGS=--write` -->"
END = "<!-- end of figures -->"


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    name: str
    measured: str
    against: str = ""
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        met = "" if self.met is None else ("yes" if self.met else "**no**")
        return self.name, self.measured, self.against, ratio, self.goal, met


HEAD = ("what", "measured", "against", "ratio", "goal", "met")


class Cost(NamedTuple):
    """The cost of a task in seconds: wall time, and the processor time of all its processes."""

    wall: float
    cpu: float

    @classmethod
    def middle(cls, costs: list[Cost]) -> Cost:
        """Return the medians of several measurements."""
        return cls(*(statistics.median(values) for values in zip(*costs, strict=True)))


def floor(*arguments: str | Path) -> Cost:
    """Run one floor in a separate process."""
    command = [sys.executable, str(FLOOR), *map(str, arguments)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Cost(*map(float, printed.split()))


class Measured:
    """A vault and its server. Each measurement appends rows."""

    def __init__(self, root: Path, home: Path, repeats: int) -> None:
        self.root, self.home, self.repeats = root, home, repeats
        self.home.mkdir()
        self.rows: list[Row] = []
        self.paths = sorted(root.rglob("*.md"))
        self.size = sum(path.stat().st_size for path in self.paths)
        # Read every file once, so that both sides use a warm disk cache.
        floor("walk", self.root)
        floor("fts", self.root, self.home / "floor.db")
        self.full = self.unchanged = 0.0

    def measure(self, searched: list[str], *, all_of_it: bool) -> None:
        """Take all measurements, or only those that show the growth with the number of notes."""
        with Server(self.root, self.home) as server:
            say("first index")
            server.settle()
            self.measure_full(server)
            self.measure_unchanged(server)
            if all_of_it:
                self.measure_change(server)
                self.measure_size(server)
                self.measure_memory_idle(server)
            idle = self.measure_search(server, searched)
            if all_of_it:
                self.measure_search_during_reindex(server, searched, idle)
                self.measure_memory(server)
                self.measure_commands(server, searched[0])
        if all_of_it:
            self.measure_restart(searched[0])

    def measure_full(self, server: Server) -> None:
        """Compare a full index with reading every file into one FTS5 table.

        The processor time is that of the server, the indexing process and its workers.
        """
        say("full index and its floor")
        indexed, least = [], []
        for _ in range(self.repeats):
            least.append(floor("fts", self.root, self.home / "floor.db"))
            time.sleep(SETTLE_SECONDS)
            indexed.append(Cost(*server.cost("reindex")))
        full, fts = Cost.middle(indexed), Cost.middle(least)
        self.full = full.wall
        wall_ratio, cpu_ratio = full.wall / fts.wall, full.cpu / fts.cpu
        self.rows += [
            Row("Full index", seconds(full.wall), f"one FTS5 table: {seconds(fts.wall)}",
                wall_ratio, "≤ 3 ×", wall_ratio <= 3),
            Row("Full index, CPU of all processes", seconds(full.cpu),
                f"one FTS5 table: {seconds(fts.cpu)}", cpu_ratio),
        ]  # fmt: skip

    def measure_unchanged(self, server: Server) -> None:
        """Compare an index run without changes with a walk that calls stat."""
        say("unchanged index and a bare walk")
        unchanged, bare = [], []
        for _ in range(2 * self.repeats + 1):
            bare.append(floor("walk", self.root).wall)
            time.sleep(SETTLE_SECONDS)
            unchanged.append(server.run("index"))
        self.unchanged, least = statistics.median(unchanged), statistics.median(bare)
        ratio = self.unchanged / least
        self.rows.append(
            Row("Unchanged `index`", seconds(self.unchanged), f"walk with stat: {seconds(least)}",
                ratio, "≤ 4 ×, < 1 s", ratio <= 4 and self.unchanged < 1)
        )  # fmt: skip

    def measure_change(self, server: Server) -> None:
        """Time an index run with one changed note."""
        say("one changed note")
        chance = random.Random(SEED)
        times = []
        for turn in range(2 * self.repeats + 1):
            with chance.choice(self.paths).open("a", encoding="utf-8") as note:
                note.write(f"\nOne more line, the {turn}th.\n")
            time.sleep(SETTLE_SECONDS)
            times.append(server.run("index"))
        middle = statistics.median(times)
        self.rows.append(
            Row("One changed note", seconds(middle), goal="< 500 ms", met=middle < 0.5)
        )

    def measure_size(self, server: Server) -> None:
        """Compare the size of a new index with the size of the vault."""
        server.run("reindex")
        time.sleep(SETTLE_SECONDS)
        size = disk_bytes(server.index_dir)
        ratio = size / self.size
        self.rows.append(
            Row("Index on disk", megabytes(size), f"the vault: {megabytes(self.size)}", ratio,
                "≤ 2.5 ×", ratio <= 2.5)
        )  # fmt: skip

    def measure_memory_idle(self, server: Server) -> None:
        """Measure the memory of the server with an open index, before the first search."""
        peak = watch(server.process.pid, lambda: time.sleep(0.5))
        self.rows += [
            Row("Server, idle", peak.server()),
            Row("Indexing process, idle", peak.below()),
        ]

    def measure_search(self, server: Server, searched: list[str]) -> list[float]:
        """Time searches over HTTP on an idle server."""
        say("search, idle")
        time.sleep(SETTLE_SECONDS)
        for query in searched[:50]:
            server.search(query)
        times = [server.search(query) for query in searched]
        self.rows.append(
            Row(f"Search, idle ({len(times)} queries)", latency(times),
                goal="p50 ≤ 15 ms, p99 ≤ 60 ms",
                met=percentile(times, 0.5) <= 0.015 and percentile(times, 0.99) <= 0.06)
        )  # fmt: skip
        return times

    def measure_search_during_reindex(
        self, server: Server, searched: list[str], idle: list[float]
    ) -> None:
        """Time searches during reindex jobs."""
        say("search during reindex")
        times: list[float] = []
        while len(times) < len(searched):
            job = server.submit("reindex")
            for turn, query in enumerate(searched * 1000):
                # Checking the job is rare and not timed.
                if turn % 10 == 9 and server.job(job)["state"] in FINAL:
                    break
                times.append(server.search(query))
            server.finish(job)
        ratio = percentile(times, 0.99) / percentile(idle, 0.99)
        self.rows.append(
            Row(f"Search, during reindex ({len(times)} queries)", latency(times),
                f"idle p99: {seconds(percentile(idle, 0.99))}", ratio, "p99 ≤ 3 ×", ratio <= 3)
        )  # fmt: skip

    def measure_memory(self, server: Server) -> None:
        """Measure the memory of the server and the indexing processes during a reindex."""
        say("memory during reindex")
        time.sleep(SETTLE_SECONDS)
        peak = watch(server.process.pid, lambda: server.run("reindex"))
        self.rows += [
            Row("Server, after searching and during reindex", peak.server(),
                goal="< 200 MB", met=peak.server_rss < 200e6),
            Row("Indexer and its workers, peak", peak.below()),
        ]  # fmt: skip

    def measure_commands(self, server: Server, query: str) -> None:
        """Compare the start of two commands with bare imports, in turn."""
        say("command line")
        pairs = [
            ("`vault-agent --version`", [PROGRAM, "--version"], "asyncclick", 1.5),
            ("`vault-agent search`", [PROGRAM, "search", query],
             "asyncio, asyncclick, orjson", 1.3),
        ]  # fmt: skip
        for name, command, modules, goal in pairs:
            bare = [sys.executable, "-c", f"import {modules}"]
            ours, theirs = [], []
            for _ in range(5 * self.repeats + 1):
                theirs.append(time_command(bare, server.environment))
                ours.append(time_command(command, server.environment))
            # The first run of each compiles bytecode.
            mine, least = statistics.median(ours[1:]), statistics.median(theirs[1:])
            ratio = mine / least
            self.rows.append(
                Row(name, seconds(mine), f"`import {modules}`: {seconds(least)}", ratio,
                    f"≤ {goal} ×", ratio <= goal)
            )  # fmt: skip

    def measure_restart(self, query: str) -> None:
        """Time a server's start on an existing index until its first answer."""
        say("restart")
        started = time.perf_counter()
        with Server(self.root, self.home) as server:
            server.search(query)
            spent = time.perf_counter() - started
        self.rows.append(Row("Start to first answer", seconds(spent), goal="< 2 s", met=spent < 2))


def time_command(command: list[str], environment: dict[str, str]) -> float:
    """Run a command; return its seconds."""
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started


def growth(measured: list[Measured]) -> list[Row]:
    """Return how the work per note grows from each vault size to the next."""
    rows = []
    for small, large in pairwise(measured):
        sizes = f"{len(small.paths):,} to {len(large.paths):,} notes"
        times = len(large.paths) / len(small.paths)
        for work, before, after in (
            ("full index", small.full, large.full),
            ("unchanged `index`", small.unchanged, large.unchanged),
        ):
            ratio = after / before / times
            rows.append(
                Row(f"Growth of {work}, {sizes}", seconds(after),
                    f"{times:.0f} × {seconds(before)}", ratio, "about 1, or less", ratio <= 1.3)
            )  # fmt: skip
    return rows


def measure_sizes(work: Path, sizes: list[int], main_size: int, *, quick: bool) -> str:
    """Measure a vault of each size. Return the table of the main size, with the growth."""
    measured = []
    for size in sizes:
        say(f"writing {size:,} notes")
        plan = Vault(size, SEED)
        plan.write(work / f"vault-{size}")
        vault = Measured(work / f"vault-{size}", work / f"home-{size}", 1 if quick else 3)
        searched = queries(plan.vocabulary, 200 if quick else 1_000)
        vault.measure(searched, all_of_it=size == main_size)
        measured.append(vault)
    vault = measured[sizes.index(main_size)]
    rows = [row.cells() for row in (*vault.rows, *growth(measured))]
    size = megabytes(vault.size)
    head = f"A synthetic vault of {main_size:,} notes, {size}, seed {SEED}."
    return f"{head}\n\n{table(HEAD, *rows)}\n"


def measure_folder(work: Path, root: Path) -> str:
    """Return the table of a full index of a folder."""
    vault = Measured(root, work / "home", 3)
    with Server(root, vault.home) as server:
        server.settle()
        vault.measure_full(server)
    head = f"{len(vault.paths):,} notes, {megabytes(vault.size)}."
    return f"{head}\n\n{table(HEAD, *(row.cells() for row in vault.rows))}\n"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=10_000, help="number of notes")
    parser.add_argument("--sizes", type=int, nargs="+", help="vault sizes, to measure growth")
    parser.add_argument("--quick", action="store_true", help="1,000 notes, fewer repeats")
    parser.add_argument("--vault", type=Path, help="a folder of notes: only its full index")
    parser.add_argument("--work", type=Path, help="folder for temporary vaults and indexes")
    parser.add_argument("--write", action="store_true", help="write the table into RESULTS.md")
    options = parser.parse_args()
    notes = 1_000 if options.quick else options.notes
    sizes = sorted({*(options.sizes or [max(100, notes // 10)]), notes})
    head = machine()
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        work = Path(folder)
        # Compile the bytecode, as after a user's first run.
        time_command([PROGRAM, "--version"], isolated(work))
        if options.vault:
            print(f"{head}\n{measure_folder(work, options.vault)}")
            return
        figures = f"{head}\n{measure_sizes(work, sizes, notes, quick=options.quick)}"
    print(figures)
    if options.write:
        page = PAGE.read_text("utf-8")
        before, start, rest = page.partition(FIGURES)
        _, end, tail = rest.partition(END)
        PAGE.write_text(f"{before}{start}\n\n{figures}\n{end}{tail}", "utf-8")


if __name__ == "__main__":
    main()
