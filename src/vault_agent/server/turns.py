"""Turns of callers at something that they share, so that none keeps the others waiting."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from vault_agent.errors import Busy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Turns:
    """At most `size` requests run at once, and at most `each` of one caller.

    The others wait. A place that becomes free goes to the callers in turn, and to the requests of
    one caller in the order of their arrival.

    Args:
        size: requests that run at once.
        each: those of one caller.
        waiting: requests of one caller that may wait.
    """

    def __init__(self, size: int, *, each: int, waiting: int) -> None:
        self._free = size
        self._each = each
        self._most = waiting
        self._running: dict[str, int] = {}  # by caller
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # the next caller comes first

    @asynccontextmanager
    async def of(self, caller: str) -> AsyncIterator[None]:
        """Wait for a place. It is free again on leaving the context.

        Raises:
            Busy: `SERVER_BUSY` if too many requests of this caller wait already.
        """
        queue = self._waiting.setdefault(caller, deque())
        if len(queue) >= self._most and not self._may_run(caller):
            raise Busy("SERVER_BUSY", "Too many requests are waiting.")
        place = asyncio.get_running_loop().create_future()
        queue.append(place)
        self._fill()
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled() or not place.done():
                self._withdraw(caller, place)
            else:
                self._release(caller)  # it was given the place at the same moment
            raise
        try:
            yield
        finally:
            self._release(caller)

    def _may_run(self, caller: str) -> bool:
        return self._free > 0 and self._running.get(caller, 0) < self._each

    def _fill(self) -> None:
        """Give free places away, one caller after the other."""
        given = True
        while self._free and given:
            given = False
            for caller, queue in tuple(self._waiting.items()):
                while queue and queue[0].done():  # cancelled a moment ago
                    queue.popleft()
                if queue and self._may_run(caller):
                    self._free -= 1
                    self._running[caller] = self._running.get(caller, 0) + 1
                    queue.popleft().set_result(None)
                    given = True
                    self._waiting[caller] = self._waiting.pop(caller)  # behind the others
                if not queue:
                    del self._waiting[caller]

    def _release(self, caller: str) -> None:
        self._free += 1
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        self._fill()

    def _withdraw(self, caller: str, place: asyncio.Future[None]) -> None:
        queue = self._waiting.get(caller)
        if queue is not None and place in queue:
            queue.remove(place)
            if not queue:
                del self._waiting[caller]
