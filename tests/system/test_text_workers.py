"""Work on hostile texts costs the process that asks for it little, and ends when it should."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.support.processes import is_gone

from vault_agent.errors import NotFound
from vault_agent.system.workers import SMALL_BYTES, TextWorkers, WorkerCrashed, WorkerTimedOut

LARGE = SMALL_BYTES + 1


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


async def test_small_texts_stay_in_this_process_and_large_ones_leave_it():
    async with TextWorkers() as text_workers:
        assert await text_workers.run(SMALL_BYTES, process_of, "x") == os.getpid()
        assert await text_workers.run(LARGE, process_of, "x") != os.getpid()


async def test_work_beyond_its_processor_time_ends(tmp_path):
    async with TextWorkers(cpu_seconds=PATIENCE) as text_workers:
        await text_workers.run(LARGE, process_of, "x")  # this imports the module
        text_workers._cpu_seconds = 0.2
        with pytest.raises(WorkerTimedOut):
            await text_workers.run(LARGE, spin, str(tmp_path / "spin"))
        assert is_gone(await started(tmp_path / "spin"))
        text_workers._cpu_seconds = PATIENCE
        assert await text_workers.run(LARGE, process_of, "x") != os.getpid()


@pytest.mark.fault(
    "Note contents",
    "several large hostile notes are shown or edited at once, and given up",
    "their work ends; small notes are handled meanwhile",
)
async def test_abandoned_work_ends_and_holds_nobody_up(tmp_path):
    async with TextWorkers(cpu_seconds=PATIENCE) as text_workers:
        places = [tmp_path / str(number) for number in range(2)]
        tasks = [asyncio.create_task(text_workers.run(LARGE, spin, str(each))) for each in places]
        waiting = [asyncio.create_task(text_workers.run(LARGE, spin, "x")) for _ in range(6)]
        pids = [await started(each) for each in places]
        # Reading small notes and the threads that all others use are free meanwhile.
        assert await text_workers.run(1, process_of, "x") == os.getpid()
        assert await asyncio.to_thread(os.getpid) == os.getpid()
        for task in (*waiting, *tasks):
            task.cancel()
        await asyncio.wait([*waiting, *tasks])
        assert all(map(is_gone, pids))
        assert await text_workers.run(LARGE, process_of, "x") != os.getpid()


async def test_a_stop_waits_for_no_work(tmp_path):
    async with TextWorkers(cpu_seconds=PATIENCE) as text_workers:
        task = asyncio.create_task(text_workers.run(LARGE, spin, str(tmp_path / "spin")))
        pid = await started(tmp_path / "spin")
    assert is_gone(pid)
    with pytest.raises(WorkerCrashed):
        await task


@pytest.mark.parametrize("size", [SMALL_BYTES, LARGE])
async def test_an_error_keeps_its_class_its_code_and_its_details(size: int):
    async with TextWorkers() as text_workers:
        with pytest.raises(NotFound) as refused:
            await text_workers.run(size, refuse, "x")
    assert refused.value.code == "HEADING_NOT_FOUND"
    assert refused.value.details == {"headings": ["# A"]}
    assert refused.value.message.count("No such heading.") == 1
