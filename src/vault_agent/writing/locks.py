"""Locks on paths, for the tasks of one event loop."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from vault_agent.system.cancelling import to_its_end

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Locks:
    """Any number of names, each held by one task at a time, or all of them by one task."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._everything = False
        self._waiting = 0  # tasks that want everything: they go first
        self._change = asyncio.Condition()

    @asynccontextmanager
    async def names(self, *names: str) -> AsyncIterator[None]:
        """Hold these names."""
        wanted = set(names)
        async with self._change:
            await self._change.wait_for(
                lambda: not (self._everything or self._waiting or self._held & wanted)
            )
            self._held |= wanted
        try:
            yield
        finally:
            self._held -= wanted
            await to_its_end(self._announce())

    @asynccontextmanager
    async def everything(self) -> AsyncIterator[None]:
        """Hold every name."""
        self._waiting += 1
        try:
            async with self._change:
                await self._change.wait_for(lambda: not (self._everything or self._held))
                self._everything = True
        finally:
            self._waiting -= 1
            if not self._everything:
                await to_its_end(self._announce())
        try:
            yield
        finally:
            self._everything = False
            await to_its_end(self._announce())

    async def _announce(self) -> None:
        async with self._change:
            self._change.notify_all()
