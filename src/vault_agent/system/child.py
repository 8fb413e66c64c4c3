"""Messages between a process and its child, over the child's standard input and output.

A message is its length in four bytes, then its pickle: both ends are the same program. A pipe that
ends means that the other process has ended. `main` is the child of `system.workers`.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from vault_agent.system.crash import CrashReport, describe_crash

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

_HEAD_BYTES = 4
_TASKS_PER_COLLECTION = 256


def encode(message: object) -> bytes:
    """Return a message as it goes over a pipe."""
    body = pickle.dumps(message)
    return len(body).to_bytes(_HEAD_BYTES) + body


def read_message(pipe: BinaryIO) -> Any:
    """Return the next message of a pipe.

    Raises:
        EOFError: if the pipe has ended.
    """
    return pickle.loads(_read_body(pipe))  # noqa: S301 - of our own process


def _read_body(pipe: BinaryIO) -> bytes:
    head = pipe.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES:
        raise EOFError
    return pipe.read(int.from_bytes(head))


async def receive_message(pipe: asyncio.StreamReader) -> Any:
    """Return the next message of a pipe, like `read_message`.

    Raises:
        EOFError: if the pipe has ended.
    """
    head = await pipe.readexactly(_HEAD_BYTES)
    return pickle.loads(await pipe.readexactly(int.from_bytes(head)))  # noqa: S301 - as above


def take_output() -> BinaryIO:
    """Return standard output for messages. What a library prints goes to standard error."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


class ChildStart(NamedTuple):
    """The first message to a worker. The second one is its setup, with the arguments."""

    path: list[str]  # of imports
    memory_bytes: int  # of its address space
    parent: int  # the process that started it


class Failure(NamedTuple):
    """The last message of a worker whose handler or setup raised an error."""

    report: CrashReport


def main() -> None:
    """Handle the tasks of a worker until standard input ends."""
    # Ctrl-C reaches every process of a terminal. Only the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = take_output()
    start: ChildStart = read_message(sys.stdin.buffer)
    _die_with(start.parent)
    sys.path[:] = start.path
    _limit_memory(start.memory_bytes)
    messages: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(messages,), daemon=True).start()
    with suppress(OSError):  # the parent has closed the pipe
        try:
            _handle_tasks(messages, output)
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - reported without its message
            _send(output, Failure(describe_crash(error)))
    os._exit(1)  # the reading thread still waits, and would make a usual exit fail


def _read(messages: SimpleQueue[bytes]) -> None:
    """Pass messages on until standard input ends, then end the process."""
    with suppress(EOFError, OSError):
        while True:
            messages.put(_read_body(sys.stdin.buffer))
    os._exit(1)


def _handle_tasks(messages: SimpleQueue[bytes], output: BinaryIO) -> None:
    # A task's values contain no reference cycles, and automatic collection takes a tenth of the
    # time. One collection after every few hundred tasks is enough.
    gc.disable()
    setup, args = pickle.loads(messages.get())  # noqa: S301 - of the parent
    handle: Callable[[Any], Any] = setup(*args)
    gc.freeze()
    _send(output, None)  # ready
    handled = 0
    while True:
        _send(output, handle(pickle.loads(messages.get())))  # noqa: S301 - of the parent
        handled += 1
        if handled % _TASKS_PER_COLLECTION == 0:
            gc.collect()


def _send(output: BinaryIO, message: object) -> None:
    output.write(encode(message))
    output.flush()


def _die_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends (Linux).

    Elsewhere the end of standard input ends it, unless its work never releases the interpreter.
    """
    if sys.platform != "linux":
        return
    import ctypes

    set_death_signal = 1  # PR_SET_PDEATHSIG, prctl(2)
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the call
        os._exit(1)


def _limit_memory(limit: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or hard > limit:
        with suppress(ValueError, OSError):  # macOS has the limit but rejects the value
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
