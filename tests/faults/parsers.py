"""Parsers that go wrong, for worker processes: found by name in the process that runs them."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.indexing.batches import batch_parser
from vault_agent.system import workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.indexing.batches import Batch
    from vault_agent.indexing.parse import ParsedFile

    Handler = Callable[[Batch], list[ParsedFile] | None]


def poisoned() -> Handler:
    """Set up the real parser, which some notes break by their names."""
    parse = batch_parser()

    def handle(batch: Batch) -> list[ParsedFile] | None:
        for task in batch.files:
            if "crash" in task.entry.path:
                os.kill(os.getpid(), signal.SIGSEGV)
            if "unlucky" in task.entry.path and _first_time(batch.root):
                os.kill(os.getpid(), signal.SIGKILL)
            if "raise" in task.entry.path:
                raise ValueError(task.entry.path)
            if "hang" in task.entry.path:
                time.sleep(600)
            if "bomb" in task.entry.path:
                _ = bytearray(64 << 30)
        return parse(batch)

    return handle


def _first_time(root: str) -> bool:
    """Tell whether nobody has asked before, in any process."""
    try:
        Path(root).with_name("asked").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def unable() -> Callable[[object], object]:
    """End before there is a handler."""
    os._exit(3)


def stuck() -> Callable[[str], object]:
    """Set up a worker that says who it is, and then never comes back, holding the interpreter."""

    def handle(task: str) -> object:
        return os.getpid() if task == "pid" else re.match(r"(a+)+$", "a" * 64 + "b")

    return handle


def sleeping() -> Callable[[str], object]:
    """Set up the same without the kernel's help: only the thread that waits for the parent."""
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    threading.Thread(target=workers._end_with_parent, daemon=True).start()

    def handle(task: str) -> object:
        return os.getpid() if task == "pid" else time.sleep(600)

    return handle
