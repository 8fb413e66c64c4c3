"""A circuit breaker: after a failure, searches do not wait for the endpoint.

See M. Nygard, "Release It!", for the states closed, open and half-open. Here a caller's request is
never the half-open attempt. A background task probes the endpoint with a longer timeout than a
search, which also gives the endpoint time to load a model.
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

    `attempt` raises `Unavailable` while the endpoint does not work; `error` is the last error.
    """

    def __init__(self, attempt: Callable[[], Awaitable[object]]) -> None:
        self._attempt = attempt
        self._task: asyncio.Task[None] | None = None
        self.error: Unavailable | None = None

    @property
    def open(self) -> bool:
        """Whether the endpoint is known not to work."""
        return self.error is not None

    def check(self) -> None:
        """Raise `Unavailable` if the endpoint is known not to work."""
        if self.error is not None:
            raise error_of(self.error.code, self.error.message, self.error.details)

    def trip(self, error: Unavailable) -> None:
        """Record the error, and probe the endpoint in the background."""
        self.error = error
        self._begin(_FIRST_WAIT)

    def probe(self) -> None:
        """Probe the endpoint in the background at once, and record its error if it fails."""
        self._begin(0.0)

    def _begin(self, wait: float) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._ask(wait), name="endpoint-recovery")

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
