"""What a store can fail at, whatever raised it: damage, a full disk, a disk that does not work."""

from __future__ import annotations

import errno
import os
import sys

from vault_agent.errors import Failed, IndexUnavailable

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}
# Of processes and their pipes, not of a folder.
_NOT_THE_DISK = {errno.EPIPE, errno.EAGAIN, errno.ENOMEM}
# ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL, as the full-text engine reports them there.
_NO_ROOM_ON_WINDOWS = {39, 112}


def damaged() -> IndexUnavailable:
    """Return the refusal for an index whose files can't be trusted."""
    return IndexUnavailable("INDEX_INCOMPATIBLE", "The index is damaged.")


def disk_full() -> Failed:
    """Return the failure of a full disk."""
    return Failed(
        "DISK_FULL",
        "There is no room left for the index. The last complete index still serves.",
    )


def not_writable() -> Failed:
    """Return the failure of a folder that may not be written."""
    return Failed(
        "INDEX_IO_ERROR",
        "Nothing may be written to the index's folder: permission is denied, or it is on a "
        "read-only disk.",
    )


def no_locks() -> Failed:
    """Return the failure for a folder on a file system without locks."""
    return Failed(
        "INDEX_IO_ERROR",
        "The file system of the index's folder has no locks, as some network drives do not. Set "
        "index.dir to a folder on a local disk.",
    )


def disk_failed(reason: str) -> Failed:
    """Return the failure to read or write the index's folder; `reason` is the system's word."""
    return Failed(
        "INDEX_IO_ERROR",
        f"The index's folder can't be read or written ({reason.lower()}).",
    )


def system_failure(number: int | None) -> Failed | None:
    """Return what a system's error number means for the index; None where it is not the disk's."""
    if number is None or number in _NOT_THE_DISK:
        return None
    if number in _NO_ROOM or (sys.platform == "win32" and number in _NO_ROOM_ON_WINDOWS):
        return disk_full()
    if number in _NOT_ALLOWED:
        return not_writable()
    return disk_failed(os.strerror(number))
