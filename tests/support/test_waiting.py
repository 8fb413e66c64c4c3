"""Tests wait in one way, and say what they waited for."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.waiting import eventually, eventually_async, nothing_happens


class Counter:
    """Counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def count(self) -> int:
        self.calls += 1
        return self.calls

    async def count_async(self) -> int:
        await asyncio.sleep(0)
        return self.count()


def test_the_first_accepted_value_is_returned():
    assert eventually(Counter().count, lambda calls: calls == 3) == 3
    assert eventually(lambda: "found") == "found"


async def test_the_event_loop_runs_meanwhile():
    event = asyncio.Event()
    asyncio.get_running_loop().call_soon(event.set)
    assert await eventually_async(event.is_set)
    assert await eventually_async(Counter().count_async, lambda calls: calls == 3) == 3


def test_a_failure_names_the_condition_and_its_last_value():
    with pytest.raises(AssertionError, match=r"not within 0.01 s: Counter.count: \d+$"):
        eventually(Counter().count, lambda _: False, seconds=0.01)


async def test_a_failure_names_the_last_exception():
    def absent() -> None:
        raise FileNotFoundError("the note")

    told = r"absent raised FileNotFoundError\('the note'\)"
    with pytest.raises(AssertionError, match=told):
        eventually(absent, retry=(OSError,), seconds=0.01)
    with pytest.raises(AssertionError, match=told):
        await eventually_async(absent, retry=(OSError,), seconds=0.01)


class Desk:
    """Handles what is put into its queue, and lists what it answers."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[str] = asyncio.Queue()
        self.answers: list[str] = []
        self.handled = 0

    async def work(self) -> None:
        while True:
            word = await self.queue.get()
            await asyncio.sleep(0.01)
            if word == "loud":
                self.answers.append(word)
            self.handled += 1

    async def mark(self) -> None:
        self.queue.put_nowait("mark")
        await eventually_async(lambda: self.handled, lambda handled: handled == 2)


@pytest.mark.parametrize(("word", "is_quiet"), [("quiet", True), ("loud", False)])
async def test_nothing_happens_only_fails_for_what_an_awake_actor_does(word: str, is_quiet: bool):
    desk = Desk()
    desk.queue.put_nowait(word)
    working = asyncio.create_task(desk.work())
    if is_quiet:
        await nothing_happens(lambda: [*desk.answers], then=desk.mark)
    else:
        with pytest.raises(AssertionError, match=r"something happened: \[\] became \['loud'\]"):
            await nothing_happens(lambda: [*desk.answers], then=desk.mark)
    working.cancel()
