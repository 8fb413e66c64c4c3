"""Indexes what this server writes, so that a reply can wait until searches find it.

In an agent's vault, it indexes what the runs of the owner's index are about.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import anyio

from vault_agent.errors import VaultAgentError
from vault_agent.model.writing import DEFAULT_WAIT_MS, PENDING, IndexState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.vaults.embeddings import EmbedLater
    from vault_agent.vaults.runs import Background, Runs


GATHER_SECONDS = 0.02
"""Writes within this time are one revision."""


class IndexQueue:
    """Indexes the paths that are added to it, in one run after the other."""

    def __init__(
        self,
        runs: Runs,
        background: Background,
        embed_later: EmbedLater,
        on_failure: Callable[[Sequence[str]], object] | None,
    ) -> None:
        """Begin with no paths. `on_failure` gets the paths of a run that failed."""
        self._runs = runs
        self._background = background
        self._embed_later = embed_later
        self._on_failure = on_failure
        self._waiting: dict[str, None] = {}
        self._next_state: asyncio.Future[IndexState] | None = None  # with the paths in `_waiting`
        self._current_state: asyncio.Future[IndexState] | None = None  # of the run in progress
        self._is_working = False
        self.activity_count = 0
        """Grows when paths are added, when searches see them, and when their run ends."""

    async def index(self, paths: Sequence[str], wait_ms: int) -> IndexState:
        """Index paths, and return the state of the index that has them.

        Return `PENDING` if the run fails, or has not ended after `wait_ms`.
        """
        indexed = self.add(paths)
        if not wait_ms:
            return PENDING
        done, _ = await asyncio.wait([indexed], timeout=wait_ms / 1000)
        return indexed.result() if done else PENDING

    def add(self, paths: Sequence[str]) -> asyncio.Future[IndexState]:
        """Index paths soon. The result is that state, or `PENDING` if the run fails."""
        self.activity_count += 1
        self._waiting.update(dict.fromkeys(paths))
        if self._next_state is None:
            self._next_state = asyncio.get_running_loop().create_future()
        if not self._is_working:
            self._is_working = True
            self._background.spawn(self._work)
        return self._next_state

    async def catch_up(self) -> bool:
        """Wait until all paths added so far are indexed, at most `DEFAULT_WAIT_MS`.

        Return False if no path waits or is being indexed.
        """
        last = self._next_state or self._current_state
        if last is None:
            return False
        await asyncio.wait([last], timeout=DEFAULT_WAIT_MS / 1000)
        return True

    @property
    def is_busy(self) -> bool:
        """Whether paths wait to be indexed, or are being indexed."""
        return self._is_working

    async def _work(self) -> None:
        try:
            while self._waiting:
                await anyio.sleep(GATHER_SECONDS)
                await self._work_once()
        finally:
            self._is_working = False

    async def _work_once(self) -> None:
        paths, self._waiting = tuple(self._waiting), {}
        indexed = self._current_state = self._next_state
        self._next_state = None

        def on_served(state: IndexState) -> None:
            self.activity_count += 1
            if indexed is not None and not indexed.done():
                indexed.set_result(state)

        try:
            await self._runs.index_paths(paths, on_served)
        except Exception as error:
            if self._on_failure is not None:
                self._on_failure(paths)
            if not isinstance(error, VaultAgentError | OSError):
                raise  # a defect
        finally:
            self.activity_count += 1
            self._current_state = None
            if indexed is not None and not indexed.done():
                indexed.set_result(PENDING)
        self._embed_later.soon()
