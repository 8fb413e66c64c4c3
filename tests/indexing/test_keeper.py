"""The indexing process between two requests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import pytest
from tests.product.processes import alive
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async

from vault_agent.indexing import keeper
from vault_agent.indexing.protocol import Compare, IndexSpec
from vault_agent.system.workers import WorkerPool

SPEC = IndexSpec("/vault", "/index", "id", (), 1, parallel=1)


def naming_itself() -> Callable[[object], int]:
    return lambda _: os.getpid()


async def test_the_parser_process_ends_while_there_is_nothing_to_do(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(keeper, "IDLE_SECONDS", 0.01)
    async with WorkerPool[Any, Any](naming_itself, size=1) as pool:
        idle = keeper._Keeper(pool, keeper._PipeReport.__new__(keeper._PipeReport))
        parser = await pool.run(None, cpu_seconds=PATIENCE)
        waiting = asyncio.create_task(idle.next_request())
        await eventually_async(lambda: not alive(parser))
        idle.receive(Compare(SPEC))
        assert await waiting == Compare(SPEC)
        assert await pool.run(None, cpu_seconds=PATIENCE) != parser
