"""What headers say: `If-Match`, `Idempotency-Key`, `Vault-Agent-Seconds`; bytes of an upload."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from vault_agent.api.sessions import WAITS_HEADER, SessionEventBody
from vault_agent.api.writing import WriteBody
from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from aiohttp import web

    from vault_agent.api.files import AttachmentBody

Request = TypeVar("Request")

_MAX_SECONDS = 60.0
_TAG = re.compile(r'"([0-9a-f]{16,64})(?:-[0-9a-f]{16})?"')  # a hash, or the ETag of a note
_KEY = re.compile(r"[\x21-\x7e]{1,128}")


def with_headers(request: web.Request, sent: Request) -> Request:
    """Return a request with what its headers say: one to write, or an event of a session.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if a header is malformed, or says something else than the
            body.
    """
    if isinstance(sent, SessionEventBody):
        return replace(sent, seconds=_seconds(request, sent.seconds))
    if not isinstance(sent, WriteBody):
        return sent
    given = {"expected_hash": _header(request, "If-Match"), "idempotency_key": _key(request)}
    for name, value in given.items():
        if value is not None and getattr(sent, name) not in (None, value):
            raise InvalidRequest(
                "INVALID_REQUEST", "A header and the body say different things. Send one of them."
            )
    said: dict[str, Any] = {name: value for name, value in given.items() if value}
    return replace(sent, **said)


def with_content(request: web.Request, sent: AttachmentBody, content: bytes) -> AttachmentBody:
    """Return the request to add an attachment with its bytes.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if the header `Idempotency-Key` is malformed.
    """
    return replace(sent, content=content, idempotency_key=_key(request))


def _header(request: web.Request, name: str) -> str | None:
    values = request.headers.getall(name, [])
    if not values:
        return None
    match = _TAG.fullmatch(values[0].strip()) if len(values) == 1 else None
    if match is None:
        raise InvalidRequest("INVALID_REQUEST", f"{name} must be one hash in double quotes.")
    return match[1]


def _seconds(request: web.Request, given: float | None) -> float | None:
    """Return how long an agent still waits. A header that says no such time counts as none."""
    try:
        found = float(request.headers[WAITS_HEADER])
    except (KeyError, ValueError):
        return given
    return found if 0 <= found <= _MAX_SECONDS else given


def _key(request: web.Request) -> str | None:
    values = request.headers.getall("Idempotency-Key", [])
    if not values:
        return None
    if len(values) > 1 or _KEY.fullmatch(values[0]) is None:
        raise InvalidRequest(
            "INVALID_REQUEST", "Idempotency-Key must have 1 to 128 printable ASCII characters."
        )
    return values[0]
