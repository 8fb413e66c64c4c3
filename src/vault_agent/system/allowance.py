"""Work on texts that anyone may have written: its cost to others is bounded.

Small texts are handled in threads of their own. Large ones go to worker processes, where the work
has an allowance of processor time and ends when its caller is cancelled.
"""

from __future__ import annotations

import asyncio
import pickle
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from vault_agent.errors import VaultAgentError, error_of
from vault_agent.system.threads import Threads
from vault_agent.system.workers import WorkerPool, WorkerTimedOut

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_P = ParamSpec("_P")
_T = TypeVar("_T")

SMALL_BYTES = 32 << 10
"""Texts up to this size are handled in threads: the worst of them takes half a second."""

MEDIUM_BYTES = 256 << 10
"""Texts up to this size do not wait for larger ones."""

CPU_SECONDS = 20.0
"""Processor time for one piece of work. The worst text of 1 MiB takes about as much."""

QUICK_SECONDS = 1.0
"""Processor time after which work starts again among the slow, so that it holds up no other."""

_PROCESSES = 2
_MOST_KNOWN = 1_000


class Allowance:
    """Runs pure functions that take texts. Made once for each server."""

    def __init__(self, *, cpu_seconds: float = CPU_SECONDS, small_bytes: int = SMALL_BYTES) -> None:
        self._cpu_seconds = cpu_seconds
        self._small_bytes = small_bytes
        self._threads = Threads(_PROCESSES, "text")
        self._medium, self._large, self._slow = (
            WorkerPool[Any, Any](_handler, size=_PROCESSES) for _ in range(3)
        )
        self._known_slow: dict[bytes, None] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._threads.close()
        for pool in (self._medium, self._large, self._slow):
            await pool.__aexit__(kind, error, traceback)

    def is_small(self, size: int) -> bool:
        """Whether texts of so many bytes together are handled in a thread of this process."""
        return size <= self._small_bytes

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
        pool = self._medium if size <= MEDIUM_BYTES else self._large
        result = await self._result(pool, (work, args, kwargs))
        if isinstance(result, _Refused):
            raise error_of(*result.error)
        done: _T = result
        return done

    async def _result(self, pool: WorkerPool[Any, Any], task: tuple[object, ...]) -> Any:
        key = sha256(pickle.dumps(task)).digest()
        quick = min(QUICK_SECONDS, self._cpu_seconds)
        if key not in self._known_slow:
            started: list[bytes] = []
            try:
                result = await pool.run(
                    task, cpu_seconds=quick, on_start=lambda: started.append(key)
                )
            except (WorkerTimedOut, asyncio.CancelledError) as error:
                if started:  # what only waited for others is not slow
                    self._remember(key)
                if quick == self._cpu_seconds or isinstance(error, asyncio.CancelledError):
                    raise
            else:
                pool.trim(1)
                return result
        result = await self._slow.run(task, cpu_seconds=self._cpu_seconds)
        self._slow.trim(0)
        return result

    def _remember(self, key: bytes) -> None:
        """Let the same work begin among the slow: it took long, or its caller did not wait."""
        self._known_slow[key] = None
        if len(self._known_slow) > _MOST_KNOWN:
            del self._known_slow[next(iter(self._known_slow))]


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
