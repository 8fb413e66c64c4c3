"""The indexing process as managed by the server."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.product.processes import alive
from tests.support.clocks import PATIENCE
from tests.support.systems import posix
from tests.support.waiting import eventually_async

from vault_agent.errors import Failed
from vault_agent.indexing.protocol import (
    Compare,
    Compared,
    Crashed,
    Event,
    IndexSpec,
    LaidOut,
    LayOut,
    Phase,
    RunResult,
    UpdateIndex,
)
from vault_agent.model.jobs import JobSummary
from vault_agent.system.child import encode
from vault_agent.system.crash import CrashReport
from vault_agent.vault.paths import Exclusions
from vault_agent.vaults.indexer import MANY_NOTES, Indexer
from vault_agent.vaults.runs import Background

SPEC = IndexSpec(
    root="/vault",
    directory="/index",
    identity="id",
    exclusions=Exclusions(),
    max_note_bytes=1,
    parallel=1,
)
_SPEAKS = """
import os, sys, time
from vault_agent.system.child import read_message
pids = sys.argv[1]
with open(pids, "a") as file: file.write(f"{os.getpid()}\\n")
def say(line): sys.stdout.buffer.write(line); sys.stdout.buffer.flush()
def requests():
    while True: yield read_message(sys.stdin.buffer)
"""


def spoken(event: Event) -> str:
    return f"say({encode(event)!r})"


DISK_FULL = spoken(Failed("DISK_FULL", "Full."))
DONE = spoken(RunResult(JobSummary(added=1), 1, 1))
ANSWERS = f"""
for request in requests():
    kind = type(request).__name__
    if kind == "UpdateIndex": {DONE}
    if kind == "Compare": {spoken(Compared(stale=True))}
    if kind == "LayOut": {spoken(LaidOut(1, 1))}
"""


class Kept:
    """A keeper whose processes run a test's own source code."""

    def __init__(self, folder: Path, source: str, *arguments: str) -> None:
        self._pids = folder / "pids"
        self.crashes: list[tuple[str, CrashReport]] = []
        self.background = Background(lambda report: self.crashes.append(("server", report)))
        command = (sys.executable, "-I", "-c", _SPEAKS + source, str(self._pids), *arguments)
        self.indexer = Indexer(lambda *crash: self.crashes.append(crash), command=command)

    @property
    def pids(self) -> list[int]:
        """Return the IDs of the started processes."""
        return [int(pid) for pid in self._pids.read_text().split()] if self._pids.exists() else []

    async def started(self, processes: int) -> None:
        """Wait until a number of processes have started."""
        await eventually_async(lambda: len(self.pids) >= processes)

    async def run(self, task: IndexSpec = SPEC) -> Any:
        return await self.indexer.run(UpdateIndex(task), lambda _: None)


@pytest.fixture
def speaking(tmp_path: Path) -> Any:
    """Return a function that opens a keeper whose processes run a source."""

    @asynccontextmanager
    async def opened(source: str, *arguments: str) -> AsyncIterator[Kept]:
        kept = Kept(tmp_path, source, *arguments)
        try:
            async with kept.background:
                yield kept
        finally:
            await kept.indexer.close()
            assert not [pid for pid in kept.pids if alive(pid)]

    return opened


async def test_a_process_that_ends_by_itself_is_not_killed(
    tmp_path: Path, speaking: Any, monkeypatch: pytest.MonkeyPatch
):
    """A kill at its end would lose its exit status, and asyncio would warn."""
    monkeypatch.setattr("vault_agent.system.processes._SECONDS_TO_END", PATIENCE)
    ended = tmp_path / "ended"
    source = (
        f"next(requests()); {DISK_FULL}\nsys.stdin.read()\ntime.sleep(0.1)\n"
        "open(sys.argv[2], 'w').close()"
    )
    async with speaking(source, str(ended)) as kept:
        with pytest.raises(Failed, match="DISK_FULL"):
            await kept.run()
    assert ended.exists()


async def test_no_run_is_given_to_a_process_in_which_a_run_has_failed(speaking: Any):
    """Threads of the full-text engine may still be at work there."""
    async with speaking(f"for _ in requests(): {DISK_FULL}") as kept:
        for _ in range(2):
            with pytest.raises(Failed, match="DISK_FULL"):
                await kept.run()
        assert len(kept.pids) > 1


async def test_runs_and_checks_share_one_process(speaking: Any):
    async with speaking(ANSWERS) as kept:
        for _ in range(3):
            assert (await kept.run()).summary == JobSummary(added=1)
            assert await kept.indexer.ask(Compare(SPEC)) == Compared(stale=True)
            assert await kept.indexer.ask(LayOut(SPEC)) == LaidOut(1, 1)
        assert len(kept.pids) == 1


async def test_concurrent_runs_take_turns(speaking: Any):
    """Each run starts after the previous one has ended, in the same process."""
    source = f"""
for request in requests():
    {spoken(Phase("scan", 0, None))}
    time.sleep(0.1)
    {spoken(Phase("store", 0, None))}
    {DONE}
"""
    heard: list[str] = []
    async with speaking(source) as kept:
        await asyncio.gather(
            *(
                kept.indexer.run(UpdateIndex(SPEC), lambda event: heard.append(event.name))
                for _ in "abc"
            )
        )
        assert heard == ["scan", "store"] * 3
        assert len(kept.pids) == 1


async def test_a_process_that_uses_much_memory_is_not_kept(speaking: Any):
    large = spoken(RunResult(JobSummary(added=MANY_NOTES + 1), 1, 1))
    async with speaking(ANSWERS.replace(DONE, large)) as kept:
        await kept.run()
        assert not alive(kept.pids[0])
        assert await kept.indexer.ask(LayOut(SPEC)) == LaidOut(1, 1)
        assert len(kept.pids) == 2


