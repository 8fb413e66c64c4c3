"""A small thread pool for one kind of work."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from vault_agent.system.cancelling import Stopped, Threads


@pytest.fixture
def threads() -> Iterator[Threads]:
    """Give one thread."""
    with closing(Threads(1, "test")) as made:
        yield made


@pytest.fixture
def three_threads() -> Iterator[Threads]:
    with closing(Threads(3, "test")) as made:
        yield made


async def test_work_returns_its_result_and_raises_its_error(threads: Threads):
    assert await threads.run(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await threads.run(divmod, 7, 0)


@pytest.mark.fault(
    "Queries",
    "the default thread pool is full of slow work",
    "searches continue in their own threads",
)
async def test_a_full_default_executor_blocks_nothing(threads: Threads):
    release = threading.Event()
    loop = asyncio.get_running_loop()
    slow = [loop.run_in_executor(None, release.wait) for _ in range(100)]
    try:
        assert await asyncio.wait_for(threads.run(lambda: 5), 30) == 5
    finally:
        release.set()
        await asyncio.gather(*slow)


async def test_work_starts_in_submission_order(threads: Threads):
    order = []
    await asyncio.gather(*(threads.run(order.append, number) for number in range(50)))
    assert order == list(range(50))


async def test_cancelling_a_caller_stops_its_work_and_waits_for_it(threads: Threads):
    ended = threading.Event()
    begun = threading.Event()

    def work(stopped: Stopped) -> None:
        begun.set()
        while not stopped():
            time.sleep(0.001)
        ended.set()

    task = asyncio.create_task(threads.stoppable(work))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_cancelled_work_that_has_not_started_never_starts(threads: Threads):
    release = threading.Event()
    ran: list[int] = []
    first = asyncio.create_task(threads.run(release.wait))
    waiting = [asyncio.create_task(threads.run(ran.append, number)) for number in range(20)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    release.set()
    await first
    assert await threads.run(lambda: "next") == "next"
    assert ran == []


async def test_many_cancelled_callers_leave_no_thread(three_threads: Threads):
    before = threading.active_count()
    threads = three_threads
    for _ in range(200):
        task = asyncio.create_task(threads.run(time.sleep, 0.001))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    assert threading.active_count() <= before + 3
