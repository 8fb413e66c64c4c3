"""The gate: limits how many document requests are in flight, so that queries go first.

The limit changes as in TCP (additive increase, multiplicative decrease). It is halved when the
endpoint is overloaded, raised by one after a round of successes, and never above the bound.

Queries do not pass the gate. Most endpoints process one request at a time and in order, so a query
waits for the requests already sent. While a user searches, documents are sent in small requests,
one at a time, and none while a query is in flight.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# Times are in seconds.
# One overload fails every request in flight; failures within this time count once.
_ONE_EVENT: Final = 1.0
# Successes for each request in flight before one more is allowed.
_ROUND: Final = 8
# How long after a query the user is assumed to be still searching.
_ATTENTION: Final = 20.0
# How long documents are held for one query, from its announcement.
_QUERY: Final = 0.3
# How long documents are held for several queries in a row. Constant queries slow a run down but do
# not stop it.
_QUERIES: Final = 3.0


class Gate:
    """Admits document requests: at most `bound` at once, fewer while the endpoint is overloaded."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._limit = bound
        self._limiter = anyio.CapacityLimiter(bound)
        self._successes = 0
        self._lowered_at = float("-inf")
        self._query_at = float("-inf")
        self._held_until = float("-inf")
        self._closed_until = float("-inf")

    @property
    def searched_lately(self) -> bool:
        """Whether a user is searching, so that requests should be short."""
        return time.monotonic() - self._query_at < _ATTENTION

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a place among the requests in flight, and hold it."""
        request = object()
        await self._limiter.acquire_on_behalf_of(request)
        try:
            patience = time.monotonic() + _QUERIES
            while True:
                until = max(self._closed_until, min(self._held_until, patience))
                wait = until - time.monotonic()
                if wait <= 0:
                    break
                await anyio.sleep(wait)
            yield
        finally:
            self._limiter.release_on_behalf_of(request)
            self._apply()

    def query(self) -> None:
        """Hold documents back for a query that is about to be sent."""
        self._query_at = time.monotonic()
        self._held_until = self._query_at + _QUERY
        self._apply()

    def close(self, seconds: float) -> None:
        """Send no new documents for a time; requests in flight continue."""
        self._closed_until = max(self._closed_until, time.monotonic() + seconds)

    def overloaded(self) -> None:
        """Halve the limit, since the endpoint is busy, failed or disconnected."""
        now = time.monotonic()
        if now - self._lowered_at < _ONE_EVENT:
            return
        self._lowered_at = now
        self._successes = 0
        self._limit = max(1, self._limit // 2)
        self._apply()

    def succeeded(self) -> None:
        """Count a success, and raise the limit by one after a round of them."""
        if self._limit >= self._bound:
            return
        self._successes += 1
        if self._successes >= _ROUND * self._limit:
            self._successes = 0
            self._limit += 1
            self._apply()

    def _apply(self) -> None:
        self._limiter.total_tokens = 1 if self.searched_lately else self._limit
