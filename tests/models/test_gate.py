"""Concurrent requests decrease on overload, increase slowly, and never exceed the limit."""

import asyncio

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.models import gate as gate_module
from vault_agent.models.gate import Gate


async def test_overload_halves_the_limit_and_successes_restore_it(monkeypatch):
    monkeypatch.setattr(gate_module, "_ONE_EVENT", 0.0)
    gate = Gate(8)
    gate.overloaded()
    gate.overloaded()
    assert gate._limit == 2
    for _ in range(10):
        gate.overloaded()
    assert gate._limit == 1
    for _ in range(7):
        gate.succeeded()
    assert gate._limit == 1
    gate.succeeded()
    assert gate._limit == 2
    for _ in range(10_000):
        gate.succeeded()
    assert gate._limit == 8


async def test_an_overload_of_many_requests_counts_once():
    gate = Gate(8)
    for _ in range(8):
        gate.overloaded()
    assert gate._limit == 4


@pytest.mark.parametrize("searching", [False, True])
async def test_concurrent_requests_are_limited(searching):
    gate = Gate(3)
    if searching:
        gate.query()
    inside = most = 0

    async def request():
        nonlocal inside, most
        async with gate.slot():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.01)
            inside -= 1

    await asyncio.gather(*(request() for _ in range(9)))
    assert most == (1 if searching else 3)


async def test_constant_queries_slow_documents_but_do_not_stop_them(monkeypatch):
    monkeypatch.setattr(gate_module, "_QUERIES", 0.2)
    gate = Gate(2)

    async def ask():
        while True:
            gate.query()
            await asyncio.sleep(0.01)

    asking = asyncio.create_task(ask())
    await asyncio.sleep(0)
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(PATIENCE), gate.slot():
        assert asyncio.get_running_loop().time() - began >= 0.19
    asking.cancel()


async def test_retry_after_is_honoured_during_searches(monkeypatch):
    monkeypatch.setattr(gate_module, "_QUERIES", 0.0)
    gate = Gate(2)
    gate.query()
    gate.close(0.2)
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(PATIENCE), gate.slot():
        assert asyncio.get_running_loop().time() - began >= 0.19


async def test_a_cancelled_request_releases_its_slot():
    gate = Gate(1)

    async def hold():
        async with gate.slot():
            await asyncio.sleep(60)

    for _ in range(3):
        task = asyncio.create_task(hold())
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
    async with asyncio.timeout(PATIENCE), gate.slot():
        pass
