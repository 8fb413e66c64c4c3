"""Wakes the tasks that wait for a change."""

from __future__ import annotations

import asyncio


class Change:
    """The next change of something. Any number of tasks may wait for it, again and again.

    A task that is busy during a change is not woken for it. So it compares what it has seen with
    what there is, and waits only if they are equal, without an `await` in between.
    """

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def announce(self) -> None:
        """Wake all tasks that wait."""
        self._next.set()
        self._next = asyncio.Event()

    async def wait(self) -> None:
        """Wait for the next change."""
        await self._next.wait()
