"""How many document requests are in flight, and who goes first.

Additive increase, multiplicative decrease, as in TCP: halved when the endpoint says that it is
overloaded, one more after a round of successes, never above the configured bound.

Queries do not pass the gate. Most endpoints take one request at a time and in order, so a query's
wait is the work already sent: while somebody searches, documents go one request at a time, in
small requests, and none is sent while a query is under way.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# One overload is seen by every request in flight; it counts once.
_ONE_EVENT: Final = 1.0
# Successes for each request in flight before one more is tried.
_ROUND: Final = 8
# How long after a query its searcher is thought to be still searching.
_ATTENTION: Final = 20.0
# How long documents are held for one query, from the moment that it is announced.
_QUERY: Final = 0.3
# How long at the most for queries that come one after the other: who asks without a pause, as a
# program may, slows a run down and does not stop it.
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
        """Whether somebody is searching, so that requests should be short."""
        return time.monotonic() - self._query_at < _ATTENTION

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the places in flight."""
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
        """Let a query that is about to be sent go first."""
        self._query_at = time.monotonic()
        self._held_until = self._query_at + _QUERY
        self._apply()

    def close(self, seconds: float) -> None:
        """Send nothing for a while; requests in flight go on."""
        self._closed_until = max(self._closed_until, time.monotonic() + seconds)

    def bind(self, bound: int) -> None:
        """Lower the bound for good."""
        self._bound = min(self._bound, bound)
        self._limit = min(self._limit, self._bound)
        self._apply()

    def overloaded(self) -> None:
        """Take back half of the places; the endpoint is busy, broke down or hung up."""
        now = time.monotonic()
        if now - self._lowered_at < _ONE_EVENT:
            return
        self._lowered_at = now
        self._successes = 0
        self._limit = max(1, self._limit // 2)
        self._apply()

    def succeeded(self) -> None:
        """Count a success; a round of them gives one place back."""
        if self._limit >= self._bound:
            return
        self._successes += 1
        if self._successes >= _ROUND * self._limit:
            self._successes = 0
            self._limit += 1
            self._apply()

    def _apply(self) -> None:
        self._limiter.total_tokens = 1 if self.searched_lately else self._limit
