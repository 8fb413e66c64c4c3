"""Errors of the store: damage, a full disk, a failing disk, and those of the full-text engine."""

from __future__ import annotations

import errno
import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vault_agent.errors import Failed, IndexUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from vault_agent.errors import VaultAgentError


_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}
# Errors of processes and pipes, not of a folder.
_NOT_THE_DISK = {errno.EPIPE, errno.EAGAIN, errno.ENOMEM}
# ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL, as the full-text engine reports them on Windows.
_NO_ROOM_ON_WINDOWS = {39, 112}


BY_DAMAGE = {"reason": "damage"}
"""The details of a refusal after which the server rebuilds the index."""


def damaged() -> IndexUnavailable:
    """Return the error for an index with damaged files."""
    return IndexUnavailable("INDEX_INCOMPATIBLE", "The index is damaged.", BY_DAMAGE)


def is_damage(error: VaultAgentError) -> bool:
    """Whether an error says that files of the index are damaged."""
    return error.details == BY_DAMAGE


def disk_full() -> Failed:
    """Return the error for a full disk."""
    return Failed(
        "DISK_FULL",
        "There is no room left for the index. An index that was complete before still serves.",
    )


def not_writable() -> Failed:
    """Return the error for an index folder that is not writable."""
    return Failed(
        "INDEX_IO_ERROR",
        "Nothing may be written to the index's folder: permission is denied, or it is on a "
        "read-only disk.",
    )


def no_locks() -> Failed:
    """Return the error for an index folder on a file system without locks."""
    return Failed(
        "INDEX_IO_ERROR",
        "The file system of the index's folder has no locks, as some network drives do not. Set "
        "index.dir to a folder on a local disk.",
    )


def disk_failed(reason: str) -> Failed:
    """Return the error for an index folder that cannot be read or written."""
    return Failed(
        "INDEX_IO_ERROR",
        f"The index's folder can't be read or written ({reason.lower()}).",
    )


def system_failure(number: int | None) -> Failed | None:
    """Return the error for a system error number, or None if it does not concern the disk."""
    if number is None or number in _NOT_THE_DISK:
        return None
    if number in _NO_ROOM or (sys.platform == "win32" and number in _NO_ROOM_ON_WINDOWS):
        return disk_full()
    if number in _NOT_ALLOWED:
        return not_writable()
    return disk_failed(os.strerror(number))


# Rust's two forms of a system error number.
_NUMBER = re.compile(r"os error (\d+)|Os \{ code: (\d+)")


@contextmanager
def guarded() -> Iterator[None]:
    """Raise `INDEX_INCOMPATIBLE` for damaged files, `DISK_FULL` or `INDEX_IO_ERROR` for the disk.

    A Rust panic arrives as pyo3's PanicException, which `except Exception` does not catch. Its text
    may name files, so it is dropped.
    """
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        raise _translate(error) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise damaged() from None


def _translate(error: Exception) -> VaultAgentError:
    if "writer was killed" in str(error):
        return disk_failed("writing stopped")  # a thread of the engine failed; its error is lost
    number = _number_of(error)
    # A missing file was there before: that is damage, not an error of the disk.
    failure = None if number == errno.ENOENT else system_failure(number)
    return failure or damaged()


def _number_of(error: Exception) -> int | None:
    if isinstance(error, OSError):
        return error.errno
    match = _NUMBER.search(str(error))
    return int(match[1] or match[2]) if match else None


class MappedFiles:
    """Files that may grow, but not shrink. Each is compared with its largest size seen."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._sizes = dict.fromkeys(map(str, paths), 0)
        self._short: set[str] = set()
        self.check()

    def check(self) -> None:
        """Make sure that no file is shorter than before.

        A removed file is no error: it stays mapped, with the size of the last check.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if a file is shorter.
        """
        for path, least in self._sizes.items():
            try:
                size = os.stat(path).st_size  # noqa: PTH116 - for speed
            except FileNotFoundError:
                size = 0 if path in self._short else least
            if size < least:
                self._short.add(path)
                raise damaged()
            self._short.discard(path)
            self._sizes[path] = size
