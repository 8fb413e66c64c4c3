"""The exit codes. The table in `codes` gives each error code its exit code."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from vault_agent.codes import CODES

if TYPE_CHECKING:
    from vault_agent.errors import VaultAgentError


class Exit(IntEnum):
    """The exit codes with their meanings, which never change."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Exit:
        """Make a member from its number and its meaning."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    SUCCESS = 0, "success"
    FAILURE = 1, "failure"
    USAGE = 2, "usage or configuration"
    AUTHENTICATION = 3, "authentication"
    NOT_FOUND = 4, "not found: a note, a chunk, an attachment, a job or the index"
    BUSY = 5, "busy"
    LINKS_FOUND = 6, "`links check` found broken links"
    NOTE_CHANGED = 7, "a write was refused because the note has changed, or is being changed"
    INTERRUPTED = 130, "interrupted by Ctrl-C"  # 128 + SIGINT, as in shells
    NO_READER = 141, "the reader of the output has closed it"  # 128 + SIGPIPE


SUCCESS = Exit.SUCCESS
FAILURE = Exit.FAILURE
USAGE = Exit.USAGE
INTERRUPTED = Exit.INTERRUPTED
NO_READER = Exit.NO_READER


def exit_code(error: VaultAgentError) -> int:
    """Return the exit code for an error."""
    known = CODES.get(error.code)
    return known.exit if known is not None and known.exit is not None else Exit.FAILURE
