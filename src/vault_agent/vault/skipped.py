"""Warnings for skipped files."""

from __future__ import annotations

from vault_agent.model.warning import Warning as Notice
from vault_agent.vault.entry import printable
from vault_agent.vault.opening import Cause

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
