"""Background tasks of an open vault, in one task group."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TypeVarTuple

import anyio

from vault_agent.errors import VaultAgentError
from vault_agent.system.crash import describe_crash

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from types import TracebackType

    from vault_agent.system.crash import CrashReport

_Args = TypeVarTuple("_Args")


class Background:
    """A task group in which a failing task does not end the others.

    Leaving the context cancels all tasks and waits for their end. A `VaultAgentError` or `OSError`
    is ignored, because `health` shows its effect. Any other error is reported to `on_crash`.
    """

    def __init__(self, on_crash: Callable[[CrashReport], object]) -> None:
        self._on_crash = on_crash
        self._group = anyio.create_task_group()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(None, None, None)

    def spawn(self, work: Callable[[*_Args], Coroutine[Any, Any, None]], *args: *_Args) -> None:
        """Start a task that runs `work(*args)`."""
        self._group.start_soon(self._run, lambda: work(*args))

    async def _run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await quietly(work())
        except Exception as error:  # noqa: BLE001 - it would cancel the whole task group
            self._on_crash(describe_crash(error))


async def quietly(work: Awaitable[None]) -> None:
    """Await work and ignore a `VaultAgentError` or `OSError`."""
    with suppress(VaultAgentError, OSError):
        await work
