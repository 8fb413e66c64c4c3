"""Disposable worker processes. A crash or hang affects only one worker and its task.

A `setup` function runs once in each worker (`system.child`) and returns the handler of its tasks.
Both must be importable by name. A worker that dies or exceeds its time loses its task and is
replaced. No worker outlives the process that started it, even if it is stuck.

`TextWorkers` bounds what work on texts that anyone may have written costs others. Small texts are
handled in threads of their own. Large ones go to workers, where the work has a limit of
processor time and ends when its caller is cancelled.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, Self, TypeVar

import anyio

from vault_agent.errors import VaultAgentError
from vault_agent.system.cancelling import Threads, to_its_end
from vault_agent.system.child import ChildStart, Failure
from vault_agent.system.processes import Child

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.system.crash import CrashReport

    Setup = Callable[..., Callable[[Any], Any]]


Task = TypeVar("Task")
Result = TypeVar("Result")

MEMORY_LIMIT_BYTES = 4 << 30
"""Address space of one worker: enough for the largest note, far below the machine's memory."""

START_SECONDS = 30.0
"""Wall time for a worker to become ready: its imports may be slow on a busy machine."""

WALL_FACTOR = 10.0
"""Limit of a task's wall time, as a multiple of its CPU time: it stops a worker that only waits."""

_SHORTEST_WAIT_SECONDS = 0.02
# Not -m: the classes of messages would be those of a module `__main__`..
_COMMAND: Final = (sys.executable, "-P", "-c", "from vault_agent.system.child import main; main()")


class _WorkerLost(Exception):
    """The worker ended. `report` is set if the setup or the handler raised an error."""

    def __init__(self, report: CrashReport | None = None) -> None:
        super().__init__(str(report or ""))
        self.report = report


class WorkerCrashed(_WorkerLost):
    """The worker with the task died, or was killed because it took too long."""


class WorkerTimedOut(WorkerCrashed):
    """The worker with the task was killed because it took too long."""


class WorkerNotReady(_WorkerLost):
    """The worker ended or hung before it was ready. The task is not the cause."""


