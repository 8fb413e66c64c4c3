"""How replies are sent: JSON, the safe headers, and the status of each error code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from aiohttp import web
from multidict import CIMultiDict

from vault_agent.errors import CODES, Failed, VaultAgentError

if TYPE_CHECKING:
    from collections.abc import Mapping

SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "vault-agent",  # aiohttp would name its own version and Python's
}
"""On every reply: whatever a browser is tricked into loading, it neither renders nor embeds."""

_UNSTORED = {"Cache-Control": "no-store"}
# A reader may keep its copy and asks every time whether it still holds.
_REVALIDATED = {"Cache-Control": "private, no-cache"}


def status_of(code: str) -> int:
    """Return the HTTP status of a code; 500 where no reply is meant to carry it."""
    known = CODES.get(code)
    return known.status if known is not None and known.status is not None else 500


def bytes_reply(
    body: bytes,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    etag: str | None = None,
) -> web.Response:
    """Return JSON that is ready."""
    every = {**SAFE_HEADERS, **caching(etag), **(headers or {})}
    return web.Response(body=body, status=status, headers=every, content_type="application/json")


def caching(etag: str | None) -> dict[str, str]:
    """Return the headers that say how long a reply may be kept."""
    return _UNSTORED if etag is None else {**_REVALIDATED, "ETag": quoted(etag)}


def not_modified(request: web.BaseRequest, etag: str) -> web.Response | None:
    """Return 304 where If-None-Match names this very content, else None."""
    known = ",".join(request.headers.getall("If-None-Match", ())).split(",")
    tags = {tag.strip().removeprefix("W/") for tag in known}
    if "*" not in tags and quoted(etag) not in tags:
        return None
    return web.Response(status=304, headers={**SAFE_HEADERS, **caching(etag)})


def quoted(etag: str) -> str:
    """Return an entity tag as headers spell it."""
    return f'"{etag}"'


def error_reply(
    error: VaultAgentError, request_id: str, headers: Mapping[str, str] | None = None
) -> web.Response:
    """Return an error in the contract's envelope."""
    status = status_of(error.code)
    every: CIMultiDict[str] = CIMultiDict({**SAFE_HEADERS, **_UNSTORED, **(headers or {})})
    if status == 401:
        every["WWW-Authenticate"] = "Bearer"
    body = {
        "error": {
            "code": error.code,
            "message": error.message,
            "details": {**error.details, "requestId": request_id},
        }
    }
    return web.Response(
        body=orjson.dumps(body), status=status, headers=every, content_type="application/json"
    )


def internal_error() -> Failed:
    """Return the error that stands for a defect of ours; the log has its type."""
    return Failed(
        "INTERNAL_ERROR",
        "The server failed at this. Its log has a line with this request's id.",
    )
