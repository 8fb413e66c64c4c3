"""What a cancellation may follow, but not cut short: files and savings are never left half done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import anyio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def to_its_end(work: Awaitable[_T]) -> _T:
    """Await something to its end, also when cancelled, by asyncio or by anyio."""
    working = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):  # anyio's cancellations come again and again
            await asyncio.wait([working])
        raise


async def in_thread(work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run in a thread, to its end, also when cancelled: two never write the same file."""
    return await to_its_end(asyncio.to_thread(work, *args, **kwargs))
