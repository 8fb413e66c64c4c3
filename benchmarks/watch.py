"""Measure a watched vault: from a save to the first hit, idle time, a storm, searches meanwhile.

Times include the quiet time that a watch waits. Only ratios within one run mean anything on a busy
machine. Linux only, because of the processor times.

    python -m benchmarks watch                                  10,000 notes in 1,250 folders
    python -m benchmarks watch --notes 38000 --folders 5000 --saves 500
    python -m benchmarks watch --poll                           scans in place of events
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.figures import latency, machine, seconds, table
from benchmarks.server import Peak, Server, cpu_seconds
from benchmarks.vault import Vault, queries

LOOKS_PER_SECOND = 100
SETTLE_SECONDS = 300.0


def spread(root: Path, notes: int, folders: int) -> list[Path]:
    """Write a vault with its notes spread over so many folders; return their paths."""
    plan = Vault(notes)
    plan.write(root / "flat")
    paths = []
    for number, note in enumerate(sorted((root / "flat").rglob("*.md"))):
        folder = root / f"{number % folders % 70:02}" / f"{number % folders:04}"
        folder.mkdir(parents=True, exist_ok=True)
        paths.append(note.rename(folder / f"{number} {note.name}"))
    for folder in sorted((root / "flat").rglob("*"), reverse=True):
        if folder.is_dir():
            folder.rmdir()
    return paths


def save(path: Path, text: str) -> None:
    """Replace a note as editors do."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)


def finds(server: Server, word: str, path: Path) -> bool:
    """Whether a search finds a word in the note that has it. A similar word finds others."""
    results = server.call("POST", "/search", {"query": word, "limit": 1})["results"]
    return bool(results) and results[0]["path"].endswith(path.name)


def settle(server: Server) -> dict[str, Any]:
    """Wait until nothing waits or runs; return the state of the watch."""
    deadline, quiet = time.perf_counter() + SETTLE_SECONDS, 0
    while quiet < 10:
        if time.perf_counter() > deadline:
            raise SystemExit("The watch does not come to rest.")
        state = server.call("GET", "/watch")
        busy = state["pending"] or server.running_job() or not state["lastScanAt"]
        quiet = 0 if busy else quiet + 1
        time.sleep(0.1)
    return state


def saves(server: Server, paths: list[Path], count: int) -> list[float]:
    """Save a note each second with a word of its own; return the times to its first hit."""
    chance, times = random.Random(1), []
    for number in range(count):
        path, word = chance.choice(paths), f"zq{number}x{os.getpid()}"
        text = path.read_text("utf-8")
        began = time.perf_counter()
        save(path, f"{text}\n{word}\n")
        while not finds(server, word, path):
            time.sleep(1 / LOOKS_PER_SECOND)
            if time.perf_counter() - began > 60:
                raise SystemExit(f"A save was lost: {server.call('GET', '/watch')}")
        times.append(time.perf_counter() - began)
        time.sleep(max(0.0, 1 - times[-1]))
    return times


def searches(server: Server, sent: list[str], duration: float) -> list[float]:
    """Search again and again for some seconds."""
    times, end = [], time.perf_counter() + duration
    while time.perf_counter() < end:
        times.append(server.search(sent[len(times) % len(sent)]))
        time.sleep(1 / LOOKS_PER_SECOND)
    return times


def searches_while_saving(
    server: Server, paths: list[Path], sent: list[str], duration: float
) -> list[float]:
    """Search while another thread saves a note each second."""
    stop = threading.Event()

    def edit() -> None:
        chance = random.Random(2)
        while not stop.wait(1.0):
            path = chance.choice(paths)
            save(path, path.read_text("utf-8") + "\nmore\n")

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        return searches(server, sent, duration)
    finally:
        stop.set()
        editor.join()


def rewrite(paths: list[Path], word: str) -> None:
    """Rewrite notes as a checkout does: unlink and write."""
    for number, path in enumerate(paths):
        text = path.read_text("utf-8")
        path.unlink()
        path.write_text(f"{text}\n{word}{number}\n", "utf-8")


def storm(server: Server, paths: list[Path]) -> float:
    """Rewrite notes at once, and return the seconds until all are found."""
    rewrite(paths, "zswx")
    began = time.perf_counter()
    missing = set(range(len(paths)))
    while missing:
        missing = {at for at in missing if not finds(server, f"zswx{at}", paths[at])}
        if time.perf_counter() - began > SETTLE_SECONDS:
            raise SystemExit(f"{len(missing)} of the rewritten notes are not found.")
    return time.perf_counter() - began


def idle(server: Server, duration: float) -> float:
    """Return the share of a core that is used while nothing happens."""
    server.hang_up()  # the server closes idle connections
    time.sleep(1)
    before = cpu_seconds(server.process.pid)
    time.sleep(duration)
    return (cpu_seconds(server.process.pid) - before) / duration


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--folders", type=int, default=1_250)
    parser.add_argument("--saves", type=int, default=60)
    parser.add_argument("--storm", type=int, default=1_000, help="notes rewritten at once")
    parser.add_argument("--seconds", type=float, default=20, help="of idleness and of searches")
    parser.add_argument("--poll", action="store_true", help="scans in place of events")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder) / "vault", Path(folder) / "home"
        home.mkdir()
        paths = spread(root, options.notes, options.folders)
        sent = queries(Vault(options.notes).vocabulary, 200)
        rewritten = random.Random(3).sample(paths, min(options.storm, len(paths)))
        with Server(root, home) as server:
            server.settle()
            rewrite(rewritten, "zsnx")
            once = server.run("index")
            alone = searches(server, sent, options.seconds)
        mode = "poll" if options.poll else "auto"
        watch = {"VAULT_AGENT_WATCH_ENABLED": "true", "VAULT_AGENT_WATCH_MODE": mode}
        with Server(root, home, **watch) as server:
            state = settle(server)
            peak = Peak()
            peak.sample(server.process.pid)
            rows = [
                ("state", state["state"]),
                ("memory: server", peak.server()),
                ("memory: keeper", peak.below()),
                ("idle, share of a core", f"{idle(server, options.seconds):.2%}"),
            ]
            if not options.poll:
                times = saves(server, paths, options.saves)
                rows.append((f"save to first hit, {len(times)} saves", latency(times)))
            quiet = searches(server, sent, options.seconds)
            saving = searches_while_saving(server, paths, sent, options.seconds)
            settle(server)
            rows += [
                ("search, not watched", latency(alone)),
                ("search, watched and idle", latency(quiet)),
                ("search, a save each second", latency(saving)),
                (f"{len(rewritten):,} notes rewritten at once", seconds(storm(server, rewritten))),
                ("one index run of them", seconds(once)),
            ]
    print(f"{machine()}\n{options.notes:,} notes in {options.folders:,} folders.\n")
    print(table(("what", "value"), *rows))


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, http.client.HTTPException) as error:
        raise SystemExit(f"The server has ended: {error}") from error
