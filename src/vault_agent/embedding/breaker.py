"""A dead endpoint costs a search nothing after the first time (circuit breaker).

M. Nygard, "Release It!": closed, open, half-open. Here no caller's request is ever the half-open
attempt: a task in the background asks, with a patience that no search has, and so also loads a
model that takes a quarter of a minute to load.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from vault_agent.errors import Unavailable, error_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 30.0


class Breaker:
    """Remembers that the endpoint failed until `attempt` succeeds in the background.

    `attempt` raises `Unavailable` while the endpoint is of no use; its last reason is `error`.
    """

    def __init__(self, attempt: Callable[[], Awaitable[object]]) -> None:
        self._attempt = attempt
        self._task: asyncio.Task[None] | None = None
        self.error: Unavailable | None = None

    @property
    def open(self) -> bool:
        """Whether callers should not even try."""
        return self.error is not None

    def check(self) -> None:
        """Raise why the endpoint is of no use, where that is known."""
        if self.error is not None:
            raise error_of(self.error.code, self.error.message, self.error.details)

    def trip(self, error: Unavailable) -> None:
        """Open, and begin to ask in the background."""
        self.error = error
        self._begin(_FIRST_WAIT)

    def probe(self) -> None:
        """Ask in the background at once, and open where that fails."""
        self._begin(0.0)

    def _begin(self, wait: float) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._ask(wait), name="embedding-recovery")

    async def _ask(self, wait: float) -> None:
        while True:
            await asyncio.sleep(wait)
            wait = min(max(wait * 2, _FIRST_WAIT), _LONGEST_WAIT)
            try:
                await self._attempt()
            except Unavailable as error:
                self.error = error
            else:
                self.error = None
                return

    async def aclose(self) -> None:
        """End the background task."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
