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
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from benchmarks.figures import percentile, seconds, table
from benchmarks.memory.live import NOWHERE, SWITCHES, Project
from benchmarks.server import Server, cpu_seconds

Times = tuple[float, float]
"""Seconds of wall time, and of processor time."""
TEXT = """parser cost tracker stream window cache index token vault panel frame retry socket journal
bridge column render budget schema signal worker widget layout cursor margin branch"""
WORDS = TEXT.split()
PATIENCE = 120.0
KEY = "only-this-benchmark-uses-this-key-0123"


class HookedProject(Project):
    """A project with notes of past sessions, whose hooks are timed."""

    def __init__(self, folder: Path, notes: int) -> None:
        super().__init__(folder)
        self.environment["VAULT_AGENT_SERVER_API_KEY"] = KEY
        del self.environment["VAULT_AGENT_MEMORY_HOOK_TIMEOUT_MS"]  # as users have it
        journals = self.vault / "journals"
        journals.mkdir(exist_ok=True)
        chance = random.Random(7)
        for number in range(notes):
            text = " ".join(chance.choices(WORDS, k=80))
            (journals / f"{number}.md").write_text(
                f"---\ntype: journal\ntitle: {text[:40]}\nfiles: [src/{number % 300}.py]\n---\n"
                f"# {text[:40]}\n\n## Outcome\n\n{text}\n"
            )

    def hook(self, name: str, endpoint: str, **more: Any) -> tuple[float, float, bool]:
        """Run the hook. Return its seconds, those of its CPU, and whether it prints something."""
        event = json.dumps({"hook_event_name": name, "cwd": str(self.folder), **more})
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        printed = self.run(
            "memory", "hook", "--agent", "claude-code", "--endpoint", endpoint, sent=event
        )
        elapsed = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return elapsed, cpu, bool(printed)


def measure(project: HookedProject, endpoint: str, runs: int) -> dict[str, list[Times]]:
    """Run sessions of a start, a prompt, a turn and an end. Return the times by event."""
    times: dict[str, list[Times]] = {}
    chance = random.Random(11)
    for _ in range(runs):
        session = str(uuid.UUID(int=chance.getrandbits(128)))
        prompt = " ".join(chance.choices(WORDS, k=8))
        for name, more in (
            ("SessionStart", {"source": "startup"}),
            ("UserPromptSubmit", {"prompt": prompt}),
            ("Stop", {"last_assistant_message": prompt}),
            ("SessionEnd", {"reason": "other"}),
        ):
            wall, cpu, _ = project.hook(name, endpoint, session_id=session, **more)
            times.setdefault(name, []).append((wall, cpu))
    return times


def ask(server: Server, runs: int) -> list[Times]:
    """Ask for the notes of tasks. Return the times of the replies, and the server's CPU."""
    chance = random.Random(13)
    times = []
    for _ in range(4 * runs):
        prompt = " ".join(chance.choices(WORDS, k=20))
        body = {"prompt": prompt, "files": [f"src/{chance.randrange(300)}.py"]}
        cpu, began = cpu_seconds(server.process.pid), time.perf_counter()
        server.call("POST", "/vaults/project:work/memory", body)
        wall = time.perf_counter() - began
        times.append((wall, cpu_seconds(server.process.pid) - cpu))
    return times


def warm_up(project: HookedProject, endpoint: str) -> None:
    """Send prompts until one brings something."""
    began = time.perf_counter()
    while time.perf_counter() - began < PATIENCE:
        prompt = "parser cost tracker stream window cache in src/7.py"
        session = str(uuid.uuid4())
        if project.hook("UserPromptSubmit", endpoint, session_id=session, prompt=prompt)[2]:
            return
        time.sleep(0.2)
    raise SystemExit("The server brings nothing.")


def rows(case: str, times: dict[str, list[Times]]) -> list[tuple[str, ...]]:
    """Return the table rows of one case: the wall time of each event, and its mean CPU time."""
    return [
        (
            case,
            event,
            *(seconds(percentile((wall for wall, _ in costs), share)) for share in (0.5, 0.95)),
            seconds(sum(cpu for _, cpu in costs) / len(costs)),
        )
        for event, costs in times.items()
    ]


def main() -> None:
    """Run all cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--notes", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        project = HookedProject(Path(place), options.notes)
        settings = SWITCHES | {"VAULT_AGENT_SERVER_API_KEY": KEY}
        with Server(project.default, project.home, **settings) as server:
            warm_up(project, server.endpoint)
            cases = rows("a server", measure(project, server.endpoint, options.runs))
            cases += rows("a server", {"POST /memory": ask(server, options.runs)})
        cases += rows("no server", measure(project, NOWHERE, options.runs))
        with socket.create_server(("127.0.0.1", 0)) as hung:
            endpoint = f"http://127.0.0.1:{hung.getsockname()[1]}"
            cases += rows("one that hangs", measure(project, endpoint, max(5, options.runs // 10)))
    print(table(("case", "event", "p50", "p95", "CPU"), *cases))


if __name__ == "__main__":
    main()
