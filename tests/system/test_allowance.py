"""Work on hostile texts costs the process that asks for it little, and ends when it should."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.errors import NotFound
from vault_agent.system import allowance as allowances
from vault_agent.system.allowance import MEDIUM_BYTES, SMALL_BYTES, Allowance
from vault_agent.system.workers import WorkerCrashed, WorkerTimedOut

LARGE = SMALL_BYTES + 1
SOON_SLOW = 0.25
"""Seconds of processor time, enough for a worker to start and to do what is quick."""


def process_of(_text: str) -> int:
    """Return the process that does the work."""
    return os.getpid()


def spin(path: str) -> None:
    """Say which process works, in a file, and never end."""
    Path(path).write_text(f"{os.getpid()}\n", encoding="ascii")
    while True:
        pass


def refuse(_text: str) -> None:
    """Refuse the text."""
    raise NotFound("HEADING_NOT_FOUND", "No such heading.", {"headings": ["# A"]})


async def started(path) -> int:
    """Wait until `spin` works, and return its process."""
    async with asyncio.timeout(PATIENCE):
        while not path.exists() or not path.read_text().endswith("\n"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return int(path.read_text())


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_small_texts_stay_in_this_process_and_large_ones_leave_it():
    async with Allowance() as allowance:
        assert await allowance.run(SMALL_BYTES, process_of, "x") == os.getpid()
        assert await allowance.run(LARGE, process_of, "x") != os.getpid()


async def test_work_beyond_its_processor_time_ends(tmp_path):
    async with Allowance(cpu_seconds=0.2) as allowance:
        with pytest.raises(WorkerTimedOut):
            await allowance.run(LARGE, spin, str(tmp_path / "spin"))
        assert is_gone(await started(tmp_path / "spin"))
        assert await allowance.run(LARGE, process_of, "x") != os.getpid()


async def test_abandoned_work_ends_and_holds_nobody_up(tmp_path):
    async with Allowance(cpu_seconds=PATIENCE) as allowance:
        places = [tmp_path / str(number) for number in range(2)]
        tasks = [asyncio.create_task(allowance.run(LARGE, spin, str(each))) for each in places]
        waiting = [asyncio.create_task(allowance.run(LARGE, spin, "x")) for _ in range(6)]
        pids = [await started(each) for each in places]
        # Reading small notes and the threads that all others use are free meanwhile.
        assert await allowance.run(1, process_of, "x") == os.getpid()
        assert await asyncio.to_thread(os.getpid) == os.getpid()
        for task in (*waiting, *tasks):
            task.cancel()
        await asyncio.wait([*waiting, *tasks])
        assert all(map(is_gone, pids))
        assert await allowance.run(LARGE, process_of, "x") != os.getpid()


@pytest.mark.fault(
    "Note contents",
    "several large hostile notes are shown or edited at once, or given up and asked for again",
    "work of over a second goes on apart; other large notes are handled meanwhile",
)
async def test_slow_work_holds_up_no_quick_work(tmp_path, monkeypatch):
    """Not even if there is more of it than processes, or if it is given up and asked for again."""
    monkeypatch.setattr(allowances, "QUICK_SECONDS", SOON_SLOW)
    async with Allowance(cpu_seconds=PATIENCE) as allowance:
        places = [tmp_path / str(number) for number in range(4)]
        tasks = [asyncio.create_task(allowance.run(LARGE, spin, str(each))) for each in places]
        async with asyncio.timeout(PATIENCE):
            for each in places:
                await started(each)
            assert await allowance.run(LARGE, process_of, "x") != os.getpid()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            for each in places:
                each.unlink()
            again = [asyncio.create_task(allowance.run(LARGE, spin, str(each))) for each in places]
            while sum(each.exists() for each in places) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            for number in range(4):
                await allowance.run(LARGE, process_of, f"x{number}")
            assert sum(each.exists() for each in places) == 2  # the slow ones take turns
        for task in again:
            task.cancel()
        await asyncio.wait(again)


async def test_work_on_a_large_text_does_not_wait_for_larger_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(allowances, "QUICK_SECONDS", PATIENCE)
    async with Allowance(cpu_seconds=PATIENCE) as allowance, asyncio.timeout(PATIENCE):
        places = [tmp_path / str(number) for number in range(3)]
        larger = MEDIUM_BYTES + 1
        tasks = [asyncio.create_task(allowance.run(larger, spin, str(each))) for each in places]
        await started(places[0])
        assert await allowance.run(MEDIUM_BYTES, process_of, "x") != os.getpid()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def test_what_only_waited_for_slow_work_is_not_slow_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(allowances, "QUICK_SECONDS", SOON_SLOW)
    async with Allowance(cpu_seconds=PATIENCE) as allowance:
        places = [tmp_path / str(number) for number in range(4)]
        slow = [asyncio.create_task(allowance.run(LARGE, spin, str(each))) for each in places]
        for each in places[:2]:
            await started(each)
        waiting = asyncio.create_task(allowance.run(LARGE, process_of, "x"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        async with asyncio.timeout(PATIENCE):
            for each in places:
                await started(each)
            assert await allowance.run(LARGE, process_of, "x") != os.getpid()
        for task in slow:
            task.cancel()
        await asyncio.wait(slow)


async def test_a_stop_waits_for_no_work(tmp_path):
    async with Allowance(cpu_seconds=PATIENCE) as allowance:
        task = asyncio.create_task(allowance.run(LARGE, spin, str(tmp_path / "spin")))
        pid = await started(tmp_path / "spin")
    assert is_gone(pid)
    with pytest.raises(WorkerCrashed):
        await task


@pytest.mark.parametrize("size", [SMALL_BYTES, LARGE])
async def test_an_error_keeps_its_class_its_code_and_its_details(size: int):
    async with Allowance() as allowance:
        with pytest.raises(NotFound) as refused:
            await allowance.run(size, refuse, "x")
    assert refused.value.code == "HEADING_NOT_FOUND"
    assert refused.value.details == {"headings": ["# A"]}
    assert refused.value.message.count("No such heading.") == 1
