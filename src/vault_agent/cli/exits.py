"""The exit codes. The table in `errors` gives each error code its exit code."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from vault_agent.errors import CODES

if TYPE_CHECKING:
    from vault_agent.errors import VaultAgentError


class Exit(IntEnum):
    """The exit codes. Their meaning never changes."""

    SUCCESS = 0
    FAILURE = 1
    USAGE = 2  # or configuration
    AUTHENTICATION = 3
    NOT_FOUND = 4  # a note, a chunk, an attachment, a job or the index
    BUSY = 5
    LINKS_FOUND = 6  # a check of links found broken ones
    NOTE_CHANGED = 7  # a write was refused because the note has changed
    INTERRUPTED = 130  # 128 + SIGINT, as in shells
    NO_READER = 141  # 128 + SIGPIPE: the reader of our output has closed it


SUCCESS = Exit.SUCCESS
FAILURE = Exit.FAILURE
USAGE = Exit.USAGE
INTERRUPTED = Exit.INTERRUPTED
NO_READER = Exit.NO_READER


def exit_code(error: VaultAgentError) -> int:
    """Return the exit code for an error."""
    known = CODES.get(error.code)
    return known.exit if known is not None and known.exit is not None else Exit.FAILURE
