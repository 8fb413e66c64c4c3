"""From what the system says of a file to the value the rest of the program compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.model.notes import FileEntry
from vault_agent.vault.platform import inodes_are_known

if TYPE_CHECKING:
    import os

_INODES = inodes_are_known()
_SIGN = 1 << 63


def file_entry(path: str, status: os.stat_result) -> FileEntry:
    """Return the entry for `path`; the same whether a walk or an open file was asked.

    Times and inodes are only ever compared, and the index has 64 bits with a sign for each. A file
    system may go beyond: a year after 2262, an inode of a network drive.
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
    """Return a path that JSON can carry: bytes of a name that are not UTF-8 become U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
