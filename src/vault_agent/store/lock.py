"""An advisory lock on a file of its own: released by the system however its holder ends."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from vault_agent.errors import Busy

if TYPE_CHECKING:
    from pathlib import Path


class FileLock:
    """An exclusive lock, held from `acquire` to `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self, *, message: str, wait_seconds: float = 0.0) -> None:
        """Take the lock, or raise Busy `INDEX_LOCKED` with `message` after `wait_seconds`."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + wait_seconds
        while not _try_lock(descriptor):
            if time.monotonic() >= deadline:
                os.close(descriptor)
                raise Busy("INDEX_LOCKED", message)
            time.sleep(0.05)
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)  # closing the only descriptor gives the lock back
            self._descriptor = None


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
