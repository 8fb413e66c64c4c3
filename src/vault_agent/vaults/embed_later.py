"""Embeds new texts some seconds after the last change, so that a note is not sent at each save."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio

from vault_agent.errors import VaultAgentError

if TYPE_CHECKING:
    from vault_agent.vaults.background import Background
    from vault_agent.vaults.runs import Runs

FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 60.0, 600.0
LONGEST_DELAY = 10  # times the delay: someone who never stops typing


class EmbedLater:
    """The next embedding run of one vault."""

    def __init__(self, runs: Runs, background: Background, delay: float | None) -> None:
        """Wait `delay` seconds after a change. None: embeddings are off."""
        self._runs = runs
        self._background = background
        self._delay = delay
        self._due: float | None = None
        self._latest = 0.0
        self._is_waiting = False
        self._failures = 0

    def soon(self) -> None:
        """Embed after the delay, which begins anew, but not for ever."""
        if self._delay is None:
            return
        now = time.monotonic()
        if self._due is None:
            self._latest = now + LONGEST_DELAY * self._delay
        self._due = min(now + self._delay, self._latest)
        if not self._is_waiting:
            self._is_waiting = True
            self._background.spawn(self._work)

    async def _work(self) -> None:
        try:
            while self._due is not None:
                seconds = self._due - time.monotonic()
                if seconds > 0:
                    await anyio.sleep(seconds)
                else:
                    await self._embed()
        finally:
            self._is_waiting = False

    async def _embed(self) -> None:
        self._due = None
        try:
            works = await self._runs.embed()
        except VaultAgentError:
            works = False
        self._failures = 0 if works else self._failures + 1
        if not works:
            pause = FIRST_RETRY_SECONDS * 2.0 ** min(self._failures - 1, 10)
            self._latest = time.monotonic() + min(pause, LONGEST_RETRY_SECONDS)
            self._due = self._latest
