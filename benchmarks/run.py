"""Measure vault-agent and compare each figure with the least work that the task needs.

This generates a vault, starts a real server on it, and uses it over HTTP and the command line. Each
task and its floor (the least work) run in turn on the same machine, so the ratios are comparable
between machines. Prints a Markdown table.

    python -m benchmarks run                      10,000 notes, a few minutes
    python -m benchmarks run --quick              1,000 notes, less precise
    python -m benchmarks run --sizes 1000 10000 100000
    python -m benchmarks run --indexing           a full index of each shape of `shapes.py`
    python -m benchmarks run --indexing --vault FOLDER

It uses two cores, unless `--cores` says otherwise (Linux).
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.server import FINAL, PROGRAM, Server, cpu_of, disk_bytes, isolated, watch
from benchmarks.shapes import SHAPES, ShapedVault
from benchmarks.vault import Vault, queries

FLOOR = Path(__file__).with_name("floor.py")
PAGE = Path(__file__).with_name("RESULTS.md")
FIGURES = "<!-- figures: written by `make bench ARGS=--write` -->"
END = "<!-- end of figures -->"
SEED = 1
# A pause between measurements. After a job, a standby process is still starting and the old
# generation is still being removed. Users do not index again within the same second.
SETTLE_SECONDS = 1.5


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    what: str
    measured: str
    against: str = ""
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None

    def cells(self) -> str:
        """Return the row as Markdown."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        met = "" if self.met is None else ("yes" if self.met else "**no**")
        return f"| {self.what} | {self.measured} | {self.against} | {ratio} | {self.goal} | {met} |"


def say(text: str) -> None:
    """Print a progress message."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def seconds(value: float) -> str:
    """Return a duration with three significant digits."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"


def megabytes(value: float) -> str:
    """Return a size in MB."""
    return f"{value / 1e6:.1f} MB"


