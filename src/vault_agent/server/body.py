"""Reading a request's body: JSON, small, and soon."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp import web

from vault_agent.errors import InvalidRequest, TooLarge, Unsupported
from vault_agent.server.connection import Connection
from vault_agent.server.keys import LIMITS
from vault_agent.wire.base import parse

if TYPE_CHECKING:
    from vault_agent.wire.base import AnyModel

_SENT_BY_PAGES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
MAX_BODY_BYTES = 64 * 1024


def check_media(request: web.BaseRequest) -> None:
    """Raise UNSUPPORTED_MEDIA_TYPE unless what is sent is plain JSON in UTF-8.

    The type matters for safety: a web page may post some types across origins without asking
    first, application/json it may not. Those count even where the body is empty.
    """
    codings = [coding.strip().lower() for coding in request.headers.getall("Transfer-Encoding", [])]
    if "Content-Encoding" in request.headers or codings not in ([], ["chunked"]):
        raise Unsupported("UNSUPPORTED_MEDIA_TYPE", "Compressed bodies are not read.")
    declared = request.headers.get("Content-Type", "")
    media, *parameters = (part.strip().lower() for part in declared.split(";"))
    if not request.body_exists and media not in _SENT_BY_PAGES:
        return
    if media != "application/json" or not all(
        parameter.replace(" ", "").replace('"', "") in ("", "charset=utf-8")
        for parameter in parameters
    ):
        raise Unsupported(
            "UNSUPPORTED_MEDIA_TYPE", "The Content-Type is not application/json in UTF-8."
        )


def check_size(request: web.BaseRequest) -> None:
    """Raise BODY_TOO_LARGE where the request itself says so, before a byte of it is read."""
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise _too_large()


async def read_model(request: web.Request, model: type[AnyModel]) -> AnyModel:
    """Return the body as `model`; an absent body is one without fields.

    Raises INVALID_REQUEST or its narrower codes, also for a body that arrives too slowly,
    and BODY_TOO_LARGE.
    """
    if not request.body_exists:
        return parse(model, b"{}")
    await _invite(request)
    try:
        async with asyncio.timeout(request.app[LIMITS].body_seconds):
            body = await request.read()
    except TimeoutError:
        raise InvalidRequest(
            "INVALID_REQUEST", "The body did not arrive in time. Send it whole."
        ) from None
    except web.HTTPRequestEntityTooLarge:
        raise _too_large() from None
    except web.RequestPayloadError:
        raise InvalidRequest("INVALID_REQUEST", "The body is not valid HTTP.") from None
    if isinstance(request.protocol, Connection):
        request.protocol.complete()
    return parse(model, body)


async def _invite(request: web.Request) -> None:
    """Tell a client that waits to be asked that it may send the body."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        # This was no part of the reply, which is still to begin.
        request.writer.output_size = 0


def _too_large() -> TooLarge:
    return TooLarge("BODY_TOO_LARGE", "The body is over 64 KiB.")
