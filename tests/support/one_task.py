"""Contexts that are entered and left by one task, for fixtures that tests share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def in_one_task(context: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """Hold a context open in a task of its own.

    A fixture is set up in one task and torn down in another, which no task group allows.
    """
    opened: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    closing = asyncio.Event()

    async def hold() -> None:
        try:
            async with context as value:
                opened.set_result(value)
                await closing.wait()
        except BaseException as error:
            if opened.done():
                raise
            opened.set_exception(error)

    task = asyncio.create_task(hold())
    try:
        yield await opened
    finally:
        closing.set()
        await task
