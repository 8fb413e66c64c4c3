"""Advisory locks on files and folders: the system releases them however their holder ends.

`filelock` does the locking. It is given descriptors, not paths: so it makes and removes no file,
and never falls back to a lock that outlives its holder.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_POLL_SECONDS: Final = 0.01
_UNSUPPORTED: Final = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


class AlreadyLocked(Exception):
    """Somebody else holds the lock."""


class LocksUnsupported(Exception):
    """The file system has no locks, as some network drives do not."""


@contextmanager
def locked(path: Path, *, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the exclusive lock on a file, which is made if missing and never removed; blocking.

    Raises:
        AlreadyLocked: where somebody else still has it after `wait_seconds`.
        LocksUnsupported: where the file system has no locks.
        OSError: where the file cannot be opened, or the lock fails in another way.
    """
    with _locked(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), wait_seconds):
        yield


@contextmanager
def folder_locked(path: Path) -> Iterator[None]:
    """Hold the exclusive lock on a folder, so that no file is left behind; blocking, without end.

    Raises:
        LocksUnsupported: where folders cannot be locked: on Windows, and on some network drives.
        OSError: where the folder cannot be opened, or the lock fails in another way.
    """
    if os.name == "nt":
        raise LocksUnsupported
    with _locked(os.open(path, os.O_RDONLY), float("inf")):
        yield


@contextmanager
def _locked(descriptor: int, wait_seconds: float) -> Iterator[None]:
    from filelock import lock_descriptor

    try:
        deadline = time.monotonic() + wait_seconds
        try:
            while not lock_descriptor(descriptor, blocking=False):
                if time.monotonic() >= deadline:
                    raise AlreadyLocked
                time.sleep(_POLL_SECONDS)
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                raise LocksUnsupported from error
            raise
        yield
    finally:
        os.close(descriptor)  # the only descriptor of this opening: closing it releases the lock
