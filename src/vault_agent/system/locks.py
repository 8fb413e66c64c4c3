"""An advisory lock on a file of its own: released by the system however its holder ends."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vault_agent.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def locked(path: Path, *, message: str, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the exclusive lock on a file, making the file where there is none; blocking.

    Raises:
        Busy: `INDEX_LOCKED` with `message` where somebody else still has it after `wait_seconds`.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + wait_seconds
        while not _try_lock(descriptor):
            if time.monotonic() >= deadline:
                raise Busy("INDEX_LOCKED", message)
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)  # the only descriptor: closing it gives the lock back


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        # flock, not POSIX record locks: those vanish when any descriptor of the file is closed.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
