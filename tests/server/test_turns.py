"""No caller takes the places of the others."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.errors import Busy
from vault_agent.server.mcp import Turns


class Callers:
    """Requests that run until they are told to end, one entry in `began` for each."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.began: list[str] = []
        self._ends: list[asyncio.Event] = []

    async def ask(self, caller: str) -> None:
        async with self.turns.of(caller):
            self.began.append(caller)
            end = asyncio.Event()
            self._ends.append(end)
            await end.wait()

    def start(self, caller: str, count: int) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self.ask(caller)) for _ in range(count)]

    async def end_first(self) -> None:
        self._ends.pop(0).set()
        for _ in range(5):
            await asyncio.sleep(0)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def ended(tasks: list[asyncio.Task[None]], callers: Callers) -> None:
    async with asyncio.timeout(PATIENCE):
        while not all(task.done() for task in tasks):
            await callers.end_first() if callers._ends else await asyncio.sleep(0)


async def test_one_caller_with_many_requests_leaves_places_for_others():
    callers = Callers(Turns(8, of_caller=4, waiting=1_000))
    many = callers.start("greedy", 1_000)
    await settled()
    assert callers.began == ["greedy"] * 4
    other = callers.start("other", 1)
    await settled()
    assert callers.began[4:] == ["other"]
    await ended(many + other, callers)
    assert len(callers.began) == 1_001


async def test_free_places_go_first_to_the_callers_that_have_none():
    callers = Callers(Turns(2, of_caller=2, waiting=100))
    tasks = callers.start("a", 10)
    await settled()
    tasks += callers.start("b", 2) + callers.start("c", 2)
    await settled()
    await ended(tasks, callers)
    assert callers.began[:2] == ["a", "a"]
    assert callers.began[2:6] == ["b", "b", "c", "c"]


async def test_a_caller_with_too_many_waiting_requests_is_refused_and_others_are_not():
    callers = Callers(Turns(1, of_caller=1, waiting=2))
    tasks = callers.start("greedy", 3)
    await settled()
    with pytest.raises(Busy, match="SERVER_BUSY"):
        async with callers.turns.of("greedy"):
            pass
    tasks += callers.start("other", 2)
    await settled()
    await ended(tasks, callers)
    assert callers.began.count("other") == 2


async def test_a_request_that_is_cancelled_gives_its_place_back():
    callers = Callers(Turns(1, of_caller=1, waiting=10))
    running, waiting, last = callers.start("a", 3)
    await settled()
    waiting.cancel()
    running.cancel()
    await asyncio.wait([running, waiting])
    await settled()
    assert callers.began == ["a", "a"]
    await ended([last], callers)  # the ended request's event is set first, in vain
    assert callers.turns._requests.total() == 0
