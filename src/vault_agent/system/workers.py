"""Disposable worker processes. A crash or hang affects only one worker and its task.

A `setup` function runs once in each worker and returns the handler of its tasks. Both must be
importable by name. A worker that dies or exceeds its time loses its task and is replaced. No worker
outlives the process that started it, even if it is stuck.

`Allowance` bounds what work on texts that anyone may have written costs others. Small texts are
handled in threads of their own. Large ones go to workers, where the work has an allowance of
processor time and ends when its caller is cancelled.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, Self, TypeVar

import anyio

from vault_agent.errors import VaultAgentError, error_of
from vault_agent.system.cancelling import ended
from vault_agent.system.crash import CrashReport, describe_crash
from vault_agent.system.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from types import TracebackType

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
_TASKS_PER_COLLECTION = 256


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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for worker in self._all:
            worker.kill()
        for worker in self._idle:
            worker.close()  # `_run` closes the busy ones
        self._all.clear()
        self._idle.clear()

    def resize(self, size: int) -> None:
        """Allow `size` processes from now on. Running ones stay."""
        self._free.total_tokens = size

    def trim(self, keep: int) -> None:
        """End idle workers until at most `keep` are left."""
        while len(self._idle) > keep:
            self._end(self._idle.pop(0))

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
        worker = self._take()
        working = asyncio.ensure_future(worker.thread.run(worker.call, task, cpu_seconds))
        try:
            result: Result = await asyncio.shield(working)
        except BaseException:
            # Also if cancelled: the next task would get this task's answer.
            self._all.discard(worker)
            worker.kill()
            # Wait for the reading thread before closing the connection. Otherwise it might read
            # from the next worker's connection, which may get the same descriptor number.
            await ended(working)
            worker.close()
            raise
        self._idle.append(worker)
        return result

    def _take(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            self._end(worker)
        worker = _Worker(self._setup, self._args, self._memory_bytes)
        self._all.add(worker)
        return worker

    def _end(self, worker: _Worker) -> None:
        self._all.discard(worker)
        worker.kill()
        worker.close()


class _Failure(NamedTuple):
    """The last message of a worker whose handler or setup raised an error."""

    report: CrashReport


class _Worker:
    def __init__(self, setup: Setup, args: tuple[object, ...], memory_bytes: int) -> None:
        context = multiprocessing.get_context("spawn")  # available on all platforms
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve,
            args=(theirs, setup, args, memory_bytes, os.getpid()),
            daemon=True,
        )
        self._process.start()
        theirs.close()  # so that the pipe ends when the process ends
        # Not one of the event loop's threads: a long task would hold up what others do in them.
        self.thread = Threads(1, "worker")
        self._ready = False

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.is_alive()

    def call(self, task: object, cpu_seconds: float) -> Any:
        """Send a task and wait for its result. Blocks: call it in a thread."""
        if not self._ready:
            try:
                # Wall time, because imports wait for the disk.
                self._receive(lambda: not self._connection.poll(START_SECONDS))
            except WorkerCrashed as error:
                raise WorkerNotReady(error.report) from error
            self._ready = True
        try:
            # Not `send`: Python 3.13 complains of the buffer that it leaves in a traceback.
            self._connection.send_bytes(pickle.dumps(task))
        except OSError as error:
            raise WorkerCrashed from error
        return self._receive(lambda: self._exceeds(cpu_seconds))

    def _receive(self, exceeds_its_time: Callable[[], bool]) -> Any:
        try:
            if exceeds_its_time():
                raise WorkerTimedOut
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise WorkerCrashed from error
        if isinstance(answer, _Failure):
            raise WorkerCrashed(answer.report)
        return answer

    def _exceeds(self, allowed: float) -> bool:
        """Wait for an answer. Return True if the worker's time is used up first."""
        wall_before, cpu_before = time.monotonic(), self._cpu_seconds()
        while True:
            wall = time.monotonic() - wall_before
            cpu = self._cpu_seconds()
            used = wall if cpu_before is None or cpu is None else cpu - cpu_before
            left = min(allowed - used, WALL_FACTOR * allowed - wall)
            if left <= 0:
                return not self._connection.poll(0)
            if self._connection.poll(max(left, _SHORTEST_WAIT_SECONDS)):
                return False

    def _cpu_seconds(self) -> float | None:
        return cpu_seconds(self._process.pid) if self._process.pid is not None else None

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        self.thread.close()
        self._connection.close()
        self._process.close()  # its descriptor; garbage collection would do it later


def _serve(
    connection: Connection,
    setup: Setup,
    args: tuple[object, ...],
    memory_limit: int,
    parent: int,
) -> None:
    # Ctrl-C reaches every process of a terminal. Only the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not _killed_with_parent(parent):
        threading.Thread(target=_end_with_parent, daemon=True).start()
    _limit_memory(memory_limit)
    with suppress(EOFError, OSError):  # the parent has closed the connection
        try:
            _handle_tasks(connection, setup, args)
        except (EOFError, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 - reported without its message
            connection.send(_Failure(describe_crash(error)))


def _handle_tasks(connection: Connection, setup: Setup, args: tuple[object, ...]) -> None:
    # A task's values contain no reference cycles, and automatic collection takes a tenth of the
    # time. One collection after every few hundred tasks is enough.
    gc.disable()
    handle = setup(*args)
    gc.freeze()
    connection.send(None)  # ready
    handled = 0
    while True:
        connection.send(handle(connection.recv()))
        handled += 1
        if handled % _TASKS_PER_COLLECTION == 0:
            gc.collect()


def _killed_with_parent(parent: int) -> bool:
    """Let the kernel kill this process when its parent ends (Linux). Return whether it will.

    A stuck worker could not notice the end of its parent by itself.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    set_death_signal = 1  # PR_SET_PDEATHSIG, prctl(2)
    if ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL, 0, 0, 0) != 0:
        return False
    if os.getppid() != parent:  # the parent ended before the call
        os._exit(1)
    return True


def _end_with_parent() -> None:
    """Wait for the parent's end, then end too. Works only while other code releases the GIL."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _limit_memory(limit: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or hard > limit:
        with suppress(ValueError, OSError):  # macOS has the limit but rejects the value
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


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
