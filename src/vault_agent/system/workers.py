"""Disposable worker processes: what may crash or hang does so in one of these, alone.

Knows nothing of notes. A worker is built once by a `setup` function that runs inside it and
returns the handler of its tasks; both must be importable by name. A worker that dies, or takes
longer than it may, costs the task it had and is replaced. None outlives the process that started
it, whatever it is busy with.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from types import TracebackType

    Setup = Callable[..., Callable[[Any], Any]]

Task = TypeVar("Task")
Result = TypeVar("Result")

MEMORY_LIMIT_BYTES = 4 << 30
"""Address space of one worker: room for the largest note, far from the machine's end."""


START_SECONDS = 30.0
"""How long a worker may take to be ready, whatever its task may: its imports, on a busy machine."""


class WorkerCrashed(Exception):
    """The worker that had the task died, or was killed for taking too long."""


class WorkerTimedOut(WorkerCrashed):
    """The worker that had the task was killed for taking too long."""


class WorkerNotReady(Exception):
    """The worker ended or hung before it was ready for a task: the task is not to blame."""


class WorkerPool(Generic[Task, Result]):
    """At most `size` processes, started when first needed, all ended on leaving the context."""

    def __init__(self, setup: Setup, args: tuple[object, ...], *, size: int) -> None:
        self._setup = setup
        self._args = args
        self._free = asyncio.Semaphore(size)
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
            worker.close()  # those at work are closed by whoever waits for them
        self._all.clear()
        self._idle.clear()

    async def run(self, task: Task, *, timeout_seconds: float) -> Result:
        """Return the handler's result for one task.

        Raises:
            WorkerCrashed: when the process ended, or exceeded `timeout_seconds` and was killed
                (`WorkerTimedOut`).
            WorkerNotReady: when it ended, or took `START_SECONDS`, before it had been set up.
        """
        async with self._free:
            worker = self._idle.pop() if self._idle else self._start()
            working = asyncio.ensure_future(asyncio.to_thread(worker.call, task, timeout_seconds))
            try:
                result: Result = await asyncio.shield(working)
            except BaseException:
                # Also when cancelled: its answer would be taken for the next task's.
                self._all.discard(worker)
                worker.kill()
                # Not closed under the thread that reads: it would go on with the next worker's
                # connection, which gets the same number from the system.
                await asyncio.wait([working])
                worker.close()
                raise
            self._idle.append(worker)
            return result

    def _start(self) -> _Worker:
        worker = _Worker(self._setup, self._args)
        self._all.add(worker)
        return worker


class _Worker:
    def __init__(self, setup: Setup, args: tuple[object, ...]) -> None:
        context = multiprocessing.get_context("spawn")  # the one way that all platforms share
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve,
            args=(theirs, setup, args, MEMORY_LIMIT_BYTES, os.getpid()),
            daemon=True,
        )
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self._ready = False

    def call(self, task: object, timeout_seconds: float) -> Any:
        """Send a task and wait for its result; blocking, for a thread."""
        if not self._ready:
            try:
                self._receive(START_SECONDS)
            except WorkerCrashed as error:
                raise WorkerNotReady from error
            self._ready = True
        try:
            self._connection.send(task)
        except OSError as error:
            raise WorkerCrashed from error
        return self._receive(timeout_seconds)

    def _receive(self, timeout_seconds: float) -> Any:
        try:
            if not self._connection.poll(timeout_seconds):
                raise WorkerTimedOut
            return self._connection.recv()
        except (EOFError, OSError) as error:
            raise WorkerCrashed from error

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        self._connection.close()


def _serve(
    connection: Connection,
    setup: Setup,
    args: tuple[object, ...],
    memory_limit: int,
    parent: int,
) -> None:
    # Ctrl-C reaches every process of a terminal; whoever started this one decides for it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not _killed_with_parent(parent):
        threading.Thread(target=_end_with_parent, daemon=True).start()
    _limit_memory(memory_limit)
    # A batch's values are dropped with the batch and hold no cycles: looking for some costs a
    # tenth of the time. A leak would be ended with the process.
    gc.disable()
    handle = setup(*args)
    with suppress(EOFError, OSError):  # the other end went away: nothing is left to do
        connection.send(None)  # ready
        while True:
            connection.send(handle(connection.recv()))


def _killed_with_parent(parent: int) -> bool:
    """Have the kernel kill this process when its parent ends (Linux); whether it will.

    A worker that is stuck would never find out by itself that nobody waits for it any more.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    set_death_signal = 1  # PR_SET_PDEATHSIG, prctl(2)
    if ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL, 0, 0, 0) != 0:
        return False
    if os.getppid() != parent:  # it ended before it could be watched
        os._exit(1)
    return True


def _end_with_parent() -> None:
    """Wait for the parent's end and follow it; needs the interpreter, which a parser lets go."""
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
        with suppress(ValueError, OSError):  # macOS knows the name and refuses the value
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
