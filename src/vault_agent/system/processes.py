"""Start and end child processes: asked to end first, killed if they do not."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process, SubprocessStreamProtocol
from contextlib import suppress
from typing import Any

LINE_LIMIT = 64 << 10


class ChildProcess(Process):
    """A process that we started. Unlike its base, it makes its transport known."""

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        protocol: SubprocessStreamProtocol,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(transport, protocol, loop)
        self.transport = transport


async def start_process(
    *command: str,
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    line_limit: int = LINE_LIMIT,
    **options: Any,
) -> ChildProcess:
    """Start a process, as `asyncio.create_subprocess_exec` does, with the same options.

    `line_limit` is the most bytes that `readline` accepts.

    Raises:
        OSError: where the system cannot start it.
    """
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=line_limit, loop=loop),
        *command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        **options,
    )
    return ChildProcess(transport, protocol, loop)


async def end_process(process: ChildProcess, seconds: float) -> None:
    """End a process and close its pipes; safe to call for one that has ended.

    A process whose standard input is our pipe is asked by closing that pipe. Any other is asked by
    a signal (SIGTERM; Windows has no such request and ends it at once). After `seconds` it is
    killed. A process that even then does not end is left after `seconds` more: the system cannot
    end one that waits for a network drive that has gone.

    What the process has started must end with it by itself, as the workers of `system.workers` do.
    If the caller is cancelled meanwhile, the process is killed at once.
    """
    try:
        await _ask(process, seconds)
        if process.returncode is None:
            _kill(process)
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await process.wait()
    except BaseException:
        _kill(process)
        raise
    finally:
        # A child of the process may hold its output open. Nothing else closes our end of it, and
        # the loop warns about a pipe that is open when the loop ends.
        process.transport.close()
    await asyncio.sleep(0)  # the loop closes the pipes in its next round


async def _ask(process: ChildProcess, seconds: float) -> None:
    """Ask a process to end and wait for that.

    Killing at once is no shortcut. A process that ends at the same moment has its status taken by
    the kill, and asyncio, which waits for the status as well, writes a warning into the log.
    """
    if process.stdin is not None:
        process.stdin.close()
    elif process.returncode is None:
        with suppress(ProcessLookupError):
            process.terminate()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await process.wait()


def _kill(process: ChildProcess) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
