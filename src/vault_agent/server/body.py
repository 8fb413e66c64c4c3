"""Reads a request: its JSON body, within limits of size and time, and its headers."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aiohttp import web

from vault_agent.api.sessions import WAITS_HEADER, SessionEventBody
from vault_agent.errors import InvalidRequest, TooLarge, Unsupported
from vault_agent.model.writing import WriteBody
from vault_agent.server.app_keys import LIMITS
from vault_agent.server.connection import ClientConnection

if TYPE_CHECKING:
    from vault_agent.api.files import AttachmentBody
    from vault_agent.api.requests import Request

_SENT_BY_PAGES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
MIB = 1024 * 1024


def check_media(request: web.BaseRequest, octets: bool = False) -> None:
    """Raise UNSUPPORTED_MEDIA_TYPE unless the body is uncompressed JSON in UTF-8.

    With `octets` it must be application/octet-stream instead.

    The check protects against web pages: without a preflight they may post some types across
    origins, but not application/json. Those types are refused even if the body is empty.
    """
    codings = [coding.strip().lower() for coding in request.headers.getall("Transfer-Encoding", [])]
    if "Content-Encoding" in request.headers or codings not in ([], ["chunked"]):
        raise Unsupported("UNSUPPORTED_MEDIA_TYPE", "Compressed bodies are not supported.")
    declared = request.headers.get("Content-Type", "")
    media, *parameters = (part.strip().lower() for part in declared.split(";"))
    if not request.body_exists and media not in _SENT_BY_PAGES:
        return
    if octets:
        if media != "application/octet-stream":
            raise Unsupported(
                "UNSUPPORTED_MEDIA_TYPE",
                "The Content-Type is not application/octet-stream.",
                remedy="Send the bytes of the file as application/octet-stream.",
            )
        return
    if media != "application/json" or not all(
        parameter.replace(" ", "").replace('"', "") in ("", "charset=utf-8")
        for parameter in parameters
    ):
        raise Unsupported(
            "UNSUPPORTED_MEDIA_TYPE", "The Content-Type is not application/json in UTF-8."
        )


def check_size(request: web.BaseRequest, limit: int) -> None:
    """Raise BODY_TOO_LARGE if Content-Length is too large, before the body is read."""
    if (request.content_length or 0) > limit:
        raise _too_large(limit)


async def read_body(request: web.Request, limit: int) -> bytes:
    """Return the body, of at most `limit` bytes.

    Raises INVALID_REQUEST if it arrives too slowly, and BODY_TOO_LARGE.
    """
    if not request.body_exists:
        return b""
    await _send_continue(request)
    body = bytearray()
    try:
        # A larger body may take longer: a second for each MiB.
        async with asyncio.timeout(request.app[LIMITS].body_seconds + limit // MIB):
            async for block in request.content.iter_any():
                body += block
                if len(body) > limit:
                    raise _too_large(limit)
    except TimeoutError:
        raise InvalidRequest(
            "INVALID_REQUEST", "The body did not arrive in time. Send it whole."
        ) from None
    except web.RequestPayloadError:
        raise InvalidRequest("INVALID_REQUEST", "The body is not valid HTTP.") from None
    if isinstance(request.protocol, ClientConnection):
        request.protocol.complete()
    return bytes(body)


async def await_gate(_: web.Request) -> None:
    """Do nothing: aiohttp would reply to `Expect: 100-continue` before the gate runs."""


async def _send_continue(request: web.Request) -> None:
    """Tell a client that sent `Expect: 100-continue` to send the body."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        # These bytes are not part of the reply.
        request.writer.output_size = 0


def _too_large(limit: int) -> TooLarge:
    return TooLarge("BODY_TOO_LARGE", f"The body is over {limit // 1024:,} KiB.")


_MAX_SECONDS = 60.0
_TAG = re.compile(r'"([0-9a-f]{16,64})(?:-[0-9a-f]{16})?"')  # a hash, or the ETag of a note
_KEY = re.compile(r"[\x21-\x7e]{1,128}")


def with_headers(request: web.Request, parsed: Request) -> Request:
    """Return a request with the values of its headers, if it is a write or an event of a session.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if a header is malformed, or has another value than the
            body.
    """
    if isinstance(parsed, SessionEventBody):
        return replace(parsed, seconds=_seconds(request, parsed.seconds))
    if not isinstance(parsed, WriteBody):
        return parsed
    values = {"expected_hash": _header(request, "If-Match"), "idempotency_key": _key(request)}
    for name, value in values.items():
        if value is not None and getattr(parsed, name) not in (None, value):
            raise InvalidRequest(
                "INVALID_REQUEST", "A header and the body say different things. Send one of them."
            )
    present: dict[str, Any] = {name: value for name, value in values.items() if value}
    return replace(parsed, **present)


def with_content(request: web.Request, upload: AttachmentBody, content: bytes) -> AttachmentBody:
    """Return the request to add an attachment with its bytes.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if the header `Idempotency-Key` is malformed.
    """
    return replace(upload, content=content, idempotency_key=_key(request))


def _header(request: web.Request, name: str) -> str | None:
    values = request.headers.getall(name, [])
    if not values:
        return None
    match = _TAG.fullmatch(values[0].strip()) if len(values) == 1 else None
    if match is None:
        raise InvalidRequest("INVALID_REQUEST", f"{name} must be one hash in double quotes.")
    return match[1]


def _seconds(request: web.Request, seconds: float | None) -> float | None:
    """Return how many seconds an agent still waits. A header without such a number is ignored."""
    try:
        waits = float(request.headers[WAITS_HEADER])
    except (KeyError, ValueError):
        return seconds
    return waits if 0 <= waits <= _MAX_SECONDS else seconds


def _key(request: web.Request) -> str | None:
    values = request.headers.getall("Idempotency-Key", [])
    if not values:
        return None
    if len(values) > 1 or _KEY.fullmatch(values[0]) is None:
        raise InvalidRequest(
            "INVALID_REQUEST", "Idempotency-Key must have 1 to 128 printable ASCII characters."
        )
    return values[0]
