"""Start and end processes. They are asked to end first, and killed if they do not."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

import anyio

from vault_agent.system.cancelling import to_its_end
from vault_agent.system.child import encode, receive_message
from vault_agent.system.files import open_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


_LINE_LIMIT = 64 << 10
"""The largest line that `readline` accepts, in bytes."""
_SECONDS_TO_DIE = 5.0
"""How long a killed process is waited for. On a busy machine, half a second is too short."""

_SECONDS_TO_END = 0.5
"""How long a child that is no longer needed may take to end by itself."""

PROGRAM: Final = (sys.executable, "-P", "-m", "vault_agent")
"""The command that runs this program. -P keeps the current folder off the import path."""


class ChildProcess(Process):
    """A process that we started. Unlike its base class, it exposes its transport."""

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        protocol: SubprocessStreamProtocol,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(transport, protocol, loop)
        self.transport = transport


async def start_process(*command: str, **options: Any) -> ChildProcess:
    """Start a process like `asyncio.create_subprocess_exec`, with the same options.

    If the caller is cancelled meanwhile, the process is killed; asyncio alone would leave it to the
    garbage collector.

    Raises:
        OSError: if the system cannot start it.
    """

    async def start() -> ChildProcess:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=_LINE_LIMIT, loop=loop),
            *command,
            **{"stdin": None, "stdout": None, "stderr": None, **options},
        )
        return ChildProcess(transport, protocol, loop)

    starting = asyncio.ensure_future(start())
    try:
        return await to_its_end(starting)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True), suppress(OSError):
            await _end_now(starting.result())
        raise


async def end_process(process: ChildProcess, seconds: float) -> None:
    """End a process and close its pipes. Safe to call for a process that has already ended.

    If its standard input is our pipe, closing that pipe asks it to end. Otherwise SIGTERM does.
    (Windows has no such request and ends it at once.) After `seconds` it is killed. If it still
    runs some seconds later, it is left: the system cannot end a process that waits for a network
    drive that has disappeared.

    The process's own children must end with it, as the workers of `system.workers` do. If the
    caller is cancelled meanwhile, the process is killed at once.
    """
    try:
        await _ask(process, seconds)
    except asyncio.CancelledError:
        await _end_now(process)
        raise
    await _end_now(process)
    await asyncio.sleep(0)  # the loop closes the pipes in its next iteration


async def _end_now(process: ChildProcess) -> None:
    """Kill a process unless it has ended, close its pipes, and wait for its end, even if cancelled.

    The transport is closed only then. To close it looks for the exit status too, and asyncio, which
    waits for the status, would miss it: the process would seem to have ended with 255.
    """
    try:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            # A child of the process may hold its output open. Then nothing else closes our ends,
            # and asyncio waits for these too.
            for number in range(3):
                if (pipe := process.transport.get_pipe_transport(number)) is not None:
                    pipe.close()
            with anyio.move_on_after(_SECONDS_TO_DIE, shield=True):
                await process.wait()
    finally:
        process.transport.close()


async def _ask(process: ChildProcess, seconds: float) -> None:
    """Ask a process to end and wait for its end.

    Do not kill it at once instead. If the process ends at the same moment, the kill reaps its exit
    status, and asyncio, which waits for the status too, logs a warning.
    """
    if process.stdin is not None:
        process.stdin.close()
    elif process.returncode is None:
        with suppress(ProcessLookupError):
            process.terminate()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await process.wait()


class Child:
    """A child process of ours: it sends and takes the messages of `system.child`."""

    def __init__(self, process: ChildProcess) -> None:
        self._process = process

    @classmethod
    async def start(cls, command: Sequence[str]) -> Self:
        """Start a process.

        Raises:
            OSError: if the system cannot start it.
        """
        # Standard error is dropped, since a traceback may contain note text.
        return cls(await start_process(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL))

    @property
    def pid(self) -> int:
        """Its process ID."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process is still known to run."""
        return self._process.returncode is None

    def send(self, message: object) -> None:
        """Send a message without waiting. A process that has died shows when it is to answer."""
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        self._process.stdin.write(encode(message))

    async def receive(self) -> Any:
        """Return the next message.

        Raises:
            EOFError: if the process has ended.
        """
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        return await receive_message(self._process.stdout)

    async def end(self) -> None:
        """Close its input so that it ends. Kill it if it does not."""
        await end_process(self._process, _SECONDS_TO_END)


def start_detached(
    command: Sequence[str], *, environment: Mapping[str, str], log: Path
) -> subprocess.Popen[bytes]:
    """Start a process that outlives this one and its terminal.

    Its standard error is appended to `log`, which only its owner can read. It has no other standard
    streams, and runs in the folder of `log`, so that it keeps no other drive busy.

    Raises:
        Failed: `INDEX_IO_ERROR` if `log` is no regular file.
        OSError: if `log` cannot be opened, or the system cannot start the process.
    """
    options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        # Not DETACHED_PROCESS: its children would each open a console window.
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
        options = {"creationflags": flags}
    descriptor = open_state(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        return subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=descriptor,
            cwd=log.parent,
            env=dict(environment),
            **options,
        )
    finally:
        os.close(descriptor)


def leave_running(process: subprocess.Popen[bytes]) -> None:
    """Let a process outlive this one without a warning at our end."""
    process.returncode = 0


def ask_to_end(pid: int) -> None:
    """Ask a process to end. On Windows it ends at once. Does nothing if it has ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGTERM)


def kill(pid: int) -> None:
    """End a process at once. Does nothing if it has ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


def give_memory_back() -> None:
    """Return freed memory to the system. glibc keeps it otherwise."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl lacks it and does not need it
        if trim is not None:
            trim(0)
