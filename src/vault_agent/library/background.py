"""Work that nobody waits for, in one task group with an owner."""

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
    """A task group whose tasks fail alone. Leaving the context cancels them and waits.

    An error of ours is no news: `health` shows what the work would have changed. Any other error is
    told to `on_crash` and ends nothing else.
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
        """Begin work."""
        self._group.start_soon(self._carry_out, lambda: work(*args))

    async def _carry_out(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await quietly(work())
        except Exception as error:  # noqa: BLE001 - in a task group it would end all the others
            self._on_crash(describe_crash(error))


async def quietly(work: Awaitable[None]) -> None:
    """Run work whose failure must not disturb."""
    with suppress(VaultAgentError, OSError):
        await work
