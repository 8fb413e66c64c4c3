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
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.server import PROGRAM, Server, cpu_seconds, descendants
from benchmarks.vault import Vault, queries

LOOKS_PER_SECOND = 100
SETTLE_SECONDS = 300.0


def spread(root: Path, notes: int, folders: int) -> list[Path]:
    """Write a vault with its notes spread over so many folders; return their paths."""
    plan = Vault(notes)
    plan.write(root / "flat")
    found = sorted((root / "flat").rglob("*.md"))
    paths = []
    for number, note in enumerate(found):
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


def percentiles(seconds: list[float]) -> str:
    """Return p50, p99 and the maximum in milliseconds."""
    ordered = sorted(seconds)
    late = ordered[-(len(ordered) // 100) - 1]
    return (
        f"p50 {statistics.median(ordered) * 1e3:.0f} ms, p99 {late * 1e3:.0f} ms, "
        f"longest {ordered[-1] * 1e3:.0f} ms"
    )


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


def searches(server: Server, sent: list[str], seconds: float) -> list[float]:
    """Search again and again for some seconds."""
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        times.append(server.search(sent[len(times) % len(sent)]))
        time.sleep(1 / LOOKS_PER_SECOND)
    return times


def searches_while_saving(
    server: Server, paths: list[Path], sent: list[str], seconds: float
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
        return searches(server, sent, seconds)
    finally:
        stop.set()
        editor.join()


def rewrite(paths: list[Path], word: str) -> None:
    """Rewrite notes as a checkout does: unlink and write."""
    for number, path in enumerate(paths):
        text = path.read_text("utf-8")
        path.unlink()
        path.write_text(f"{text}\n{word}{number}\n", "utf-8")


def storm(server: Server, paths: list[Path], *, watched: bool) -> float:
    """Rewrite notes at once, and return the seconds until all are found.

    Without a watch, the time of one index run.
    """
    word = f"zs{'w' if watched else 'n'}x"
    rewrite(paths, word)
    began = time.perf_counter()
    if not watched:
        server.run("index")
        return time.perf_counter() - began
    missing = set(range(len(paths)))
    while missing:
        missing = {
            number for number in missing if not finds(server, f"{word}{number}", paths[number])
        }
        if time.perf_counter() - began > SETTLE_SECONDS:
            raise SystemExit(f"{len(missing)} of the rewritten notes are not found.")
    return time.perf_counter() - began


def switches(server: Server) -> int:
    """Return how often the threads of the server and its processes have been switched so far."""
    count = 0
    for pid in (server.process.pid, *descendants(server.process.pid)):
        for status in Path(f"/proc/{pid}/task").glob("*/status"):
            lines = status.read_text().splitlines()
            count += sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return count


def idle(server: Server, seconds: float) -> tuple[float, int]:
    """Return the share of a core that is used while nothing happens, and context switches."""
    server.hang_up()  # the server closes idle connections
    time.sleep(1)
    before, switched = cpu_seconds(server.process.pid), switches(server)
    time.sleep(seconds)
    return (cpu_seconds(server.process.pid) - before) / seconds, switches(server) - switched


def memory(server: Server) -> str:
    """Return the resident set size of the server and of each process below it, in MB."""
    found, total = [], 0
    for pid in (server.process.pid, *descendants(server.process.pid)):
        command = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        name = "keeper" if "keeper" in command else "worker"
        name = "server" if pid == server.process.pid else name
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        [kilobytes] = [line.split()[1] for line in rollup.splitlines() if line.startswith("Rss:")]
        found.append(f"{name} {int(kilobytes) >> 10} MB")
        total += int(kilobytes) >> 10
    return f"{total} MB in {len(found)} processes: {', '.join(sorted(found))}"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--notes", type=int, default=10_000)
    options.add_argument("--folders", type=int, default=1_250)
    options.add_argument("--saves", type=int, default=60)
    options.add_argument("--storm", type=int, default=1_000, help="notes rewritten at once")
    options.add_argument("--seconds", type=float, default=20, help="of idleness and of searches")
    options.add_argument("--poll", action="store_true")
    options.add_argument("--program", default=PROGRAM, help="the `vault-agent` to measure")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder) / "vault", Path(folder) / "home"
        home.mkdir()
        paths = spread(root, given.notes, given.folders)
        sent = queries(Vault(given.notes).vocabulary, 200)
        rewritten = random.Random(3).sample(paths, min(given.storm, len(paths)))
        with Server(root, home, given.program) as server:
            while server.running_job():
                time.sleep(0.2)
            once = storm(server, rewritten, watched=False)
            alone = searches(server, sent, given.seconds)
        mode = "poll" if given.poll else "auto"
        watch = {"VAULT_AGENT_WATCH_ENABLED": "true", "VAULT_AGENT_WATCH_MODE": mode}
        with Server(root, home, given.program, **watch) as server:
            state = settle(server)
            print(f"{given.notes:,} notes, {given.folders:,} folders, {state['state']}")
            share, switched = idle(server, given.seconds)
            print(f"idle: {share:.2%} of a core, {switched} context switches in {given.seconds} s")
            print(f"memory: {memory(server)}")
            if not given.poll:
                times = saves(server, paths, given.saves)
                print(f"save to first hit: {percentiles(times)} ({len(times)} saves)")
            quiet = searches(server, sent, given.seconds)
            saving = searches_while_saving(server, paths, sent, given.seconds)
            print(f"search, not watched: {percentiles(alone)}")
            print(f"search, watched and idle: {percentiles(quiet)}")
            print(f"search, a save each second: {percentiles(saving)}")
            settle(server)
            seconds = storm(server, rewritten, watched=True)
            print(
                f"storm of {len(rewritten):,} rewritten notes: {seconds:.1f} s;"
                f" one index run of them: {once:.1f} s"
            )


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, http.client.HTTPException) as error:
        raise SystemExit(f"The server has ended: {error}") from error
