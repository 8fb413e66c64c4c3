"""What is said of a file that was left out."""

from __future__ import annotations

from vault_agent.model.warning import Warning as Notice
from vault_agent.vault.entry import printable
from vault_agent.vault.opening import Cause

_MESSAGES = {
    "FILE_VANISHED": "A file was gone when it was to be read.",
    "FILE_UNREADABLE": "A file or folder could not be read and was left out: {why}.",
    "FILE_NAME_NOT_UTF8": "A name is not UTF-8; rename the file to have it indexed.",
    "FILE_BINARY": "A file with a note's name holds binary data and was left out.",
    "FILE_NOT_UTF8": "A note is not UTF-8; what could not be read was replaced.",
    "FILE_CHANGED_WHILE_READING": "A file kept changing while it was read; it may be read again.",
    "SYMLINK_SKIPPED": "A symbolic link was not followed: it leads {where}.",
}
# By reason, without a path: one that a link leads to is nobody's business.
_WHY: dict[str, str] = {
    Cause.DIRECTORY: "it is a folder by now",
    Cause.IRREGULAR: "it is a pipe, a socket or a device",
    Cause.FORBIDDEN: "permission denied",
    Cause.UNREADABLE: "the system can't read it",
}
_WHERE: dict[str, str] = {
    Cause.OUTSIDE: "outside the vault",
    Cause.EXCLUDED: "to what is left out of the index",
    Cause.LOOP: "in a circle",
    Cause.FORBIDDEN: "where permission is denied",
    Cause.UNREADABLE: "to what the system can't read",
    "broken": "nowhere",
    "repeated": "to a folder that another link has led to already",
}
# What a link is to blame for; anything else can happen to every file.
_LINK_CAUSES = (Cause.OUTSIDE, Cause.EXCLUDED, Cause.LOOP)


class Skipped(Exception):
    """The file was left out; `warning` says which and why."""

    def __init__(self, warning: Notice) -> None:
        super().__init__(warning.code)
        self.warning = warning


def notice(code: str, path: str, reason: str) -> Notice:
    """Return the warning `code` for a vault-relative path, with a reason in one word or two."""
    message = _MESSAGES[code].format(why=_WHY.get(reason), where=_WHERE.get(reason))
    return Notice(code, message, {"path": printable(path), "reason": reason})


def not_opened(path: str, cause: Cause) -> Notice:
    """Return the warning for a path that could not be opened."""
    if cause in _LINK_CAUSES:
        return notice("SYMLINK_SKIPPED", path, cause.value)
    code = "FILE_VANISHED" if cause is Cause.VANISHED else "FILE_UNREADABLE"
    return notice(code, path, cause.value)