async def test_a_late_answer_is_not_used_for_the_next_request(speaking: Any):
    source = ANSWERS.replace('kind == "Compare": ', 'kind == "Compare": time.sleep(0.5); ')
    async with speaking(source) as kept:
        asking = asyncio.create_task(kept.indexer.ask(Compare(SPEC)))
        await asyncio.sleep(0.2)
        asking.cancel()
        await asyncio.wait([asking])
        assert await kept.indexer.ask(LayOut(SPEC)) == LaidOut(1, 1)


async def test_a_hanging_process_is_killed(speaking: Any):
    async with asyncio.timeout(PATIENCE):
        async with speaking(f"next(requests()); {DISK_FULL}\ntime.sleep(600)") as kept:
            with pytest.raises(Failed, match="DISK_FULL"):
                await kept.run()


async def test_a_cancelled_run_ends_its_process_and_the_next_starts_another(speaking: Any):
    source = ANSWERS.replace(DONE, "time.sleep(600)")
    async with asyncio.timeout(PATIENCE):
        async with speaking(source) as kept:
            running = asyncio.create_task(kept.run())
            await kept.started(1)
            await asyncio.sleep(0.1)
            running.cancel()
            await asyncio.wait([running])
            assert running.cancelled()
            assert not alive(kept.pids[0])
            assert await kept.indexer.ask(Compare(SPEC)) == Compared(stale=True)


async def test_a_job_does_not_wait_for_a_hanging_check(speaking: Any):
    source = ANSWERS.replace('kind == "Compare": ', 'kind == "Compare": time.sleep(600); ')
    async with asyncio.timeout(PATIENCE):
        async with speaking(source) as kept:
            asking = asyncio.create_task(kept.indexer.ask(Compare(SPEC)))
            await kept.started(1)
            assert (await kept.run()).revision == 1
            assert not asking.done()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await kept.run()
            assert len(kept.pids) == 2


@pytest.mark.fault(
    "Jobs",
    "questions, runs and a stop at the same time",
    "no process is left behind",
)
@pytest.mark.parametrize("seed", range(4))
async def test_concurrent_checks_and_runs_leave_no_process(speaking: Any, seed: int):
    """Checks, cancellations and process starts while the server stops."""
    source = ANSWERS.replace("    kind =", "    time.sleep(0.02)\n    kind =")
    async with speaking(source) as kept:
        for turn in range(4):
            works: list[Coroutine[Any, Any, Any]] = [
                *(kept.indexer.ask(question) for question in (Compare(SPEC), LayOut(SPEC))),
                *(kept.run() for _ in range(2)),
            ]
            tasks = [asyncio.create_task(work) for work in works]
            await asyncio.sleep(0.03 * ((seed + turn) % 5))
            tasks[(seed + turn) % len(tasks)].cancel()
            if turn == 3:
                break
            await asyncio.wait(tasks)
            await kept.started(1)
            living = [pid for pid in kept.pids if alive(pid)]
            assert len(living) <= 2
        await kept.indexer.close()  # while they run
        await asyncio.wait(tasks)


@pytest.mark.fault(
    "Jobs",
    "the idle indexing process dies",
    "the next run or question starts another one, and does not fail",
)
@posix("signals of POSIX")
async def test_a_run_succeeds_after_the_idle_process_died(speaking: Any):
    async with speaking(ANSWERS) as kept:
        await kept.run()
        os.kill(kept.pids[0], signal.SIGKILL)
        assert (await kept.run()).revision == 1


@pytest.mark.fault(
    "Jobs",
    "the indexing process dies in the middle of a message",
    "the run fails with `INDEXER_FAILED`",
)
async def test_a_message_that_is_cut_short_is_the_end_of_its_process(speaking: Any):
    cut = DONE.replace("say(", "say((").replace("')", "')[:-9])")
    async with speaking(f"next(requests()); {cut}") as kept:
        with pytest.raises(Failed, match="INDEXER_FAILED"):
            await kept.run()


async def test_a_worker_crash_is_reported_and_the_run_continues(speaking: Any):
    report = CrashReport("MemoryError")
    source = ANSWERS.replace(DONE, f"{spoken(Crashed('worker', report))}; {DONE}")
    async with speaking(source) as kept:
        assert (await kept.run()).revision == 1
        assert kept.crashes == [("worker", report)]


def test_the_event_loop_can_end_before_grandchild_processes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    heir = [sys.executable, "-c", "import time; time.sleep(3)"]
    source = f"import subprocess\nsubprocess.Popen({heir!r})\nnext(requests()); {DISK_FULL}"

    async def fail() -> None:
        kept = Kept(tmp_path, source)
        async with kept.background:
            with pytest.raises(Failed, match="DISK_FULL"):
                await kept.run()
        await kept.indexer.close()

    asyncio.run(fail())
    gc.collect()
    assert capfd.readouterr().err == ""


async def test_a_failed_background_task_does_not_affect_others():
    crashes: list[CrashReport] = []

    async def fail(error: Exception) -> None:
        raise error

    reached = asyncio.Event()

    async def go_on() -> None:
        await asyncio.sleep(0.05)
        reached.set()

    async with Background(crashes.append) as background:
        background.spawn(fail, ValueError("secret canary"))
        background.spawn(fail, Failed("DISK_FULL", "no room"))
        background.spawn(go_on)
        await reached.wait()
    assert [crash.error_type for crash in crashes] == ["ValueError"]
    assert "canary" not in str(crashes)
