"""Work that ends although its caller was cancelled."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from vault_agent.system.cancelling import Threads, in_thread, open_in_thread


@pytest.mark.parametrize("way", ["stoppable", "in_thread", "open_in_thread"])
async def test_an_error_of_work_whose_caller_was_cancelled_is_not_reported(way: str):
    """The event loop would log it as an error of the server, one for each search given up."""
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    begun, release = threading.Event(), threading.Event()

    def fail() -> Any:
        begun.set()
        release.wait()
        raise LookupError

    threads = Threads(1, "test")
    ways: dict[str, Callable[[], Awaitable[object]]] = {
        "stoppable": lambda: threads.stoppable(lambda _: fail()),
        "in_thread": lambda: in_thread(fail),
        "open_in_thread": lambda: open_in_thread(fail),
    }
    task = asyncio.ensure_future(ways[way]())
    await asyncio.to_thread(begun.wait)
    task.cancel()
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    threads.close()
    del task
    gc.collect()
    await asyncio.sleep(0)
    assert reported == []
