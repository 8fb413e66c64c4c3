"""Advisory locks on files and folders. The system releases them when their holder ends.

`filelock` does the locking. It gets descriptors, not paths. So it creates and removes no file, and
never falls back to a lock that outlives its holder.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

from vault_agent.system.files import open_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_POLL_SECONDS: Final = 0.01
_UNSUPPORTED: Final = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


class AlreadyLocked(Exception):
    """Another holder has the lock."""


class LocksUnsupported(Exception):
    """The file system does not support locks, as on some network drives."""


@contextmanager
def locked(path: Path, *, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the exclusive lock on a file. Blocks up to `wait_seconds`.

    The file is created if missing and never removed.

    Raises:
        AlreadyLocked: if another holder still has the lock after `wait_seconds`.
        LocksUnsupported: if the file system does not support locks.
        Failed: `INDEX_IO_ERROR` if it is no regular file.
        OSError: if the file cannot be opened, or the lock fails in another way.
    """
    with _locked(open_state(path, os.O_RDWR | os.O_CREAT), wait_seconds):
        yield


@contextmanager
def folder_locked(path: Path) -> Iterator[None]:
    """Hold the exclusive lock on a folder, without a lock file. Blocks until it is free.

    Raises:
        LocksUnsupported: if folders cannot be locked: on Windows and some network drives.
        OSError: if the folder cannot be opened, or the lock fails in another way.
    """
    if os.name == "nt":
        raise LocksUnsupported
    with _locked(os.open(path, os.O_RDONLY), float("inf")):
        yield


def is_locked(path: Path) -> bool:
    """Whether another process holds the lock on a file. A missing file is not locked.

    Takes the lock for a moment. On POSIX that is a shared one, so that several may look at once,
    and without filelock, whose import takes longer than the rest of a short command.

    Raises:
        Failed: `INDEX_IO_ERROR` if it is no regular file.
    """
    if os.name == "nt":
        try:
            with locked(path) if path.exists() else nullcontext():
                return False
        except AlreadyLocked:
            return True
        except (LocksUnsupported, OSError):
            return False
    import fcntl

    try:
        descriptor = open_state(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
    finally:
        os.close(descriptor)
    return False


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
        os.close(descriptor)  # releases the lock: no other descriptor shares this open file
