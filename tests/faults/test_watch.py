"""A watched vault under storms, kills and stops: nothing is lost, and everything is announced."""

from __future__ import annotations

import errno
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.test_server import NEEDS_COMPILER, preload
from tests.product.processes import indexers_of
from tests.support.clocks import PATIENCE
from tests.support.program import Program
from tests.support.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="stops processes as on Linux")
WORDS = ("quince", "pear", "apple", "plum", "medlar")


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with Program(tmp_path) as made:
        made.variables["COLUMNS"] = "80"
        yield made


def start(program: Program, **settings: object) -> None:
    """Start a watching server, and wait until it has looked at everything."""
    for name, value in {"enabled": "true", **settings}.items():
        program.variables[f"VAULT_AGENT_WATCH_{name.upper()}"] = str(value)
    program.start()
    eventually(lambda: watch(program)["lastScanAt"])


def watch(program: Program) -> dict:
    return program.call("GET", "/watch").data


def settle(program: Program) -> None:
    """Wait until the watch has nothing to do."""
    quiet = 0
    last = None
    while quiet < 8:
        state = watch(program)
        same = state["lastRunAt"] == last and not state["pending"]
        same = same and state["state"] in ("watching", "polling")
        last, quiet = state["lastRunAt"], quiet + 1 if same else 0
        time.sleep(0.3)


def assert_nothing_is_left_to_find(program: Program) -> None:
    summary = program.index()["summary"]
    assert [summary[name] for name in ("added", "changed", "removed", "renamed")] == [0, 0, 0, 0]


def check_a_checkout(program: Program, *, notes: int) -> None:
    """Rewrite, move and remove notes at once, as a checkout of another branch does."""
    for number in range(notes):
        program.write(f"{number % 7}/{number}.md", f"# {number}\n\n{WORDS[number % 5]}\n")
    start(program)
    root = program.vault
    for number in range(notes):
        path = root / f"{number % 7}/{number}.md"
        path.unlink()
        if number % 10 == 1:
            program.write(f"moved/{number}.md", f"# {number}\n\n{WORDS[number % 5]}\n")
        elif number % 10 > 1:
            path.write_text(f"# {number}\n\nfig{number}\n")
    eventually(lambda: program.search(f"fig{notes - 1}").data["results"])
    settle(program)
    assert program.call("GET", "/health").data["index"]["notes"] == notes - notes // 10
    assert_nothing_is_left_to_find(program)


@pytest.mark.fault(
    "Watching",
    "a checkout rewrites, moves and removes many notes",
    "a scan afterwards finds nothing",
)
@pytest.mark.long
@pytest.mark.parametrize("notes", [200, 5_000])
def test_a_checkout_loses_nothing(program: Program, notes: int):
    check_a_checkout(program, notes=notes)


def check_random_edits(program: Program, *, rounds: int, seed: int) -> None:
    """Edit at random while processes are killed and stopped; then nothing is left to find."""
    chance = random.Random(seed)
    root = program.vault
    program.fill(100)
    start(program, rescan_seconds=30)
    stopped: list[int] = []
    for _ in range(rounds):
        name = f"{chance.randrange(40)}.md"
        path, other = root / name, root / f"{chance.randrange(3)}" / name
        with suppress(FileNotFoundError):
            match chance.randrange(6):
                case 0:
                    path.unlink()
                case 1:
                    other.parent.mkdir(exist_ok=True)
                    path.rename(other)
                case 2:
                    other.unlink()
                case _:
                    program.write(name, f"{chance.choice(WORDS)} {chance.random()}")
        time.sleep(chance.random() / 4)
        fate = chance.random()
        with suppress(ProcessLookupError):
            if fate < 0.08:
                for pid in indexers_of(program):
                    os.kill(pid, signal.SIGKILL)
            elif fate < 0.12 and not stopped:
                stopped = indexers_of(program)
                for pid in stopped:
                    os.kill(pid, signal.SIGSTOP)
            elif fate < 0.3 and stopped:
                for pid in stopped:
                    os.kill(pid, signal.SIGCONT)
                stopped = []
    for pid in stopped:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    settle(program)
    time.sleep(33)  # one scan beside the events
    settle(program)
    assert_nothing_is_left_to_find(program)
    assert program.call("GET", "/health").data["watch"]["state"] == "watching"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_kills_and_stops_lose_no_change(program: Program, seed: int):
    check_random_edits(program, rounds=400, seed=seed)


def test_the_commands_tell_how_the_vault_is_watched(program: Program):
    program.write("Frost.md", "late frost")
    program.start()
    assert "vault-agent enable watch" in program.run("doctor").stdout
    program.stop()
    start(program)
    program.write("Pear.md", "pears")
    eventually(lambda: program.search("pears").data["results"])
    assert "watch       on, by events\n" in program.run("status").stdout


@pytest.mark.fault(
    "Agents",
    "50,000 files are written while the server stands still; a million events of "
    "excluded paths; a full disk during a run",
    "all are found; no run; the watch goes on when there is room",
)
@pytest.mark.long
def test_files_written_while_the_server_stands_still_are_found(program: Program):
    """More than the system's queue holds."""
    program.fill(10)
    start(program)
    stopped = [program.server.pid, *indexers_of(program)]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    for number in range(50_000):
        program.write(f"{number % 100}/{number}.md", f"quince {number}\n")
    for pid in stopped:
        with suppress(ProcessLookupError):  # the server replaces a keeper that stands still
            os.kill(pid, signal.SIGCONT)
    eventually(
        lambda: program.call("GET", "/health").data["index"]["notes"],
        lambda notes: notes == 50_010,
        seconds=4 * PATIENCE,
    )
    settle(program)
    assert_nothing_is_left_to_find(program)


def check_events_that_do_not_matter(program: Program, *, events: int) -> None:
    for folder in (".git", "node_modules"):
        (program.vault / folder).mkdir()
    program.write("Frost.md", "late frost")
    start(program, rescan_seconds=3600)
    before = watch(program)["lastRunAt"]
    touched = [program.vault / folder / "index.md" for folder in (".git", "node_modules")]
    for number in range(events // 2):
        for path in touched:
            path.write_bytes(b"%d" % number)
    assert watch(program)["lastRunAt"] == before
    program.write("Pear.md", "pears")
    eventually(lambda: program.search("pears").data["results"])
    assert watch(program)["state"] == "watching"


@pytest.mark.long
def test_a_million_events_of_excluded_paths_start_no_run(program: Program):
    check_events_that_do_not_matter(program, events=1_000_000)


@NEEDS_COMPILER
@pytest.mark.long
def test_a_full_disk_pauses_the_watch_until_there_is_room(program: Program, tmp_path: Path):
    switch = preload(program, tmp_path, errno.ENOSPC)
    program.write("Frost.md", "late frost")
    start(program)
    switch.touch()
    program.write("Pear.md", "pears")
    eventually(lambda: watch(program)["pending"])
    time.sleep(2)  # a run has failed by then
    assert program.search("frost").data["results"]
    switch.unlink()
    eventually(lambda: program.search("pears").data["results"])
    eventually(lambda: watch(program)["pending"], lambda pending: pending == 0)
    assert_nothing_is_left_to_find(program)
