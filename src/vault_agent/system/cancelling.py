"""Work that runs to completion even if its caller is cancelled.

Two kinds of cancellation reach our code. aiohttp and `asyncio.Task.cancel` raise `CancelledError`
once, at the `await`. An anyio cancel scope raises it at every `await` until the scope is left. A
thread cannot be cancelled at all. `anyio.to_thread.run_sync` waits for its thread under the second
kind only. These functions handle both.

A pool of threads is for one kind of work, so that slow work of another kind cannot block it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, Self, TypeAlias, TypeVar

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Closing(Protocol):
    """A context manager that closes itself on exit."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: Any) -> None: ...


_Opened = TypeVar("_Opened", bound=Closing)


async def to_its_end(work: Awaitable[_T]) -> _T:
    """Run work to completion even if the caller is cancelled, then raise the cancellation."""
    working = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await ended(working)
        raise


async def in_thread(work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run `work` in a thread to completion even if the caller is cancelled."""
    return await to_its_end(asyncio.to_thread(work, *args, **kwargs))


async def open_in_thread(open_it: Callable[[], _Opened]) -> _Opened:
    """Open something in a thread. If the caller is cancelled, close it again.

    The caller must enter the result's context before its next `await`.
    """
    opening = asyncio.ensure_future(asyncio.to_thread(open_it))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        await ended(opening)
        if not opening.cancelled() and opening.exception() is None:
            with opening.result():
                pass
        raise


@asynccontextmanager
async def opened_in_thread(open_it: Callable[[], _Opened]) -> AsyncIterator[_Opened]:
    """Open something in a thread, and close it on leaving the context."""
    with await open_in_thread(open_it) as opened:
        yield opened


async def ended(working: asyncio.Future[Any]) -> None:
    """Wait until work has ended, also if the caller is cancelled, once more or several times.

    A caller that was not cancelled before must not use it: the cancellation is not raised. Nor is
    an error of the work, which nobody waits for.
    """
    with anyio.CancelScope(shield=True):
        while not working.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([working])
    if not working.cancelled():
        working.exception()  # taken, or the event loop would report it


Stopped: TypeAlias = Callable[[], bool]
"""Tells work in a thread whether its caller has been cancelled."""


class Threads:
    """At most `size` threads. If all are busy, work waits in the order of its arrival.

    The threads start when needed.
    """

    def __init__(self, size: int, name: str) -> None:
        self._executor = ThreadPoolExecutor(size, thread_name_prefix=name)

    def close(self) -> None:
        """Start no more work. Threads end when their work does."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def run(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Run `work` in a thread and return its result."""
        return await self.stoppable(lambda _: work(*args, **kwargs))

    async def stoppable(self, work: Callable[[Stopped], _T]) -> _T:
        """Run `work` in a thread. Its argument returns True once the caller is cancelled.

        A cancelled caller still waits for the work to end, so that it cannot close what the work
        uses. Work that has not started by then never starts.
        """
        stop = threading.Event()
        submitted = self._executor.submit(work, stop.is_set)
        working = asyncio.wrap_future(submitted)
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            stop.set()
            if not submitted.cancel():
                await ended(working)
            raise