def percentile(values: list[float], share: float) -> float:
    """Return the percentile of the values at `share`, 0 to 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Taken(NamedTuple):
    """What a task took, in seconds: wall time, and the processor time of all its processes."""

    wall: float
    cpu: float

    @classmethod
    def middle(cls, taken: list[Taken]) -> Taken:
        """Return the medians of several measurements."""
        return cls(*(statistics.median(values) for values in zip(*taken, strict=True)))


def floor(*arguments: str | Path) -> Taken:
    """Run one floor in a separate process."""
    command = [sys.executable, str(FLOOR), *map(str, arguments)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Taken(*map(float, printed.split()))


def full_index(server: Server, vault: Path, database: Path, repeats: int) -> tuple[Taken, Taken]:
    """Return a full index and its floor, measured in turns.

    The processor time is that of the server, the indexing process and its workers.
    """
    full, least = [], []
    for _ in range(repeats):
        least.append(floor("fts", vault, database))
        time.sleep(SETTLE_SECONDS)
        wall: list[float] = []
        cpu = cpu_of(server.process.pid, lambda: wall.append(server.run("reindex")))  # noqa: B023
        full.append(Taken(wall[0], cpu))
    return Taken.middle(full), Taken.middle(least)


class Measured:
    """A vault of one size and its server. Each measurement appends rows."""

    def __init__(self, notes: int, work: Path, repeats: int, searches: int) -> None:
        self.notes, self.repeats, self.searches = notes, repeats, searches
        self.root = work / f"vault-{notes}"
        self.home = work / f"home-{notes}"
        self.home.mkdir()
        self.rows: list[Row] = []
        say(f"writing {notes:,} notes")
        plan = Vault(notes, SEED)
        self.size = plan.write(self.root)
        self.paths = [self.root / plan.path(i) for i in range(notes)]
        self.queries = queries(plan.vocabulary, searches)
        # Read every file once, so that both sides use a warm disk cache.
        floor("walk", self.root)
        floor("fts", self.root, self.home / "floor.db")
        self.full = self.unchanged = self.idle_p50 = 0.0

    def measure(self, *, all_of_it: bool) -> None:
        """Take all measurements, or only those that show the growth with the number of notes."""
        with Server(self.root, self.home) as server:
            say("first index")
            if job := server.running_job():
                server.finish(job)
            self.measure_full(server)
            self.measure_unchanged(server)
            if all_of_it:
                self.measure_change(server)
                self.measure_size(server)
                self.measure_memory_idle(server)
            idle = self.measure_search(server)
            if all_of_it:
                self.measure_search_during_reindex(server, idle)
                self.measure_memory(server)
                self.measure_commands(server)
        if all_of_it:
            self.measure_restart()

    def measure_full(self, server: Server) -> None:
        """Compare a full index with reading every file into one FTS5 table."""
        say("full index and its floor")
        full, least = full_index(server, self.root, self.home / "floor.db", self.repeats)
        self.full = full.wall
        what = "one FTS5 table"
        wall, cpu = full.wall / least.wall, full.cpu / least.cpu
        self.rows += [
            Row("Full index", seconds(full.wall), f"{what}: {seconds(least.wall)}", wall,
                "≤ 3 ×", wall <= 3),
            Row("Full index, CPU of all processes", seconds(full.cpu),
                f"{what}: {seconds(least.cpu)}", cpu),
        ]  # fmt: skip

    def measure_unchanged(self, server: Server) -> None:
        """Compare an index run without changes with a walk that calls stat."""
        say("unchanged index and a bare walk")
        unchanged, bare = [], []
        for _ in range(2 * self.repeats + 1):
            bare.append(floor("walk", self.root).wall)
            time.sleep(SETTLE_SECONDS)
            unchanged.append(server.run("index"))
        self.unchanged = statistics.median(unchanged)
        least = statistics.median(bare)
        ratio = self.unchanged / least
        self.rows.append(
            Row("Unchanged `index`", seconds(self.unchanged), f"walk with stat: {seconds(least)}",
                ratio, "≤ 4 ×, < 1 s", ratio <= 4 and self.unchanged < 1)
        )  # fmt: skip

    def measure_change(self, server: Server) -> None:
        """Time an index run with one changed note."""
        say("one changed note")
        chance = random.Random(SEED)
        taken = []
        for turn in range(2 * self.repeats + 1):
            with chance.choice(self.paths).open("a", encoding="utf-8") as note:
                note.write(f"\nOne more line, the {turn}th.\n")
            time.sleep(SETTLE_SECONDS)
            taken.append(server.run("index"))
        middle = statistics.median(taken)
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
        self.rows.append(
            Row(
                "Server, idle",
                f"RSS {megabytes(peak.server_rss)}, PSS {megabytes(peak.server_pss)}",
            )
        )
        self.rows.append(
            Row("Standby indexer, idle", f"PSS {megabytes(peak.below_pss)} in "
                f"{peak.below_processes} processes")
        )  # fmt: skip

    def measure_search(self, server: Server) -> list[float]:
        """Time searches over HTTP on an idle server."""
        say("search, idle")
        time.sleep(SETTLE_SECONDS)
        for query in self.queries[:50]:
            server.search(query)
        taken = [server.search(query) for query in self.queries]
        self.idle_p50 = percentile(taken, 0.5)
        self.rows.append(
            Row(f"Search, idle ({len(taken)} queries)", self._latency(taken),
                goal="p50 ≤ 15 ms, p99 ≤ 60 ms",
                met=self.idle_p50 <= 0.015 and percentile(taken, 0.99) <= 0.06)
        )  # fmt: skip
        return taken

    def measure_search_during_reindex(self, server: Server, idle: list[float]) -> None:
        """Time searches during reindex jobs."""
        say("search during reindex")
        taken: list[float] = []
        while len(taken) < self.searches:
            job = server.submit("reindex")
            for turn, query in enumerate(self.queries * 1000):
                # Checking the job is rare and not timed.
                if turn % 10 == 9 and server.job(job)["state"] in FINAL:
                    break
                taken.append(server.search(query))
            server.finish(job)
        ratio = percentile(taken, 0.99) / percentile(idle, 0.99)
        self.rows.append(
            Row(f"Search, during reindex ({len(taken)} queries)", self._latency(taken),
                f"idle p99: {seconds(percentile(idle, 0.99))}", ratio, "p99 ≤ 3 ×", ratio <= 3)
        )  # fmt: skip

    @staticmethod
    def _latency(taken: list[float]) -> str:
        shares = (0.5, 0.95, 0.99)
        return ", ".join(f"p{s * 100:.0f} {seconds(percentile(taken, s))}" for s in shares)

    def measure_memory(self, server: Server) -> None:
        """Measure the memory of the server and the indexing processes during a reindex."""
        say("memory during reindex")
        time.sleep(SETTLE_SECONDS)
        peak = watch(server.process.pid, lambda: server.run("reindex"))
        self.rows += [
            Row("Server, after searching and during reindex",
                f"RSS {megabytes(peak.server_rss)}, PSS {megabytes(peak.server_pss)}",
                goal="< 200 MB", met=peak.server_rss < 200e6),
            Row("Indexer and its workers, peak",
                f"PSS {megabytes(peak.below_pss)} in {peak.below_processes} processes"),
        ]  # fmt: skip

    def measure_commands(self, server: Server) -> None:
        """Compare the start of two commands with bare imports, in turn."""
        say("command line")
        pairs = [
            ("`vault-agent --version`", [PROGRAM, "--version"], "asyncclick", 1.5),
            ("`vault-agent search`", [PROGRAM, "search", self.queries[0]],
             "asyncio, asyncclick, orjson", 1.3),
        ]  # fmt: skip
        for name, command, modules, goal in pairs:
            bare = [sys.executable, "-c", f"import {modules}"]
            ours, theirs = [], []
            for _ in range(5 * self.repeats + 1):
                theirs.append(run_command(bare, server.environment))
                ours.append(run_command(command, server.environment))
            # The first run of each compiles bytecode.
            mine, least = statistics.median(ours[1:]), statistics.median(theirs[1:])
            ratio = mine / least
            self.rows.append(
                Row(name, seconds(mine), f"`import {modules}`: {seconds(least)}", ratio,
                    f"≤ {goal} ×", ratio <= goal)
            )  # fmt: skip

    def measure_restart(self) -> None:
        """Time a server's start on an existing index until its first answer."""
        say("restart")
        started = time.perf_counter()
        with Server(self.root, self.home) as server:
            server.search(self.queries[0])
            taken = time.perf_counter() - started
        self.rows.append(Row("Start to first answer", seconds(taken), goal="< 2 s", met=taken < 2))


