"""A thread pool for one kind of work, so that slow work of another kind cannot block it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeAlias, TypeVar

from vault_agent.system.cancelling import ended

_P = ParamSpec("_P")
_T = TypeVar("_T")

Stopped: TypeAlias = Callable[[], bool]
"""Tells work in a thread whether its caller has been cancelled."""


class Threads:
    """At most `size` threads. If all are busy, work waits in the order of its arrival.

    The threads start when needed.
    """

    def __init__(self, size: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(size, thread_name_prefix=name)

    def close(self) -> None:
        """Start no more work. Threads end when their work does."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def run(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Run `work` in a thread and return its result."""
        return await self.stoppable(lambda _: work(*args, **kwargs))

    async def stoppable(self, work: Callable[[Stopped], _T]) -> _T:
        """Run `work` in a thread. Its argument returns True once the caller is cancelled.

        A cancelled caller still waits for the work to end, so that it cannot close what the work
        uses. Work that has not started by then never starts.
        """
        stop = threading.Event()
        submitted = self._executor.submit(work, stop.is_set)
        working = asyncio.wrap_future(submitted)
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            stop.set()
            if not submitted.cancel():
                await ended(working)
            raise
