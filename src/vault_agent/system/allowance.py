"""Work on texts that anyone may have written: its cost to others is bounded.

Small texts are handled in threads of their own. Large ones go to worker processes, where the work
has an allowance of processor time and ends when its caller is cancelled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from vault_agent.errors import VaultAgentError, error_of
from vault_agent.system.threads import Threads
from vault_agent.system.workers import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_P = ParamSpec("_P")
_T = TypeVar("_T")

SMALL_BYTES = 256 << 10
"""Texts up to this size are handled in threads: the worst of them takes 1.5 seconds."""

CPU_SECONDS = 20.0
"""Processor time for one piece of work. The worst text of 1 MiB takes 6 seconds."""

_AT_ONCE = 2


class Allowance:
    """Runs pure functions that take texts. Made once for each server."""

    def __init__(self, *, cpu_seconds: float = CPU_SECONDS) -> None:
        self._cpu_seconds = cpu_seconds
        self._threads = Threads(_AT_ONCE, "text")
        self._pool = WorkerPool[Any, Any](_handler, size=_AT_ONCE)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._threads.close()
        await self._pool.__aexit__(kind, error, traceback)

    def is_small(self, size: int) -> bool:
        """Whether texts of so many bytes together are handled in a thread of this process."""
        return size <= SMALL_BYTES

    async def run(
        self, size: int, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Return the result of `work` for texts of `size` bytes together.

        For a large text, `work` must be importable by name, and its arguments and result are copied
        between processes.

        Raises:
            WorkerCrashed: if it exceeds its allowance of processor time or memory.
            VaultAgentError: as `work`.
        """
        if self.is_small(size):
            return await self._threads.run(work, *args, **kwargs)
        result = await self._pool.run((work, args, kwargs), cpu_seconds=self._cpu_seconds)
        self._pool.trim(1)
        if isinstance(result, _Refused):
            raise error_of(*result.error)
        done: _T = result
        return done


class _Refused:
    """An error that `work` has raised: its code, message and details."""

    def __init__(self, error: VaultAgentError) -> None:
        self.error = (error.code, error.message, error.details)


def _handler() -> Callable[[Any], Any]:
    """Return the handler of tasks of a worker."""
    return _handle


def _handle(task: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]) -> Any:
    work, args, kwargs = task
    try:
        return work(*args, **kwargs)
    except VaultAgentError as error:
        return _Refused(error)
