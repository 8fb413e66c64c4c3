"""The gate: a middleware that checks every request before the handler of its route runs.

aiohttp has looked up the route by then; a request to an unknown route is checked too. The checks
are, in this order: Host, Origin, Sec-Fetch-Site, key. The preflight of an allowed origin needs no
key, nor do the requests of `needs_no_key`.

Every error becomes a reply in the contract's envelope with the safe headers. Each request gets one
line in the log.
"""

from __future__ import annotations

import re
import secrets
import time
from typing import TYPE_CHECKING

from aiohttp import web

from vault_agent import __version__
from vault_agent.errors import InvalidRequest, NotFound, VaultAgentError
from vault_agent.server.access import bearer
from vault_agent.server.app_keys import (
    ACCESS,
    ACTIVITY,
    APP,
    CALLER,
    CONFIG,
    LOG,
    PAGE_SESSIONS,
    TRACE,
    Trace,
)
from vault_agent.server.connection import ClientConnection
from vault_agent.server.log import Level
from vault_agent.server.mcp import MCP, agent_of, is_mcp
from vault_agent.server.replies import SAFE_HEADERS, error_reply, internal_error, rpc_error_reply
from vault_agent.server.ui import is_shell, needs_no_key
from vault_agent.system.crash import describe_crash

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_EXPOSED = "Content-Disposition, Content-Range, ETag, Location, X-Request-Id"
_CLIENT_GONE = 499  # only in the log; nginx uses the same number
_RETRY_AFTER = {"NOTE_BUSY": 3, "SERVER_BUSY": 3, "TOO_MANY_REQUESTS": 60}
"""Seconds after which a refused write may be tried again."""
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, If-Match,"
    " If-None-Match, If-Range, Range",
    "Access-Control-Max-Age": "600",
}

_MCP_HEADERS = ", MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID"


@web.middleware
async def gate(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Check a request, run its route, turn errors into replies, and log once."""
    began = time.perf_counter()
    trace = request[TRACE] = Trace(secrets.token_hex(8))
    if isinstance(request.protocol, ClientConnection):
        request.protocol.begin(request)
    try:
        _admit(request, trace)
        with request.app[ACTIVITY].request():
            response = _preflight(request, trace) or await handler(request)
    except Exception as error:  # the last handler: no other may reply with an error
        if isinstance(error, ConnectionError) and _gone(request):
            trace.fields["status"] = _CLIENT_GONE
            _log(request, trace, began)
            raise
        coded = _known(error)
        trace.fields["code"] = coded.code
        if coded.code == "INTERNAL_ERROR":
            crash = describe_crash(error)
            trace.fields["error_type"], trace.fields["frames"] = crash.error_type, crash.frames
        if _gone(request):
            # Only a broken connection shows that the reply is incomplete.
            trace.fields["status"] = 500 if request.transport else _CLIENT_GONE
            _log(request, trace, began)
            raise ConnectionResetError from None
        reply = rpc_error_reply if MCP in request.app and is_mcp(request.path) else error_reply
        response = reply(coded, trace.request_id, _headers_of(coded))
        if request.body_exists and not request.content.is_eof():
            response.force_close()
    trace.fields.setdefault("status", response.status)
    _log(request, trace, began)
    return response


async def stamp(request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers of every reply. aiohttp calls this before it sends the first byte."""
    trace = request.get(TRACE)
    if trace is None:
        return  # refused by the connection itself, before the gate
    response.headers["X-Request-Id"] = trace.request_id
    if trace.is_admitted:
        response.headers["X-Vault-Id"] = request.app[APP].vaults.default.identity
        response.headers["X-Vault-Agent"] = __version__
    if request.app[ACCESS].cross_origin:
        response.headers["Vary"] = "Origin"
    if trace.origin is not None:
        response.headers["Access-Control-Allow-Origin"] = trace.origin
        response.headers["Access-Control-Expose-Headers"] = _EXPOSED
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"


def _admit(request: web.Request, trace: Trace) -> None:
    access = request.app[ACCESS]
    host = request.headers.get("Host", "")
    sockname = request.transport.get_extra_info("sockname") if request.transport else None
    local_address = sockname[0] if sockname else None
    access.check_host(host, local_address)
    if not request.raw_path.startswith(("/", "*")):
        # The absolute form `http://host/path` takes precedence over the Host header.
        authority = request.raw_path.partition("://")[2] or request.raw_path
        access.check_host(re.split("[/?#]", authority, maxsplit=1)[0], local_address)
    origins = request.headers.getall("Origin", [])
    trace.origin = access.check_origin(", ".join(origins) if origins else None, host)
    path = request.rel_url.raw_path if request.app[CONFIG].web.enabled else ""
    if trace.origin is None:
        sites = request.headers.getall("Sec-Fetch-Site", [])
        access.check_site(sites, opened=is_shell(request.method, path) and _is_opened(request))
    if needs_no_key(request.method, path) or (trace.origin and _is_preflight(request)):
        return
    authorization = request.headers.getall("Authorization", [])
    if is_mcp(request.path):  # `server/mcp.py` makes the caller, who may do less than the owner
        access.check_token(bearer(authorization), agent_of(request.path))
    else:
        request[CALLER] = access.check_key(authorization, request.app.get(PAGE_SESSIONS))
    trace.is_admitted = True


def _is_opened(request: web.Request) -> bool:
    """Whether a browser opens the address in a tab of its own, and not within another page."""
    wanted = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    return all(request.headers.getall(name, []) == [value] for name, value in wanted.items())


def _is_preflight(request: web.Request) -> bool:
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


def _preflight(request: web.Request, trace: Trace) -> web.Response | None:
    """Return the reply to the preflight of an allowed origin, which carries no key."""
    if trace.origin is None or not _is_preflight(request):
        return None
    headers = {**SAFE_HEADERS, **_PREFLIGHT}
    if MCP in request.app:
        headers["Access-Control-Allow-Headers"] += _MCP_HEADERS
    return web.Response(status=204, headers=headers)


def _gone(request: web.Request) -> bool:
    """Whether no reply can be sent: the client has disconnected, or a reply has begun."""
    return request.transport is None or request.writer.output_size > 0


def _known(error: Exception) -> VaultAgentError:
    if isinstance(error, VaultAgentError):
        return error
    if isinstance(error, web.HTTPNotFound):
        return NotFound("ROUTE_NOT_FOUND", "There is no such route.")
    if isinstance(error, web.HTTPException) and error.status < 500:
        return InvalidRequest("INVALID_REQUEST", "The request is not valid HTTP.")
    return internal_error()


def _headers_of(error: VaultAgentError) -> dict[str, str]:
    if error.code == "METHOD_NOT_ALLOWED":
        return {"Allow": ", ".join(error.details.get("allowed", ()))}
    if error.code == "RANGE_NOT_SATISFIABLE":
        return {"Content-Range": f"bytes */{error.details.get('size')}"}
    if error.code in _RETRY_AFTER:
        seconds = error.details.get("retryAfter", _RETRY_AFTER[error.code])
        return {"Retry-After": str(seconds)}
    return {}


def _log(request: web.Request, trace: Trace, began: float) -> None:
    fields = trace.fields
    fields["request_id"] = trace.request_id
    fields["method"] = request.method
    fields["duration_ms"] = round((time.perf_counter() - began) * 1000, 1)
    if trace.route is not None:
        fields["route"] = trace.route
    status = fields.get("status", 500)
    level = Level.ERROR if status == 500 else Level.INFO
    request.app[LOG].emit(level, "request", **fields)
