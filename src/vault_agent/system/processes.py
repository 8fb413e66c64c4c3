"""How a process that we started is ended: asked first, killed if it does not listen."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio.subprocess import Process


async def end_process(process: Process, seconds: float) -> None:
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
        process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001
    await asyncio.sleep(0)  # the loop closes the pipes in its next round


async def _ask(process: Process, seconds: float) -> None:
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


def _kill(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
