"""Sends an attachment, whole or one range (RFC 9110), as a download that is never rendered."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from aiohttp import web

from vault_agent.errors import InvalidRequest
from vault_agent.server.replies import SAFE_HEADERS, caching, not_modified, quoted
from vault_agent.vault.attachments import SNIFFED_BYTES, shown_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.vault.attachments import OpenAttachment

_PIECE_BYTES = 32 * 1024  # twice as much stays in memory for a client that does not read
_RANGE = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))", re.IGNORECASE)
_UNQUOTED = re.compile(r"[^A-Za-z0-9 ._()\-]")


async def send_shown(request: web.Request, attachment: OpenAttachment) -> web.StreamResponse:
    """Send a file that a page shows. Only types that run nothing are shown; others are saved.

    The type is that of the first bytes. An SVG file that is opened by itself is saved: as an image
    in a page it cannot run its scripts, and that does not depend on this header.
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
        unchanged.headers.update(headers or {})  # a browser takes them for those of its copy
        return unchanged
    first, length = _span(request, info.size, info.etag)
    partial = length != info.size or first != 0 or _honours_range(request, info.etag)
    response = web.StreamResponse(
        status=206 if partial else 200,
        headers={
            **SAFE_HEADERS,
            **caching(info.etag),
            "Accept-Ranges": "bytes",
            "Content-Disposition": disposition(info.name),
            "Content-Type": info.media_type,
            **(headers or {}),
        },
    )
    if partial:
        response.headers["Content-Range"] = f"bytes {first}-{first + length - 1}/{info.size}"
    response.content_length = length
    await response.prepare(request)
    if request.method != "HEAD":
        await _copy(response, attachment, first, length)
    await response.write_eof()
    return response


def disposition(name: str) -> str:
    """Return a Content-Disposition that saves the file as `name` (RFC 6266, RFC 8187).

    Both forms of the name are ASCII without quotes and line ends.
    """
    plain = _UNQUOTED.sub("_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _honours_range(request: web.Request, etag: str) -> bool:
    """Whether to send one range, of the same content that the client knows.

    For several ranges, another unit, an If-Range of other content or with a date, the whole file
    is sent.
    """
    condition = request.headers.get("If-Range")
    return _wanted_range(request) is not None and (condition is None or condition == quoted(etag))


def _wanted_range(request: web.Request) -> re.Match[str] | None:
    ranges = request.headers.getall("Range", [])
    match = _RANGE.fullmatch(ranges[0].strip()) if len(ranges) == 1 else None
    if match and match[2] and int(match[2]) < int(match[1]):
        return None
    return match


def _span(request: web.Request, size: int, etag: str) -> tuple[int, int]:
    """Return the first byte to send, and the number of bytes."""
    match = _wanted_range(request)
    if match is None or not _honours_range(request, etag):
        return 0, size
    if match[3] is not None:
        length = min(int(match[3]), size)
        first = size - length
    else:
        first = int(match[1])
        last = min(int(match[2]), size - 1) if match[2] else size - 1
        length = last - first + 1
    if length <= 0:
        raise InvalidRequest(
            "RANGE_NOT_SATISFIABLE", "The range is outside the attachment.", {"size": size}
        )
    return first, length


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