def run_command(command: list[str], environment: dict[str, str]) -> float:
    """Run a command; return its seconds."""
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started


def busyness() -> float:
    """Return the load average of the last minute, or 0 where it is not available."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def machine() -> str:
    """Describe the machine and library versions, without the machine's name."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ("vault-agent", "tantivy", "aiosqlite", "aiohttp", "pyromark")
    libraries = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"{cores} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {libraries}"
    )


def growth(measured: list[Measured]) -> list[Row]:
    """Return how the work per note grows from each vault size to the next."""
    rows = []
    for small, large in pairwise(measured):
        times = large.notes / small.notes
        for what, before, after in (
            ("full index", small.full, large.full),
            ("unchanged `index`", small.unchanged, large.unchanged),
        ):
            ratio = after / before / times
            rows.append(
                Row(f"Growth of {what}, {small.notes:,} to {large.notes:,} notes",
                    seconds(after), f"{times:.0f} × {seconds(before)}", ratio,
                    "about 1, or less", ratio <= 1.3)
            )  # fmt: skip
        rows.append(
            Row(f"Growth of search p50, {small.notes:,} to {large.notes:,} notes",
                seconds(large.idle_p50), seconds(small.idle_p50), large.idle_p50 / small.idle_p50)
        )  # fmt: skip
    return rows


GOALS = {  # of a full index against its floor: CPU, wall time
    "manual": (4.5, 2.5),
    "pages": (8, 4),
    "reference": (10, 5.5),
}


