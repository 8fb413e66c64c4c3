"""End a process that we started: close its input or send a signal, then kill it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress

import anyio
import pytest
from tests.support.clocks import PATIENCE
from tests.support.systems import linux

from vault_agent.system.processes import ChildProcess, end_process, start_process

DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
READY = "print('ready', flush=True);"
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals")


async def start(code: str, *, piped: bool) -> ChildProcess:
    process = await start_process(
        sys.executable, "-c", code, stdin=PIPE if piped else DEVNULL, stdout=PIPE
    )
    assert (await process.stdout.readline()).strip() == b"ready"
    return process


async def end_cancelled(process: ChildProcess) -> None:
    """End a process for a caller that is cancelled meanwhile."""
    ending = asyncio.create_task(end_process(process, PATIENCE))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending


async def test_a_process_that_reads_our_pipe_ends_by_itself():
    process = await start(READY + "import sys; sys.stdin.read(); sys.exit(7)", piped=True)
    await end_process(process, PATIENCE)
    assert process.returncode == 7


@posix
async def test_a_process_that_does_not_read_our_pipe_gets_a_signal():
    process = await start(READY + "import time; time.sleep(600)", piped=False)
    await end_process(process, PATIENCE)
    assert process.returncode == -signal.SIGTERM


@posix
@pytest.mark.parametrize("piped", [True, False])
async def test_a_process_that_ignores_the_signal_is_killed(piped: bool):
    process = await start(DEAF + READY + "import time; time.sleep(600)", piped=piped)
    await end_process(process, 0.1)
    await process.wait()
    assert process.returncode == -signal.SIGKILL


@posix
async def test_a_killed_process_that_dies_slowly_is_waited_for(monkeypatch: pytest.MonkeyPatch):
    process = await start(DEAF + READY + "import time; time.sleep(600)", piped=True)
    kill = process.kill
    later = asyncio.get_running_loop().call_later
    monkeypatch.setattr(process, "kill", lambda: later(0.3, kill))  # as on a busy machine
    await end_process(process, 0.01)
    assert process.returncode == -signal.SIGKILL


async def test_ending_an_ended_process_is_not_an_error():
    process = await start(READY, piped=False)
    await process.wait()
    for _ in range(2):
        await end_process(process, PATIENCE)
    assert process.returncode == 0


@posix
async def test_a_cancelled_caller_leaves_no_process():
    process = await start(DEAF + READY + "import time; time.sleep(600)", piped=True)
    await end_cancelled(process)
    assert await process.wait() == -signal.SIGKILL


@linux("waits for a child without taking its exit status")
async def test_a_killed_process_keeps_its_exit_status_if_it_ends_at_once():
    """To close its transport reads the status too, and asyncio would say that it was 255."""
    process = await start(DEAF + READY + "import time; time.sleep(600)", piped=True)
    kill = process.transport.kill

    def killed_at_once() -> None:
        kill()
        with suppress(ChildProcessError):  # a thread of asyncio has taken it already
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    process.transport.kill = killed_at_once  # type: ignore[method-assign]
    await end_cancelled(process)
    assert await process.wait() == -signal.SIGKILL


@posix
@pytest.mark.filterwarnings("error")
def test_a_start_that_is_cancelled_leaves_no_process(monkeypatch: pytest.MonkeyPatch):
    left: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda event: left.append(str(event.exc_value)))

    async def cancelled(steps: int) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: start("import time; time.sleep(600)", piped=True))
            for _ in range(steps):
                await asyncio.sleep(0)
            group.cancel_scope.cancel()

    for steps in range(8):
        asyncio.run(cancelled(steps))
    gc.collect()
    assert left == []


@posix
async def test_pipes_are_closed_even_if_a_grandchild_holds_them():
    """Also fails if asyncio no longer has the private name used here."""
    child = "import time; time.sleep(600)"
    code = f"import subprocess, sys; c = subprocess.Popen([sys.executable, '-c', {child!r}]);"
    code += f"{READY} print(c.pid, flush=True); sys.stdin.read()"
    process = await start(code, piped=True)
    pid = int(await process.stdout.readline())
    try:
        await end_process(process, 0.5)
        assert process.returncode in (0, -signal.SIGKILL)
        assert process._transport.is_closing()
        assert process._transport.get_pipe_transport(1).is_closing()
        del process
        gc.collect()  # an open pipe would cause a warning now
    finally:
        os.kill(pid, signal.SIGKILL)
