"""Searches over HTTP: latency, searches a second, and processor time, by clients and vault.

    python -m benchmarks search                             an API reference of 100,000 chunks
    python -m benchmarks search --shape pages --clients 1 8 64
    python -m benchmarks search --sizes 30000 300000        the usual synthetic vault, by notes
    python -m benchmarks search --vault FOLDER              a real vault

Queries have 1 to 12 words, drawn by the vault's own frequency. Every fifth is the title of a note.
Each client sends the next query as soon as it has its reply. Meanwhile another one asks for
`/health`, which must not wait for searches.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import threading
import time
from itertools import count
from pathlib import Path
from typing import NamedTuple

from benchmarks.run import (
    SEED,
    SETTLE_SECONDS,
    busyness,
    machine,
    megabytes,
    percentile,
    say,
    seconds,
)
from benchmarks.server import Caller, Server, cpu_seconds, own_cpu_seconds
from benchmarks.shapes import SHAPES, ShapedVault
from benchmarks.vault import Vault

SEARCHES = 1_000
HEALTH_PAUSE_SECONDS = 0.02
_WORD = re.compile(r"\w[\w'-]+")


class Load(NamedTuple):
    """What some clients measured together: seconds of each request, and of the whole."""

    searches: list[float]
    health: list[float]
    seconds: float
    cpu: float  # of the server alone


def drawn_from(root: Path, number: int) -> list[str]:
    """Return queries with the words of a vault's notes, and titles. The same each time."""
    chance = random.Random(SEED)
    paths = sorted(root.rglob("*.md"))
    words = []
    for path in chance.sample(paths, min(len(paths), 2_000)):
        words += _WORD.findall(path.read_text("utf-8", errors="replace"))
    return [
        chance.choice(paths).stem
        if turn % 5 == 4
        else " ".join(chance.choices(words, k=chance.randint(1, 12)))
        for turn in range(number)
    ]


def load(server: Server, clients: int, asked: list[str]) -> Load:
    """Send all queries once, by several clients at once."""
    searches: list[float] = []
    health: list[float] = []
    turns, ended = count(), threading.Event()

    def search() -> None:
        caller = Caller(server.port)
        while (turn := next(turns)) < len(asked):
            searches.append(caller.search(asked[turn]))

    def look() -> None:
        caller = Caller(server.port)
        while not ended.wait(HEALTH_PAUSE_SECONDS):
            started = time.perf_counter()
            caller.call("GET", "/health")
            health.append(time.perf_counter() - started)

    looking = threading.Thread(target=look)
    threads = [threading.Thread(target=search) for _ in range(clients)]
    cpu, started = own_cpu_seconds(server.process.pid), time.perf_counter()
    for thread in (*threads, looking):
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - started
    cpu = own_cpu_seconds(server.process.pid) - cpu
    ended.set()
    looking.join()
    return Load(searches, health, taken, cpu)


def measure(name: str, root: Path, size: float, home: Path, clients: list[int]) -> list[str]:
    """Return the table rows for one vault."""
    home.mkdir()
    asked = drawn_from(root, SEARCHES)
    rows = []
    with Server(root, home) as server:
        say("first index")
        if job := server.running_job():
            server.finish(job)
        indexing = cpu_seconds(server.process.pid)
        chunks = server.call("GET", "/health")["index"]["chunks"]
        vault = f"{name}, {megabytes(size)}, {chunks:,} chunks"
        say(f"{vault}, indexed with {seconds(indexing)} of CPU")
        time.sleep(SETTLE_SECONDS)
        for query in asked[:100]:
            server.search(query)
        for number in clients:
            say(f"{number} clients")
            got = load(server, number, asked)
            shares = (seconds(percentile(got.searches, share)) for share in (0.5, 0.95, 0.99))
            cells = (
                vault,
                str(number),
                f"{len(asked) / got.seconds:.0f}",
                *shares,
                seconds(got.cpu / len(asked)),
                seconds(percentile(got.health, 0.99)) if got.health else "",
            )
            rows.append(f"| {' | '.join(cells)} |")
    return rows


def main() -> None:
    """Measure each vault and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--shape", choices=SHAPES, default="reference")
    what.add_argument("--sizes", type=int, nargs="+", help="notes of the usual synthetic vault")
    what.add_argument("--vault", type=Path, help="an existing vault; nothing is written to it")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--work", type=Path, help="folder for temporary vaults and indexes")
    arguments = parser.parse_args()
    print(f"{machine()}; load before the run {busyness():.1f}.\n")
    print("| vault | clients | searches/s | p50 | p95 | p99 | CPU a search | `/health` p99 |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        work = Path(folder)
        for turn, (name, root, size) in enumerate(vaults(arguments, work)):
            rows = measure(name, root, size, work / f"home-{turn}", arguments.clients)
            print("\n".join(rows), flush=True)


def vaults(arguments: argparse.Namespace, work: Path):
    """Yield the name, the folder and the bytes of each vault to measure."""
    if arguments.vault:
        size = sum(path.stat().st_size for path in arguments.vault.rglob("*.md"))
        yield "a real vault", arguments.vault, size
        return
    for notes in arguments.sizes or ():
        root = work / f"vault-{notes}"
        say(f"writing {notes:,} notes")
        yield f"synthetic, {notes:,} notes", root, Vault(notes, SEED).write(root)
    if not arguments.sizes:
        shape = SHAPES[arguments.shape]
        say(f"writing {shape.what}")
        root = work / shape.name
        yield shape.name, root, ShapedVault(shape, shape.notes, SEED).write(root)


if __name__ == "__main__":
    main()