def measure_indexing(work: Path, vault: Path | None, share: float, repeats: int) -> str:
    """Return a table of a full index of one folder, or of each shape."""
    rows = []
    for name in ["folder"] if vault else SHAPES:
        root = vault or work / name
        if vault is None:
            shape = SHAPES[name]
            say(f"writing {shape.what}")
            ShapedVault(shape, max(100, int(shape.notes * share)), SEED).write(root)
        say(f"full index of {name} and its floor")
        home = work / f"home-{name}"
        home.mkdir()
        floor("fts", root, home / "floor.db")  # reads each file once, for a warm disk cache
        with Server(root, home) as server:
            if job := server.running_job():
                server.finish(job)
            full, least = full_index(server, root, home / "floor.db", repeats)
            job = server.finish(server.submit("index"))
        notes = list(root.rglob("*.md"))
        size = sum(path.stat().st_size for path in notes)
        summary, count = job["summary"], len(notes)
        cpu, wall = full.cpu / least.cpu, full.wall / least.wall
        goals = GOALS.get(name)
        rows.append(
            f"| {name} | {count:,} | {megabytes(size)} | {summary['chunks'] / count:.1f} "
            f"| {summary['links'] / count:.1f} | {seconds(least.cpu)} | {seconds(full.cpu)} "
            f"| {cpu:.1f} | {f'≤ {goals[0]}' if goals else ''} | {seconds(full.wall)} "
            f"| {wall:.1f} | {f'≤ {goals[1]}' if goals else ''} |"
        )
    head = (
        "| vault | notes | size | chunks a note | links a note | floor, CPU | full index, CPU "
        "| ratio | goal | full index, wall | ratio | goal |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---|\n"
    )
    return head + "\n".join(rows) + "\n"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=10_000, help="number of notes")
    parser.add_argument("--sizes", type=int, nargs="+", help="vault sizes, to measure growth")
    parser.add_argument("--quick", action="store_true", help="1,000 notes, fewer repeats")
    parser.add_argument("--indexing", action="store_true", help="only full indexes, by shape")
    parser.add_argument("--vault", type=Path, help="with --indexing: a folder of notes")
    parser.add_argument("--share", type=float, default=1, help="with --indexing: of the notes")
    parser.add_argument("--cores", type=int, default=2, help="cores to use (Linux)")
    parser.add_argument("--work", type=Path, help="folder for temporary vaults and indexes")
    parser.add_argument("--write", action="store_true", help="write the table into RESULTS.md")
    arguments = parser.parse_args()
    notes = 1_000 if arguments.quick else arguments.notes
    sizes = sorted({*(arguments.sizes or [max(100, notes // 10)]), notes})
    repeats, searches = (1, 200) if arguments.quick else (3, 1_000)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.cores])

    load = busyness()
    if load > 0.5:
        # Other load slows the parallel indexer more than its single-process floor.
        say(f"This machine is busy (load {load:.1f}): the ratios will look worse than they are.")
    measured = []
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        work = Path(folder)
        # Compile the bytecode, as after a user's first run.
        run_command([PROGRAM, "--version"], isolated(work))
        if arguments.indexing:
            print(machine())
            print(measure_indexing(work, arguments.vault, arguments.share, repeats))
            return
        for size in sizes:
            one = Measured(size, work, repeats, searches)
            one.measure(all_of_it=size == notes)
            measured.append(one)
    main_one = next(one for one in measured if one.notes == notes)
    table = "\n".join(row.cells() for row in [*main_one.rows, *growth(measured)])
    figures = (
        f"{machine()}; load before the run {load:.1f}.\n"
        f"A synthetic vault of {notes:,} notes, {megabytes(main_one.size)}, seed {SEED}.\n\n"
        f"| what | measured | against | ratio | goal | met |\n|---|---|---|---:|---|---|\n{table}\n"
    )
    print(figures)
    if arguments.write:
        page = PAGE.read_text("utf-8")
        head, start, rest = page.partition(FIGURES)
        _, end, tail = rest.partition(END)
        PAGE.write_text(f"{head}{start}\n\n{figures}\n{end}{tail}", "utf-8")


if __name__ == "__main__":
    main()
