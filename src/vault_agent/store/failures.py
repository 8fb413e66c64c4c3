"""Errors of the store: damage, a full disk, a failing disk."""

from __future__ import annotations

import errno
import os
import sys

from vault_agent.errors import Failed, IndexUnavailable

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}
# Errors of processes and pipes, not of a folder.
_NOT_THE_DISK = {errno.EPIPE, errno.EAGAIN, errno.ENOMEM}
# ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL, as the full-text engine reports them on Windows.
_NO_ROOM_ON_WINDOWS = {39, 112}


def damaged() -> IndexUnavailable:
    """Return the error for an index with damaged files."""
    return IndexUnavailable("INDEX_INCOMPATIBLE", "The index is damaged.")


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
