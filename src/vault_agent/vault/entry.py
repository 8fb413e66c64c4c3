"""File entries from `stat` results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.model.notes import FileEntry
from vault_agent.vault.platform import inodes_are_known

if TYPE_CHECKING:
    import os

_INODES = inodes_are_known()
_SIGN = 1 << 63


def file_entry(path: str, status: os.stat_result) -> FileEntry:
    """Return the entry for `path`. It is the same for the `stat` of a walk and of an open file.

    Larger times and inodes wrap around: a year after 2262, an inode of a network drive. The index
    stores each as a signed 64-bit number, and they are only compared.
    """
    return FileEntry(
        path,
        status.st_size,
        _folded(status.st_mtime_ns),
        _folded(status.st_ctime_ns),
        _folded(status.st_ino) if _INODES else 0,
    )


def _folded(number: int) -> int:
    return number if -_SIGN <= number < _SIGN else (number + _SIGN) % (2 * _SIGN) - _SIGN


def printable(path: str) -> str:
    """Return a path that is valid in JSON. Bytes that are not UTF-8 become U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
