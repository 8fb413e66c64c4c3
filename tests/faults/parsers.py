"""Failing parsers for worker processes, which import them by name."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

from vault_agent.indexing.parse import Batch, ParsedFile, batch_parser

Handler = Callable[[Batch], list[ParsedFile] | None]


def poisoned() -> Handler:
    """Set up the real parser, which fails for notes with certain names."""
    parse = batch_parser()

    def handle(batch: Batch) -> list[ParsedFile] | None:
        for task in batch.files:
            if "crash" in task.entry.path:
                os.kill(os.getpid(), signal.SIGSEGV)
            if "unlucky" in task.entry.path and _first_time(batch.spec.root):
                os.kill(os.getpid(), signal.SIGKILL)
            if "raise" in task.entry.path:
                raise ValueError(task.entry.path)
            if "hang" in task.entry.path:
                while True:
                    pass
            if "bomb" in task.entry.path:
                _ = bytearray(64 << 30)
        return parse(batch)

    return handle


def _first_time(root: str) -> bool:
    """Whether this is the first call in any process."""
    try:
        Path(root).with_name("asked").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def unable() -> Callable[[object], object]:
    """End before the handler is ready."""
    os._exit(3)


def stuck() -> Callable[[str], object]:
    """Set up a worker that reports its process ID and then hangs with the GIL held."""

    def handle(task: str) -> object:
        return os.getpid() if task == "pid" else re.match(r"(a+)+$", "a" * 64 + "b")

    return handle


def sleeping() -> Callable[[str], object]:
    """Set up the same without the kernel's parent-death signal, only with the reading thread."""
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)

    def handle(task: str) -> object:
        return os.getpid() if task == "pid" else time.sleep(600)

    return handle
