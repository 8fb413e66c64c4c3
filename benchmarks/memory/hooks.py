"""Measures the hook of agents, from the start of its process to its end.

    python -m benchmarks memory.hooks [--runs N] [--notes N]

Three cases: a server is there (with a project of so many notes), none is there, and one takes
connections and never answers. Prints the wall time and the CPU time of each. At most: p50 150 ms,
p95 400 ms, at the end of a session p95 250 ms, and 900 ms where the server hangs. With a server it
also measures `POST /memory`.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import socket
import statistics
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.server import PROGRAM, Server, cpu_seconds, isolated

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT = """parser cost tracker stream window cache index token vault panel frame retry socket journal
bridge column render budget schema signal worker widget layout cursor margin branch"""
WORDS = TEXT.split()
PATIENCE = 120.0
KEY = "only-this-benchmark-uses-this-key-0123"
NOWHERE = "http://127.0.0.1:9"


class World:
    """A project with notes, and a home that has everything switched on."""

    def __init__(self, folder: Path, notes: int) -> None:
        self.home = folder / "home"
        self.default = folder / "notes"
        self.project = folder / "project"
        for each in (self.home, self.default, self.project / ".git"):
            each.mkdir(parents=True)
        self.environment = isolated(self.home)
        self.environment["VAULT_AGENT_INDEX_DIR"] = str(self.home / "index")
        self.environment["VAULT_AGENT_SERVER_API_KEY"] = KEY
        self._run("init", "--yes")
        vault = self.project / ".vault-agent" / "vault" / "journals"
        vault.mkdir(exist_ok=True)
        chance = random.Random(7)
        for number in range(notes):
            text = " ".join(chance.choices(WORDS, k=80))
            (vault / f"{number}.md").write_text(
                f"---\ntype: journal\ntitle: {text[:40]}\nfiles: [src/{number % 300}.py]\n---\n"
                f"# {text[:40]}\n\n## Outcome\n\n{text}\n"
            )

    def _run(self, *arguments: str) -> None:
        subprocess.run(
            [PROGRAM, *arguments],
            cwd=self.project,
            env=self.environment,
            check=True,
            capture_output=True,
        )

    def hook(self, name: str, endpoint: str, **more: Any) -> tuple[float, float, bytes]:
        """Run the hook, and return its seconds, those of its CPU, and what it prints."""
        given = {"hook_event_name": name, "cwd": str(self.project), **more}
        command = [PROGRAM, "memory", "hook", "--agent", "claude-code", "--endpoint", endpoint]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        done = subprocess.run(
            command,
            input=json.dumps(given).encode(),
            cwd=self.project,
            env=self.environment,
            check=True,
            capture_output=True,
        )
        elapsed = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return elapsed, cpu, done.stdout


def measure(world: World, endpoint: str, runs: int) -> dict[str, list[tuple[float, float]]]:
    """Run sessions of a start, a prompt, a turn and an end. Return the times by event."""
    found: dict[str, list[tuple[float, float]]] = {}
    chance = random.Random(11)
    printed = 0
    for _ in range(runs):
        session = str(uuid.UUID(int=chance.getrandbits(128)))
        prompt = " ".join(chance.choices(WORDS, k=8))
        for name, more in (
            ("SessionStart", {"source": "startup"}),
            ("UserPromptSubmit", {"prompt": prompt}),
            ("Stop", {"last_assistant_message": prompt}),
            ("SessionEnd", {"reason": "other"}),
        ):
            wall, cpu, out = world.hook(name, endpoint, session_id=session, **more)
            found.setdefault(name, []).append((wall, cpu))
            printed += bool(out)
    print(f"  {printed} of {4 * runs} printed something")
    return found


def ask(server: Server, runs: int) -> None:
    """Ask for the notes of tasks, and print the times of the replies and the server's CPU."""
    chance = random.Random(13)
    wall = []
    before = cpu_seconds(server.process.pid)
    for _ in range(4 * runs):
        prompt = " ".join(chance.choices(WORDS, k=20))
        body = {"prompt": prompt, "files": [f"src/{chance.randrange(300)}.py"]}
        began = time.perf_counter()
        server.call("POST", "/vaults/project:project/memory", body)
        wall.append(time.perf_counter() - began)
    cpu = (cpu_seconds(server.process.pid) - before) / len(wall)
    print(
        f"  {'POST /memory':<18} p50 {1000 * statistics.median(wall):4.0f} ms"
        f"   p95 {1000 * p95(wall):4.0f} ms   CPU {1000 * cpu:3.0f} ms"
    )


def warm_up(world: World, endpoint: str) -> float:
    """Send prompts until one brings something, and return the seconds that this took."""
    began = time.perf_counter()
    while time.perf_counter() - began < PATIENCE:
        session = str(uuid.uuid4())
        prompt = "parser cost tracker stream window cache in src/7.py"
        if world.hook("UserPromptSubmit", endpoint, session_id=session, prompt=prompt)[2]:
            return time.perf_counter() - began
        time.sleep(0.2)
    raise SystemExit("The server brings nothing.")


def show(found: dict[str, list[tuple[float, float]]]) -> None:
    """Print the times by event."""
    for name, times in found.items():
        wall = [each[0] for each in times]
        cpu = statistics.median(each[1] for each in times)
        print(
            f"  {name:<18} p50 {1000 * statistics.median(wall):4.0f} ms"
            f"   p95 {1000 * p95(wall):4.0f} ms   CPU {1000 * cpu:3.0f} ms"
        )


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[max(0, round(0.95 * len(values)) - 1)]


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--notes", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        world = World(Path(place), options.notes)
        settings = {
            f"VAULT_AGENT_{each}_ENABLED": "true" for each in ("VAULTS", "MEMORY", "JOURNAL")
        }
        settings["VAULT_AGENT_SERVER_API_KEY"] = KEY
        with Server(world.default, world.home, **settings) as server:
            endpoint = f"http://127.0.0.1:{server.port}"
            seconds = warm_up(world, endpoint)
            print(f"a server with {options.notes} notes, indexed in {seconds:.1f} s")
            show(measure(world, endpoint, options.runs))
            ask(server, options.runs)
        print("no server")
        show(measure(world, NOWHERE, options.runs))
        with socket.create_server(("127.0.0.1", 0)) as hung:
            print("a server that hangs")
            show(
                measure(
                    world, f"http://127.0.0.1:{hung.getsockname()[1]}", max(5, options.runs // 10)
                )
            )


if __name__ == "__main__":
    main()
