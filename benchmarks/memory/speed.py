"""Measure POST /memory over HTTP in a vault of made-up journals: wall time, and the server's CPU.

python -m benchmarks memory.speed [--notes 10000] [--requests 300]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from benchmarks.memory.history import made_history
from benchmarks.server import Server


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        commits = made_history(arguments.notes)
        for each in commits:
            path = home / "vault" / each.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(each.note, "utf-8")
        chosen = random.Random(1)
        settings = {"VAULT_AGENT_MEMORY_ENABLED": "true", "VAULT_AGENT_INDEX_AT_START": "true"}
        with Server(home / "vault", home, **settings) as server:
            while any(each["state"] in ("queued", "running") for each in _jobs(server)):
                time.sleep(0.2)
            server.call("POST", "/memory", {"prompt": "warm up the facts of this vault"})
            wall = []
            before = _cpu(server.process.pid)
            for commit in chosen.sample(commits, arguments.requests):
                body = {"prompt": f"{commit.subject} {commit.body[:200]}", "files": commit.files}
                started = time.perf_counter()
                server.call("POST", "/memory", body)
                wall.append(time.perf_counter() - started)
            cpu = (_cpu(server.process.pid) - before) / arguments.requests
    wall.sort()
    print(f"| POST /memory, {arguments.notes:,} notes | ms |\n|---|---:|")
    for name, value in (
        ("p50", wall[len(wall) // 2]),
        ("p99", wall[int(0.99 * len(wall))]),
        ("CPU of the server, mean", cpu),
    ):
        print(f"| {name} | {1_000 * value:.1f} |")


def _jobs(server: Server) -> list[dict[str, str]]:
    return list(server.call("GET", "/jobs")["jobs"])


def _cpu(pid: int) -> float:
    """Return the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


if __name__ == "__main__":
    main()
