"""Threads that write files: a cancelled await lets go of nothing that one of them still uses."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def in_thread(work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run in a thread, to its end, also when cancelled: two never write the same file."""
    working = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):  # anyio's cancellations come again and again
            await asyncio.wait([working])
        raise
