"""Every way in which vault-agent can say no.

An error is a stable code, a sentence that we wrote, and details that are safe to show: never a
note's text, a query, a key or an absolute path. It knows nothing of HTTP; the server and the CLI
map codes to statuses and exit codes.

    VaultAgentError
    ├── InvalidRequest        INVALID_REQUEST and its narrower codes (INVALID_QUERY, INVALID_MODE,
    │                         INVALID_LIMIT, INVALID_ID, INVALID_PATH), RANGE_NOT_SATISFIABLE
    ├── Unauthorized          UNAUTHORIZED, API_KEY_REQUIRED
    ├── Forbidden             PATH_OUTSIDE_VAULT, ATTACHMENT_NOT_ALLOWED, ORIGIN_NOT_ALLOWED,
    │                         HOST_NOT_ALLOWED
    ├── NotFound              NOTE_NOT_FOUND, CHUNK_NOT_FOUND, ATTACHMENT_NOT_FOUND, JOB_NOT_FOUND,
    │                         ROUTE_NOT_FOUND
    ├── IndexUnavailable      INDEX_NOT_FOUND, INDEX_INCOMPATIBLE
    ├── Busy                  INDEX_BUSY, INDEX_LOCKED
    ├── TooLarge              NOTE_TOO_LARGE, ATTACHMENT_TOO_LARGE, BODY_TOO_LARGE
    ├── Unsupported           UNSUPPORTED_MEDIA_TYPE, METHOD_NOT_ALLOWED
    ├── Unavailable           EMBEDDING_UNAVAILABLE, SERVER_UNAVAILABLE
    ├── Misconfigured         CONFIG_INVALID, VAULT_NOT_FOUND, PORT_IN_USE
    └── Failed                INTERNAL_ERROR, ID_COLLISION, VAULT_EMPTY, DISK_FULL,
                              INDEX_IO_ERROR, JOBS_DAMAGED, INDEXER_FAILED,
                              OUTPUT_FAILED, DEMO_FAILED, JOB_CANCELLED, JOB_INTERRUPTED
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class VaultAgentError(Exception):
    """A refusal or failure with a stable `code` and a message that is safe to show anybody."""

    def __init__(self, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.details: dict[str, Any] = dict(details or {})


class InvalidRequest(VaultAgentError):
    """What was asked is malformed or out of range; asking again unchanged will not help."""


class Unauthorized(VaultAgentError):
    """The key is missing, wrong, or none has been set where one is required."""


class Forbidden(VaultAgentError):
    """What was asked for is outside what may be served."""


class NotFound(VaultAgentError):
    """No such note, chunk, attachment, job or route."""


class IndexUnavailable(VaultAgentError):
    """There is no index yet, or none that may be queried."""


class Busy(VaultAgentError):
    """Something else is at work where only one may be."""


class TooLarge(VaultAgentError):
    """More bytes than the limit allows."""


class Unsupported(VaultAgentError):
    """A media type, encoding or method that is not spoken here."""


class Unavailable(VaultAgentError):
    """Another process that is needed does not answer."""


class Misconfigured(VaultAgentError):
    """The settings, or what they point to, must be changed first."""


class Failed(VaultAgentError):
    """The work was begun and could not be completed."""


def next_step(verb: str, rest: str, *, indexing: bool) -> str:
    """Return how what is missing comes about: by the job that runs, or by one to be started."""
    if indexing:
        return f"The running job {verb}s {rest}."
    return f"{verb.capitalize()} {rest}: vault-agent index."
