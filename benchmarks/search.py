"""Search latency over HTTP and time of the first index, for vaults of several sizes.

    python benchmarks/search.py --sizes 30000 300000

30,000 notes are about 100,000 chunks. Queries have 1 to 12 words, drawn by frequency.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from run import SEED, SETTLE_SECONDS, machine, percentile, say, seconds
from server import Server
from vault import Vault, queries

SEARCHES = 1_000


def measure(notes: int, work: Path) -> str:
    """Return the table row for one size."""
    say(f"writing {notes:,} notes")
    plan = Vault(notes, SEED)
    root = work / f"vault-{notes}"
    size = plan.write(root)
    home = work / f"home-{notes}"
    home.mkdir()
    with Server(root, home) as server:
        say("first index")
        started = time.perf_counter()
        if job := server.running_job():
            server.finish(job)
        indexed = time.perf_counter() - started
        chunks = server.call("GET", "/health")["index"]["chunks"]
        time.sleep(SETTLE_SECONDS)
        say("searches")
        asked = queries(plan.vocabulary, SEARCHES)
        for query in asked[:50]:
            server.search(query)
        taken = [server.search(query) for query in asked]
    shares = " | ".join(seconds(percentile(taken, share)) for share in (0.5, 0.95, 0.99))
    return f"| {notes:,} | {size / 1e6:,.0f} MB | {chunks:,} | {seconds(indexed)} | {shares} |"


def main() -> None:
    """Measure each size and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[30_000], help="notes")
    parser.add_argument("--work", type=Path, help="folder for temporary vaults and indexes")
    arguments = parser.parse_args()
    print(f"{machine()}\n")
    print("| notes | vault | chunks | first index | p50 | p95 | p99 |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        for notes in arguments.sizes:
            print(measure(notes, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