class WorkerPool(Generic[Task, Result]):
    """At most `size` processes. They start when needed and end on leaving the context."""

    def __init__(
        self,
        setup: Setup,
        args: tuple[object, ...] = (),
        *,
        size: int,
        memory_bytes: int = MEMORY_LIMIT_BYTES,
    ) -> None:
        """Limit the address space of each process to `memory_bytes`."""
        self._setup = setup
        self._args = args
        self._memory_bytes = memory_bytes
        self._free = anyio.CapacityLimiter(size)
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    async def __aenter__(self) -> WorkerPool[Task, Result]:
        return self

    async def __aexit__(self, *_: object) -> None:
        workers, self._all = self._all, set()
        self._idle.clear()
        await to_its_end(asyncio.gather(*(worker.end() for worker in workers)))

    def resize(self, size: int) -> None:
        """Allow `size` processes from now on. Running ones stay."""
        self._free.total_tokens = size

    async def trim(self, keep: int) -> None:
        """End idle workers until at most `keep` are left."""
        while len(self._idle) > keep:
            await to_its_end(self._end(self._idle.pop(0)))

    async def run(self, task: Task, *, cpu_seconds: float) -> Result:
        """Return the handler's result for one task.

        `cpu_seconds` is the processor time that the worker may use for it, so a busy machine does
        not shorten it. The limit of wall time is `WALL_FACTOR` times as long. If the system does
        not report processor time, wall time is used instead.

        Raises:
            WorkerCrashed: if the process ended, or exceeded its time and was killed
                (`WorkerTimedOut`).
            WorkerNotReady: if it ended, or took `START_SECONDS`, before its setup was complete.
        """
        token = object()  # identifies this call: one asyncio task may make several at once
        await self._free.acquire_on_behalf_of(token)
        try:
            return await self._run(task, cpu_seconds)
        finally:
            self._free.release_on_behalf_of(token)

    async def _run(self, task: Task, cpu_seconds: float) -> Result:
        worker = await self._take()
        try:
            result: Result = await worker.call(task, cpu_seconds)
        except BaseException:
            # Also if cancelled: the next task would get this task's answer.
            await to_its_end(self._end(worker))
            raise
        self._idle.append(worker)
        return result

    async def _take(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            await to_its_end(self._end(worker))
        worker = await _Worker.start_with(self._setup, self._args, self._memory_bytes)
        self._all.add(worker)
        return worker

    async def _end(self, worker: _Worker) -> None:
        self._all.discard(worker)
        await worker.end()


class _Worker(Child):
    _is_ready = False

    @classmethod
    async def start_with(cls, setup: Setup, args: tuple[object, ...], memory_bytes: int) -> Self:
        try:
            worker = await cls.start(_COMMAND)
        except OSError as error:
            raise WorkerNotReady from error
        worker.send(ChildStart(sys.path, memory_bytes, os.getpid()))
        worker.send((setup, args))
        return worker

    async def call(self, task: object, cpu_seconds: float) -> Any:
        """Send a task and wait for its result."""
        if not self._is_ready:
            started = time.monotonic()  # wall time, because imports wait for the disk
            try:
                await self._answer(lambda: START_SECONDS - (time.monotonic() - started))
            except WorkerCrashed as error:
                raise WorkerNotReady(error.report) from error
            self._is_ready = True
        self.send(task)
        return await self._answer(self._seconds_left(cpu_seconds))

    async def _answer(self, seconds_left: Callable[[], float]) -> Any:
        receiving = asyncio.ensure_future(self.receive())
        try:
            while not receiving.done():
                if (seconds := seconds_left()) <= 0:
                    raise WorkerTimedOut
                await asyncio.wait([receiving], timeout=max(seconds, _SHORTEST_WAIT_SECONDS))
            answer = receiving.result()
        except (EOFError, OSError) as error:
            raise WorkerCrashed from error
        finally:
            if not receiving.cancel() and not receiving.cancelled():
                receiving.exception()  # taken, or the event loop would report it
        if isinstance(answer, Failure):
            raise WorkerCrashed(answer.report)
        return answer

    def _seconds_left(self, allowed: float) -> Callable[[], float]:
        """Return a function that tells how much of the worker's time is left."""
        wall_before, cpu_before = time.monotonic(), cpu_seconds(self.pid)

        def left() -> float:
            wall = time.monotonic() - wall_before
            cpu = cpu_seconds(self.pid)
            used = wall if cpu_before is None or cpu is None else cpu - cpu_before
            return min(allowed - used, WALL_FACTOR * allowed - wall)

        return left


def cpu_seconds(pid: int) -> float | None:
    """Return the processor time that a process has used, in seconds; None if unknown.

    Only Linux reports it, and only while the process runs. Otherwise use wall time.
    """
    if sys.platform != "linux":
        return None
    # The clock ID of a process, as clock_getcpuclockid(3) computes it; 2 selects CPU time.
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return None


_P = ParamSpec("_P")
_T = TypeVar("_T")

SMALL_BYTES = 256 << 10
"""Texts up to this size are handled in threads: the worst of them takes 1.5 seconds."""

CPU_SECONDS = 20.0
"""Processor time for one piece of work. The worst text of 1 MiB takes 6 seconds."""

_AT_ONCE = 2


class TextWorkers:
    """Runs pure functions that take texts. Made once for each server."""

    def __init__(self, *, cpu_seconds: float = CPU_SECONDS) -> None:
        self._cpu_seconds = cpu_seconds
        self._threads = Threads(_AT_ONCE, "text")
        self._pool = WorkerPool[Any, Any](_handler, size=_AT_ONCE)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._threads.close()
        await self._pool.__aexit__()

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
            WorkerCrashed: if it exceeds its limit of processor time or memory.
            VaultAgentError: as `work`.
        """
        if self.is_small(size):
            return await self._threads.run(work, *args, **kwargs)
        result = await self._pool.run((work, args, kwargs), cpu_seconds=self._cpu_seconds)
        await self._pool.trim(1)
        if isinstance(result, VaultAgentError):
            raise result
        done: _T = result
        return done


def _handler() -> Callable[[Any], Any]:
    """Return the handler of tasks of a worker."""
    return _handle


def _handle(task: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]) -> Any:
    work, args, kwargs = task
    try:
        return work(*args, **kwargs)
    except VaultAgentError as error:
        return error
