"""A few threads for one kind of work, so that slow work of another kind cannot take them all."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeAlias, TypeVar

import anyio

_P = ParamSpec("_P")
_T = TypeVar("_T")

Stopped: TypeAlias = Callable[[], bool]
"""Tells work in a thread whether its caller has gone."""


class Threads:
    """At most `size` threads; work that finds none free waits in the order in which it came.

    The threads start when they are needed, and end with this object.
    """

    def __init__(self, size: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(size, thread_name_prefix=name)

    async def run(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Run `work` in a thread and return its result."""
        return await self.stoppable(lambda _: work(*args, **kwargs))

    async def stoppable(self, work: Callable[[Stopped], _T]) -> _T:
        """Run `work` in a thread; it is told when the caller is cancelled.

        A cancelled caller returns when the work has ended, so that nothing the work uses is closed
        under it. Work that has not begun by then never begins.
        """
        stop = threading.Event()
        begun = self._executor.submit(work, stop.is_set)
        working = asyncio.wrap_future(begun)
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            stop.set()
            if not begun.cancel():
                with anyio.CancelScope(shield=True):  # anyio cancels every await again
                    await asyncio.wait([working])
            raise
