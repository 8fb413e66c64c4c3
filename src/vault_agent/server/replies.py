"""Builds HTTP replies: JSON, errors with their status, and attachments, whole or in ranges.

Every reply has the safe headers. An attachment is a download that is never rendered (RFC 9110).
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import orjson
from aiohttp import web

from vault_agent.codes import CODES
from vault_agent.errors import Failed, InvalidRequest, VaultAgentError
from vault_agent.vault.attachments import SNIFFED_BYTES, shown_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.vault.attachments import OpenAttachment

SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "vault-agent",  # aiohttp would send its own version and Python's
}
"""Headers of every reply. They keep a browser from rendering or embedding it."""

_UNSTORED = {"Cache-Control": "no-store"}
# A client may keep a copy, but must ask each time whether it is still valid.
_REVALIDATED = {"Cache-Control": "private, no-cache"}


_RPC_SERVER_ERROR = -32000
"""JSON-RPC's code for errors of a server before it reads the message."""


def status_of(code: str) -> int:
    """Return the HTTP status of a code, or 500 for a code that is not for replies."""
    described = CODES.get(code)
    return described.status if described is not None and described.status is not None else 500


def bytes_reply(
    body: bytes,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    etag: str | None = None,
) -> web.Response:
    """Return a reply with this JSON as its body."""
    every = {**SAFE_HEADERS, **caching(etag), **(headers or {})}
    return web.Response(body=body, status=status, headers=every, content_type="application/json")


def caching(etag: str | None) -> dict[str, str]:
    """Return the headers for caching."""
    return _UNSTORED if etag is None else {**_REVALIDATED, "ETag": quoted(etag)}


def not_modified(request: web.BaseRequest, etag: str) -> web.Response | None:
    """Return 304 if If-None-Match names this content, otherwise None."""
    tags_sent = ",".join(request.headers.getall("If-None-Match", ())).split(",")
    tags = {tag.strip().removeprefix("W/") for tag in tags_sent}
    if "*" not in tags and quoted(etag) not in tags:
        return None
    return web.Response(status=304, headers={**SAFE_HEADERS, **caching(etag)})


def accepts_gzip(request: web.BaseRequest) -> bool:
    """Whether the client accepts a reply that is compressed by gzip."""
    for coding in ",".join(request.headers.getall("Accept-Encoding", ())).split(","):
        name, _, weight = coding.partition(";")
        if name.strip().lower() in {"gzip", "*"}:
            return weight.replace(" ", "").rstrip("0.") != "q="
    return False


def quoted(etag: str) -> str:
    """Return an entity tag as it is written in headers."""
    return f'"{etag}"'


def error_reply(
    error: VaultAgentError, request_id: str, headers: Mapping[str, str] | None = None
) -> web.Response:
    """Return an error in the contract's envelope."""
    message, details = error.over_http()
    body = {
        "error": {
            "code": error.code,
            "message": message,
            "details": {**details, "requestId": request_id},
        }
    }
    return _refusal(body, error.code, headers)


def rpc_error_reply(
    error: VaultAgentError, request_id: str, headers: Mapping[str, str] | None = None
) -> web.Response:
    """Return an error of the gate at the MCP endpoint: a JSON-RPC error without a request's ID."""
    data = {"code": error.code, "requestId": request_id}
    content = {"code": _RPC_SERVER_ERROR, "message": error.over_http()[0], "data": data}
    return _refusal({"jsonrpc": "2.0", "error": content}, error.code, headers)


def _refusal(
    body: Mapping[str, object], code: str, headers: Mapping[str, str] | None
) -> web.Response:
    status = status_of(code)
    challenge = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    return bytes_reply(orjson.dumps(body), status=status, headers={**challenge, **(headers or {})})


def internal_error() -> Failed:
    """Return the error for a defect of the server. The log has its type."""
    return Failed(
        "INTERNAL_ERROR",
        "Internal server error. The server's log has a line with this request's ID.",
    )


_PIECE_BYTES = 32 * 1024  # twice as much stays in memory for a client that does not read
_UNQUOTED = re.compile(r"[^A-Za-z0-9 ._()\-]")


async def send_shown(request: web.Request, attachment: OpenAttachment) -> web.StreamResponse:
    """Send a file that a page shows. Only types that run nothing are shown; others are saved.

    The first bytes tell the type. An SVG file may have scripts, so it is saved if it is opened by
    itself. As an image in a page it is shown in spite of the header, and cannot run scripts.
    """
    first = await asyncio.to_thread(attachment.file.read, SNIFFED_BYTES)
    media = shown_type(first)
    saved = media in (None, "image/svg+xml")
    # A viewer of PDF does not work in a sandbox. Only our own page may show it in a frame.
    framed = "frame-ancestors 'self'" if media == "application/pdf" else "sandbox"
    headers = {
        "Content-Security-Policy": f"default-src 'none'; style-src 'unsafe-inline'; {framed}",
        "Content-Type": media or "application/octet-stream",
        "Content-Disposition": disposition(attachment.info.name) if saved else "inline",
    }
    return await send_file(request, attachment, headers)


async def send_file(
    request: web.Request, attachment: OpenAttachment, headers: Mapping[str, str] | None = None
) -> web.StreamResponse:
    """Send an open attachment or a range of it, or 304. Raises RANGE_NOT_SATISFIABLE."""
    info = attachment.info
    if (unchanged := not_modified(request, info.etag)) is not None:
        unchanged.headers.update(headers or {})  # a browser replaces the headers of its copy
        return unchanged
    wanted = _wanted_range(request, info.etag)
    first, end, _ = (wanted or slice(None)).indices(info.size)
    if wanted is not None and first >= end:
        raise InvalidRequest(
            "RANGE_NOT_SATISFIABLE", "The range is outside the attachment.", {"size": info.size}
        )
    response = web.StreamResponse(
        status=200 if wanted is None else 206,
        headers={
            **SAFE_HEADERS,
            **caching(info.etag),
            "Accept-Ranges": "bytes",
            "Content-Disposition": disposition(info.name),
            "Content-Type": info.media_type,
            **(headers or {}),
        },
    )
    if wanted is not None:
        response.headers["Content-Range"] = f"bytes {first}-{end - 1}/{info.size}"
    response.content_length = end - first
    await response.prepare(request)
    if request.method != "HEAD":
        await _copy(response, attachment, first, end - first)
    await response.write_eof()
    return response


def disposition(name: str) -> str:
    """Return a Content-Disposition that saves the file as `name` (RFC 6266, RFC 8187).

    Both forms of the name are ASCII without quotes and line ends.
    """
    plain = _UNQUOTED.sub("_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _wanted_range(request: web.Request, etag: str) -> slice | None:
    """Return the range to send, or None to send the whole file.

    It is None also for several ranges, another unit, and an If-Range of other content or a date.
    """
    condition = request.headers.get("If-Range")
    if len(request.headers.getall("Range", [])) != 1 or condition not in (None, quoted(etag)):
        return None
    try:
        return request.http_range
    except ValueError:
        return None


async def _copy(
    response: web.StreamResponse, attachment: OpenAttachment, first: int, length: int
) -> None:
    await asyncio.to_thread(attachment.file.seek, first)
    while length > 0:
        piece = await asyncio.to_thread(attachment.file.read, min(_PIECE_BYTES, length))
        if not piece:
            # The file has shrunk. Only a broken connection shows that the reply is incomplete.
            raise ConnectionResetError
        await response.write(piece)
        length -= len(piece)
