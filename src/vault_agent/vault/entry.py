"""From what the system says of a file to the value the rest of the program compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.model import FileEntry
from vault_agent.vault.system import inodes_are_known

if TYPE_CHECKING:
    import os

_INODES = inodes_are_known()


def file_entry(path: str, status: os.stat_result) -> FileEntry:
    """Return the entry for `path`; the same whether a walk or an open file was asked."""
    return FileEntry(
        path,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino if _INODES else 0,
    )


def printable(path: str) -> str:
    """Return a path that JSON can carry: bytes of a name that are not UTF-8 become U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
