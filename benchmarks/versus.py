"""Compare two installations of vault-agent on one vault, in turns, as ratios.

Each turn runs both programs, one after the other, on the same vault with an index of its own. So
the ratios hold where the seconds do not. Prints a Markdown table of medians: wall time, and the
processor time of all processes where a job is measured.

    python -m benchmarks versus OTHER/bin/vault-agent
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.figures import percentile, seconds, table
from benchmarks.server import PROGRAM, SEED, SETTLE_SECONDS, Server, cpu_seconds
from benchmarks.vault import Vault, queries


class Side:
    """One of the two programs, with its server and what was measured of it."""

    def __init__(self, program: str, vault: Path, home: Path) -> None:
        self.program, self.vault, self.home = program, vault, home
        self.home.mkdir()
        self.spent: dict[str, list[float]] = {}

    def note(self, what: str, value: float) -> None:
        """Keep one measurement, in seconds."""
        self.spent.setdefault(what, []).append(value)

    def job(self, server: Server, kind: str, what: str) -> None:
        """Run one job; keep its wall time and the processor time of all processes."""
        time.sleep(SETTLE_SECONDS)
        wall, cpu = server.cost(kind)
        self.note(f"{what}, wall", wall)
        self.note(f"{what}, CPU", cpu)

    def turn(self, note: Path, searched: list[str]) -> None:
        """Measure everything once."""
        with Server(self.vault, self.home, self.program) as server:
            server.settle()
            self.note("start of the server", server.start_seconds)
            self.job(server, "reindex", "full index")
            self.job(server, "index", "unchanged index")
            with note.open("a", encoding="utf-8") as file:
                file.write("\nOne more line.\n")
            self.job(server, "index", "one changed note")
            for query in searched[:30]:
                server.search(query)
            before = cpu_seconds(server.process.pid)
            times = [server.search(query) for query in searched]
            spent = cpu_seconds(server.process.pid) - before
            self.note("search, CPU a query", spent / len(searched))
            for share in (50, 99):
                self.note(f"search, p{share}", percentile(times, share / 100))
            self.command(server)

    def command(self, server: Server) -> None:
        """Time one search from the shell."""
        for _ in range(5):
            started = time.perf_counter()
            subprocess.run(
                [self.program, "search", "garden"],
                env=server.environment,
                check=False,
                capture_output=True,
            )
            self.note("vault-agent search", time.perf_counter() - started)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", help="the vault-agent command to compare with")
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        root = Path(work, "vault")
        plan = Vault(options.notes, SEED)
        plan.write(root)
        note = root / plan.path(0)
        searched = queries(plan.vocabulary, 200)
        sides = [
            Side(options.other, root, Path(work, "other")),
            Side(PROGRAM, root, Path(work, "this")),
        ]
        for turn in range(options.turns):
            for side in sides if turn % 2 == 0 else reversed(sides):
                side.turn(note, searched)
    other, this = sides
    rows = []
    for what, values in this.spent.items():
        mine, theirs = statistics.median(values), statistics.median(other.spent[what])
        rows.append(
            (what, seconds(theirs), seconds(mine), f"{mine / theirs:.2f}" if theirs else "")
        )
    print(table(("What", "other", "this", "this / other"), *rows))


if __name__ == "__main__":
    main()
