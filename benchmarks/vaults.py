"""Measure several vaults in one server: their memory, and what splitting a vault does to ranking.

    python benchmarks/vaults.py memory
    python benchmarks/vaults.py split --eval FOLDER

`memory` opens eight registered vaults of 1,000 notes each, and prints the PSS of the server with
its processes before and after. `split` indexes each collection with judged queries twice, whole and
split in two, and prints the measures of both and how many results differ.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.quality.judged import collections
from benchmarks.quality.measures import LABELS, mean, measure
from benchmarks.server import PROGRAM, Peak, Server, isolated
from benchmarks.vault import Vault

if TYPE_CHECKING:
    from benchmarks.quality.judged import Collection

VAULTS, NOTES = 8, 1_000
SETTLE_SECONDS = 5.0
"""After the last job the indexing process returns memory and checks the index."""
LIMIT = 50


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("memory")
    split = commands.add_parser("split")
    split.add_argument("--eval", type=Path, required=True, help="the folder of collections")
    split.add_argument("--only", nargs="*", help="names of collections; default: all")
    arguments = parser.parse_args()
    if arguments.command == "memory":
        _memory()
        return
    print(f"| collection | index | {' | '.join(LABELS)} | other results |")
    print(f"|---|---|{'---|' * (len(LABELS) + 1)}")
    for collection in collections(arguments.eval):
        if not arguments.only or collection.name in arguments.only:
            _split(collection)


def _memory() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        default = home / "default"
        Vault(NOTES, seed=0).write(default)
        names = [f"vault{number}" for number in range(1, VAULTS)]
        for number, name in enumerate(names, 1):
            Vault(NOTES, seed=number).write(home / name)
        _register(home, {name: home / name for name in names})
        with Server(default, home, VAULT_AGENT_VAULTS_ENABLED="true") as server:
            _wait(server, "/jobs")
            one = _settled(server)
            for name in names:
                _open(server, name)
            several = _settled(server)
            server.call("POST", "/search", {"query": "word", "vaults": ["default", *names]})
            combined = _settled(server)
    print(f"| PSS of the server and its processes, {NOTES:,} notes a vault | MB | more than one |")
    print("|---|---:|---:|")
    for name, size in (
        ("one vault", one),
        (f"{VAULTS} open vaults", several),
        (f"after a search over all {VAULTS} as one", combined),
    ):
        print(f"| {name} | {size / 1e6:.1f} | {(size - one) / 1e6:.1f} |")


def _split(collection: Collection) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        halves = {"one": home / "one", "two": home / "two"}
        for number, path in enumerate(sorted(collection.notes)):
            # Thirds, so that the vaults differ in size.
            target = halves["one" if number % 3 == 0 else "two"] / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(collection.vault / path, target)
        _register(home, halves)
        documents = {path: note.document for path, note in collection.notes.items()}
        with Server(collection.vault, home, VAULT_AGENT_VAULTS_ENABLED="true") as server:
            _wait(server, "/jobs")
            for name in halves:
                _open(server, name)
            rankings: list[list[list[tuple[str, float]]]] = [[], []]
            for query in collection.queries:
                for ranking, more in zip(rankings, ({}, {"vaults": list(halves)}), strict=True):
                    body = {"query": query.text[:1_000], "limit": LIMIT, **more}
                    found = server.call("POST", "/search", body)["results"]
                    ranking.append([(documents[each["path"]], each["score"]) for each in found])
        whole, parts = rankings
        other = sum(
            [document for document, _ in one[:10]] != [document for document, _ in two[:10]]
            for one, two in zip(whole, parts, strict=True)
        )
        largest = max(
            (
                abs(a[1] - b[1])
                for one, two in zip(whole, parts, strict=True)
                for a, b in zip(one[:10], two[:10], strict=False)
            ),
            default=0.0,
        )
        for name, ranking in (("one", whole), ("two", parts)):
            judged = mean(
                measure([document for document, _ in found], collection.relevance[query.id])
                for query, found in zip(collection.queries, ranking, strict=True)
            )
            values = " | ".join(f"{value:.4f}" for value in astuple(judged))
            told = f"{other} of {len(whole)} queries, score ±{largest:.6f}" if name == "two" else ""
            print(f"| {collection.name} | {name} | {values} | {told} |", flush=True)


def _register(home: Path, vaults: dict[str, Path]) -> None:
    """Put vaults on the list of the server's user, as `vault-agent vaults add` does."""
    for name, root in vaults.items():
        command = [PROGRAM, "vaults", "add", str(root), "--name", name]
        subprocess.run(command, check=True, env=isolated(home), capture_output=True)


def _open(server: Server, name: str) -> None:
    server.call("GET", f"/vaults/{name}/health")
    _wait(server, f"/vaults/{name}/jobs")


def _wait(server: Server, jobs: str) -> None:
    while any(job["state"] in ("queued", "running") for job in server.call("GET", jobs)["jobs"]):
        time.sleep(0.1)


def _settled(server: Server) -> int:
    """Return the PSS of the server and its processes once they are idle."""
    time.sleep(SETTLE_SECONDS)
    peak = Peak()
    peak.sample(server.process.pid)
    return peak.server_pss + peak.below_pss


if __name__ == "__main__":
    main()
