"""A move that is killed at any moment is finished, or was never begun."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults import mover
from tests.writing.opened import QUIET, Vault

REPOSITORY = Path(__file__).parent.parent.parent
KILLS = int(os.environ.get("VAULT_AGENT_TEST_KILLS", "8"))
"""How often the process is killed. More finds rarer faults."""


@pytest.mark.fault(
    "Writing",
    "a process killed in a move of 1,000 notes",
    "finished, or never begun",
)
@pytest.mark.long
async def test_moves_of_a_thousand_notes_that_are_killed(tmp_path: Path):
    await _kill_often(tmp_path, notes=1_000, kills=KILLS, least_halfway=1)


async def test_small_moves_that_are_killed(tmp_path: Path):
    await _kill_often(tmp_path, notes=12, kills=4)


async def _kill_often(folder: Path, *, notes: int, kills: int, least_halfway: int = 0) -> None:
    """Kill a process at random moments of its moves, and check the vault after each recovery.

    Files change in about a fifth of a move, so more kills follow until enough hit that part.
    """
    chance = random.Random(notes)
    vault = Vault(folder, QUIET)
    here = mover.made(notes)
    there = mover.after(here, mover.moved(here))
    for path, data in here.items():
        vault.put(path, data)
    move = _killed_after(folder)
    halfway = 0
    slowest = 0.0
    for number in range(10 * kills):
        if number >= kills and halfway >= least_halfway:
            break
        _killed_after(folder, chance.uniform(0, 2 * move))
        halfway += _notes(vault) not in (here, there)
        started = time.process_time()
        async with vault.opened():
            pass
        slowest = max(slowest, time.process_time() - started)
        tree = vault.tree()
        assert vault.temporaries() == []
        assert tree in (here, there), "half a move"
    print(f"{number} kills, {halfway} of them half way; recovery {slowest:.1f} s CPU at most")
    assert halfway >= least_halfway


def _notes(vault: Vault) -> dict[str, bytes]:
    return {path: data for path, data in vault.tree().items() if path.endswith(".md")}


def _killed_after(folder: Path, seconds: float | None = None) -> float:
    """Kill a moving process after so many seconds, or after its first move. Return the seconds."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.mover", str(folder)],
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
    )
    try:
        assert process.stdout.readline() == b"ready\n"
        began = time.monotonic()
        if seconds is None:
            assert process.stdout.readline() == b"moved\n"
        else:
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
                pytest.fail("the process ended by itself")
        return time.monotonic() - began
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
