"""Builds HTTP replies: JSON, the safe headers, and the status of each error code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from aiohttp import web
from multidict import CIMultiDict

from vault_agent.codes import CODES
from vault_agent.errors import Failed, VaultAgentError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    known = CODES.get(code)
    return known.status if known is not None and known.status is not None else 500


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
    known = ",".join(request.headers.getall("If-None-Match", ())).split(",")
    tags = {tag.strip().removeprefix("W/") for tag in known}
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
    every: CIMultiDict[str] = CIMultiDict({**SAFE_HEADERS, **_UNSTORED, **(headers or {})})
    if status == 401:
        every["WWW-Authenticate"] = "Bearer"
    return web.Response(
        body=orjson.dumps(body), status=status, headers=every, content_type="application/json"
    )


def internal_error() -> Failed:
    """Return the error for a defect of the server. The log has its type."""
    return Failed(
        "INTERNAL_ERROR",
        "Internal server error. The server's log has a line with this request's ID.",
    )
