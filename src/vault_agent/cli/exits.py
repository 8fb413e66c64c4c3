"""What the program's exit code says: the one table.

0 success · 1 failure · 2 usage or configuration · 3 authentication · 4 not found (note, chunk,
attachment, job, index) · 5 busy · 130 interrupted · 141 the reader of our output has gone
"""

from __future__ import annotations

from vault_agent.errors import (
    Busy,
    IndexUnavailable,
    InvalidRequest,
    Misconfigured,
    NotFound,
    Unauthorized,
    VaultAgentError,
)

SUCCESS = 0
FAILURE = 1
USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
NO_READER = 141  # 128 + SIGPIPE

_CODES: dict[type[VaultAgentError], int] = {
    InvalidRequest: USAGE,
    Misconfigured: USAGE,
    Unauthorized: 3,
    NotFound: 4,
    IndexUnavailable: 4,
    Busy: 5,
}


def exit_code(error: VaultAgentError) -> int:
    """Return the exit code that an error ends the program with."""
    return _CODES.get(type(error), FAILURE)
