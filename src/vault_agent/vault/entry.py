"""Entries of files, and warnings for skipped ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.model.notes import FileEntry
from vault_agent.model.warning import Warning as Notice
from vault_agent.vault.opening import Cause
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


_MESSAGES = {
    "FILE_VANISHED": "A file disappeared before it could be read.",
    "FILE_UNREADABLE": "A file or folder could not be read and was skipped: {why}.",
    "FILE_NAME_NOT_UTF8": "A name is not UTF-8. Rename the file to index it.",
    "FILE_BINARY": "A file with a note's name contains binary data and was skipped.",
    "FILE_NOT_UTF8": "A note is not UTF-8. The invalid bytes were replaced.",
    "FILE_CHANGED_WHILE_READING": "A file kept changing while it was read. It may be read again.",
    "SYMLINK_SKIPPED": "A symbolic link was not followed: {where}.",
}
# By reason. The target of a link is private and is not named.
_WHY: dict[str, str] = {
    Cause.DIRECTORY: "it is now a folder",
    Cause.IRREGULAR: "it is a pipe, a socket or a device",
    Cause.FORBIDDEN: "permission denied",
    Cause.UNREADABLE: "the system cannot read it",
}
_WHERE: dict[str, str] = {
    Cause.OUTSIDE: "it leads outside the vault",
    Cause.EXCLUDED: "it leads to an excluded path",
    Cause.LOOP: "it leads in a circle",
    "link": "what it leads to in the vault is indexed at its own path",
}
# Causes that only a link can have.
_LINK_CAUSES = (Cause.OUTSIDE, Cause.EXCLUDED, Cause.LOOP)


class Skipped(Exception):
    """The file was skipped. `warning` contains its path and the reason."""

    def __init__(self, warning: Notice) -> None:
        super().__init__(warning.code)
        self.warning = warning


def notice(code: str, path: str, reason: str) -> Notice:
    """Return the warning `code` for a vault-relative path, with a short reason."""
    message = _MESSAGES[code].format(why=_WHY.get(reason), where=_WHERE.get(reason))
    return Notice(code, message, {"path": printable(path), "reason": reason})


def not_opened(path: str, cause: Cause) -> Notice:
    """Return the warning for a path that could not be opened."""
    if cause in _LINK_CAUSES:
        return notice("SYMLINK_SKIPPED", path, cause.value)
    code = "FILE_VANISHED" if cause is Cause.VANISHED else "FILE_UNREADABLE"
    return notice(code, path, cause.value)
