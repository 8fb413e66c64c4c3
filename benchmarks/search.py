"""Searches over HTTP: latency, searches a second, and processor time, by clients and vault.

    python -m benchmarks search                             30,000 notes, 100,000 chunks
    python -m benchmarks search --sizes 10000 300000 --clients 1 8 64
    python -m benchmarks search --vault FOLDER              a real vault
    python -m benchmarks search --attachments 100000        with so many chunks of text files

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

from benchmarks.attachments import write_texts
from benchmarks.figures import machine, megabytes, percentile, say, seconds, table
from benchmarks.server import SEED, SETTLE_SECONDS, Caller, Server, cpu_seconds
from benchmarks.vault import Vault

SEARCHES = 1_000
HEALTH_PAUSE_SECONDS = 0.02
HEAD = ("vault", "clients", "searches/s", "p50", "p95", "p99", "CPU a search", "`/health` p99")
_WORD = re.compile(r"\w[\w'-]+")


class Load(NamedTuple):
    """The times of some clients: seconds of each request, and of the whole."""

    searches: list[float]
    health: list[float]
    seconds: float
    cpu: float


def draw_queries(root: Path, number: int) -> list[str]:
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


def load(server: Server, clients: int, queries: list[str]) -> Load:
    """Send all queries once, by several clients at once."""
    searches: list[float] = []
    health: list[float] = []
    turns, ended = count(), threading.Event()

    def search() -> None:
        caller = Caller(server.port)
        while (turn := next(turns)) < len(queries):
            searches.append(caller.search(queries[turn]))

    def look() -> None:
        caller = Caller(server.port)
        while not ended.wait(HEALTH_PAUSE_SECONDS):
            started = time.perf_counter()
            caller.call("GET", "/health")
            health.append(time.perf_counter() - started)

    looking = threading.Thread(target=look)
    threads = [threading.Thread(target=search) for _ in range(clients)]
    cpu, started = cpu_seconds(server.process.pid), time.perf_counter()
    for thread in (*threads, looking):
        thread.start()
    for thread in threads:
        thread.join()
    passed = time.perf_counter() - started
    cpu = cpu_seconds(server.process.pid) - cpu
    ended.set()
    looking.join()
    return Load(searches, health, passed, cpu)


def measure(name: str, root: Path, home: Path, options: argparse.Namespace) -> list[tuple]:
    """Return the table rows for one vault."""
    home.mkdir()
    queries = draw_queries(root, SEARCHES)
    size = megabytes(sum(path.stat().st_size for path in root.rglob("*.*")))
    kinds = "text" if options.attachments else ""
    rows = []
    with Server(root, home, VAULT_AGENT_INDEX_ATTACHMENTS=kinds) as server:
        say("first index")
        server.settle()
        indexing = cpu_seconds(server.process.pid)
        chunks = server.call("GET", "/health")["index"]["chunks"]
        vault = f"{name}, {size}, {chunks:,} chunks"
        say(f"{vault}, indexed with {seconds(indexing)} of CPU")
        time.sleep(SETTLE_SECONDS)
        for query in queries[:100]:
            server.search(query)
        for number in options.clients:
            say(f"{number} clients")
            got = load(server, number, queries)
            late = (seconds(percentile(got.searches, share)) for share in (0.5, 0.95, 0.99))
            health = seconds(percentile(got.health, 0.99)) if got.health else ""
            rate = f"{len(queries) / got.seconds:.0f}"
            rows.append((vault, number, rate, *late, seconds(got.cpu / len(queries)), health))
    return rows


def main() -> None:
    """Measure each vault and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[30_000], help="numbers of notes")
    parser.add_argument("--vault", type=Path, help="an existing vault; nothing is written to it")
    parser.add_argument("--attachments", type=int, default=0, help="chunks of text files")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--work", type=Path, help="folder for temporary vaults and indexes")
    options = parser.parse_args()
    print(machine())
    rows: list[tuple] = []
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        work = Path(folder)
        if options.vault:
            rows += measure("a real vault", options.vault, work / "home", options)
        for notes in () if options.vault else options.sizes:
            root = work / f"vault-{notes}"
            say(f"writing {notes:,} notes")
            Vault(notes, SEED).write(root)
            if options.attachments:
                write_texts(root / "Logs", options.attachments)
            rows += measure(f"{notes:,} notes", root, work / f"home-{notes}", options)
    print(f"\n{table(HEAD, *rows)}")


if __name__ == "__main__":
    main()
