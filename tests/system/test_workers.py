"""Workers: a crash or hang affects only its task."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable

import pytest
from tests.support.clocks import PATIENCE
from tests.support.processes import is_gone
from tests.support.systems import posix
from tests.support.waiting import eventually_async

from vault_agent.system import workers
from vault_agent.system.workers import (
    MEMORY_LIMIT_BYTES,
    WorkerCrashed,
    WorkerNotReady,
    WorkerPool,
    WorkerTimedOut,
)


def shouting(suffix: str) -> Callable[[str], str]:
    """Set up a worker that returns upper case and fails for some words."""

    def handle(word: str) -> str:
        if word == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "hang":
            time.sleep(600)
        if word == "spin":
            spin()
        if word == "wait":
            time.sleep(0.4)
        if word == "fail":
            raise ValueError("secret canary")
        if word == "pid":
            return str(os.getpid())
        if word == "limit":
            import resource

            return str(resource.getrlimit(resource.RLIMIT_AS)[0])
        if word == "eat":
            return str(len(bytearray(64 << 30)))
        return word.upper() + suffix

    return handle


def spin() -> None:
    """Use the CPU forever."""
    while True:
        pass


def unable_to_start() -> Callable[[str], str]:
    """Fail before the handler is ready."""
    raise ValueError("secret canary")


def slow_to_start() -> Callable[[str], str]:
    """Set up a worker whose start takes longer than a task may."""
    time.sleep(0.5)
    return str.lower


@pytest.fixture
def pool() -> WorkerPool[str, str]:
    return WorkerPool(shouting, ("!",), size=2)


async def test_tasks_are_answered_and_workers_reused(pool: WorkerPool[str, str]):
    async with pool:
        assert await pool.run("a", cpu_seconds=PATIENCE) == "A!"
        first = await pool.run("pid", cpu_seconds=PATIENCE)
        assert await pool.run("pid", cpu_seconds=PATIENCE) == first


@posix("signals of POSIX")
async def test_a_dead_worker_loses_one_task(pool: WorkerPool[str, str]):
    async with pool:
        with pytest.raises(WorkerCrashed):
            await pool.run("die", cpu_seconds=PATIENCE)
        assert await pool.run("b", cpu_seconds=PATIENCE) == "B!"


@posix("signals of POSIX")
async def test_a_dead_idle_worker_is_replaced(pool: WorkerPool[str, str]):
    async with pool:
        pid = int(await pool.run("pid", cpu_seconds=PATIENCE))
        os.kill(pid, signal.SIGKILL)
        await eventually_async(lambda: not pool._idle[0].is_alive)
        assert await pool.run("b", cpu_seconds=PATIENCE) == "B!"


async def test_a_pool_grows_and_ends_idle_workers(pool: WorkerPool[str, str]):
    async with pool:
        pool.resize(3)
        pids = {int(pid) for pid in await asyncio.gather(*map(pid_of, [pool] * 3))}
        assert len(pids) == 3
        await pool.trim(1)
        left = await eventually_async(
            lambda: [pid for pid in pids if not is_gone(pid)], lambda left: len(left) == 1
        )
        assert int(await pid_of(pool)) == left[0]


async def pid_of(pool: WorkerPool[str, str]) -> str:
    return await pool.run("pid", cpu_seconds=PATIENCE)


@pytest.mark.fault(
    "Note contents",
    "a machine is busy while a note is parsed",
    "the worker's CPU time counts, not the wait",
)
async def test_waiting_does_not_count_as_cpu_time(
    pool: WorkerPool[str, str], monkeypatch: pytest.MonkeyPatch
):
    """On a busy machine a worker waits for the CPU, which must not count."""
    monkeypatch.setattr(workers, "WALL_FACTOR", PATIENCE / 0.2)
    async with pool:
        assert await pool.run("a", cpu_seconds=PATIENCE) == "A!"
        assert await pool.run("wait", cpu_seconds=0.2) == "WAIT!"


async def test_a_worker_over_its_cpu_time_is_killed(pool: WorkerPool[str, str]):
    async with pool:
        pid = int(await pid_of(pool))
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(WorkerTimedOut):
                await pool.run("spin", cpu_seconds=0.2)
        await eventually_async(lambda: is_gone(pid))


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_worker_that_only_waits_is_killed(
    pool: WorkerPool[str, str], monkeypatch: pytest.MonkeyPatch, is_known: bool
):
    if not is_known:
        monkeypatch.setattr(workers, "cpu_seconds", lambda _: None)
    async with pool:
        await pool.run("a", cpu_seconds=PATIENCE)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(WorkerTimedOut):
                await pool.run("hang", cpu_seconds=0.02)


async def test_a_worker_error_is_reported_by_type_and_line_only(pool: WorkerPool[str, str]):
    async with pool:
        with pytest.raises(WorkerCrashed) as crash:
            await pool.run("fail", cpu_seconds=PATIENCE)
        assert crash.value.report.error_type == "ValueError"
        assert "vault_agent.system.child:" in crash.value.report.frames[-1]
        assert "canary" not in f"{crash.value!r} {crash.value.report}"
        assert await pool.run("b", cpu_seconds=PATIENCE) == "B!"


async def test_a_worker_that_cannot_start_reports_the_reason():
    pool: WorkerPool[str, str] = WorkerPool(unable_to_start, size=1)
    async with pool:
        with pytest.raises(WorkerNotReady) as crash:
            await pool.run("a", cpu_seconds=PATIENCE)
    assert crash.value.report.error_type == "ValueError"


async def test_a_slow_start_does_not_count_as_task_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "WALL_FACTOR", PATIENCE / 0.1)
    slow: WorkerPool[str, str] = WorkerPool(slow_to_start, (), size=1)
    async with slow:
        assert await slow.run("a", cpu_seconds=0.1) == "a"


@pytest.mark.skipif(sys.platform != "linux", reason="memory limits are enforced on Linux")
async def test_a_worker_over_its_memory_limit_loses_one_task(pool: WorkerPool[str, str]):
    async with pool:
        assert int(await pool.run("limit", cpu_seconds=PATIENCE)) == MEMORY_LIMIT_BYTES
        with pytest.raises(WorkerCrashed):
            await pool.run("eat", cpu_seconds=PATIENCE)
        assert await pool.run("d", cpu_seconds=PATIENCE) == "D!"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
async def test_the_workers_of_a_pool_may_have_less_memory():
    async with WorkerPool[str, str](shouting, ("!",), size=1, memory_bytes=3 << 29) as pool:
        assert int(await pool.run("limit", cpu_seconds=PATIENCE)) == 3 << 29


async def test_the_result_of_a_cancelled_task_is_discarded(pool: WorkerPool[str, str]):
    async with pool:
        pid = int(await pool.run("pid", cpu_seconds=PATIENCE))
        task = asyncio.create_task(pool.run("hang", cpu_seconds=PATIENCE))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await eventually_async(lambda: is_gone(pid))
        assert await pool.run("e", cpu_seconds=PATIENCE) == "E!"


async def test_a_task_may_be_cancelled_more_than_once(pool: WorkerPool[str, str]):
    async with pool:
        task = asyncio.create_task(pool.run("hang", cpu_seconds=PATIENCE))
        await asyncio.sleep(0.05)
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)
        assert task.cancelled()
        assert await pool.run("e", cpu_seconds=PATIENCE) == "E!"


async def test_no_worker_outlives_the_pool(pool: WorkerPool[str, str]):
    async with pool:
        pids = await asyncio.gather(*(pool.run("pid", cpu_seconds=PATIENCE) for _ in range(4)))
    assert all(is_gone(int(pid)) for pid in pids)
