"""How the server sends the result of an operation: mostly as JSON."""

from __future__ import annotations

import gzip
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from aiohttp import web

from vault_agent.api.caller import OWNER, CallContext
from vault_agent.api.graph import GraphToBuild
from vault_agent.api.operation import OCTETS, Operation, Result, encode, perform
from vault_agent.api.vaults import Feed
from vault_agent.model.jobs import OneJob
from vault_agent.model.search import Answer
from vault_agent.server.app_keys import APP, CALLER, TRACE
from vault_agent.server.connection import while_client_waits
from vault_agent.server.events import send_feed
from vault_agent.server.replies import (
    SAFE_HEADERS,
    accepts_gzip,
    bytes_reply,
    caching,
    not_modified,
    send_file,
)
from vault_agent.system.cancelling import in_thread, to_its_end
from vault_agent.vault.attachments import OpenAttachment
from vault_agent.vaults.links import Layout

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.api.caller import Caller
    from vault_agent.server.log import Fields
    from vault_agent.vaults.open_vault import OpenVault

PROGRAM = "vault-agent"
"""The name of the command line in its User-Agent header. It gives no rights."""

_COMPRESSION = 1  # within a tenth of the size of 6, in a fifth of its time (measured)


@dataclass(frozen=True, slots=True)
class RouteCall:
    """A validated request of a route. `operation_request` is of the operation's request class.

    `prefix` is the beginning of the path that names the vault, "" for the default vault.
    """

    request: web.Request
    vault: OpenVault
    operation: Operation[Any, Any]
    operation_request: Any
    prefix: str = ""

    @property
    def caller(self) -> Caller:
        """The caller that the gate admitted, and which program it uses."""
        admitted = self.request[CALLER]
        program = self.request.headers.get("User-Agent", "").partition("/")[0]
        return (
            replace(admitted, client="cli")
            if admitted == OWNER and program == PROGRAM
            else admitted
        )

    @property
    def context(self) -> CallContext:
        """The context in which the operation runs, with the caller that the gate admitted."""
        return CallContext(self.request.app[APP], self.vault, self.caller)


async def perform_and_send(call: RouteCall) -> web.StreamResponse:
    """Perform the operation of a call and send what it returns."""
    # An operation that only reads is cancelled if the client disconnects.
    waiting = nullcontext() if call.operation.writes else while_client_waits(call.request)
    with waiting:
        result = await perform(call.operation, call.context, call.operation_request)
    return await send(call, result)


async def send(call: RouteCall, result: Any) -> web.StreamResponse:
    """Send what an operation has returned."""
    match result:
        case Result():
            return await _send_json(call, *encode(call.operation, result))
        case GraphToBuild():
            return await _send_graph(call, result)
        case Layout():
            return _send_layout(call, result)
        case Feed():
            return await send_feed(call.request, result)
        case OpenAttachment():
            with result.file:
                return await send_file(call.request, result)
    assert isinstance(result, web.StreamResponse)  # noqa: S101 - for the type
    return result


async def _send_json(call: RouteCall, result: Result[Any], body: bytes) -> web.StreamResponse:
    """Send a reply in JSON, or 304 if the client has the content."""
    _trace(call.request[TRACE].fields, result)
    if result.etag is not None and (unchanged := not_modified(call.request, result.etag)):
        return unchanged
    status = result.status or call.operation.status
    made = bytes_reply(
        body,
        status=status,
        headers=_location(call, result.data) if status == 202 else None,
        etag=result.etag,
    )
    if result.after_sent is not None:
        await _send(call.request, made, result.after_sent)
    return made


async def _send_graph(call: RouteCall, graph: GraphToBuild[Any]) -> web.StreamResponse:
    """Send the whole graph, compressed if the client accepts that."""
    compressed = accepts_gzip(call.request)
    etag = f"{graph.etag}-gzip" if compressed else graph.etag
    varying = {"Vary": "Accept-Encoding"}
    if unchanged := not_modified(call.request, etag):
        unchanged.headers.update(varying)
        return unchanged
    body = await graph.build()
    if compressed:
        body = await in_thread(gzip.compress, body, _COMPRESSION, mtime=0)
        varying["Content-Encoding"] = "gzip"
    return bytes_reply(body, headers=varying, etag=etag)


def _send_layout(call: RouteCall, layout: Layout) -> web.StreamResponse:
    """Send the positions of the notes of the graph, in binary."""
    if unchanged := not_modified(call.request, layout.revision):
        return unchanged
    headers = {**SAFE_HEADERS, **caching(layout.revision)}
    return web.Response(body=layout.body, headers=headers, content_type=OCTETS)


async def _send(
    request: web.Request, made: web.Response, after_sent: Callable[[bool], Awaitable[None]]
) -> None:
    """Send a reply, then call `after_sent` with whether the client was still connected."""
    is_connected = False
    try:
        await made.prepare(request)
        await made.write_eof()
        transport = request.transport
        is_connected = transport is not None and not transport.is_closing()
    except ConnectionError:
        pass
    finally:
        await to_its_end(after_sent(is_connected))


def _location(call: RouteCall, data: object) -> dict[str, str]:
    place = f"{call.prefix}/jobs/"
    return {"Location": f"{place}{data.job.id}"} if isinstance(data, OneJob) else {}


def _trace(logged: Fields, result: Result[Any]) -> None:
    """Record modes and counts of a search for the log."""
    data = result.data
    if not isinstance(data, Answer):
        return
    logged["used_mode"] = data.used_mode.value
    logged["result_count"] = len(data.results)
    logged["warning_count"] = len(result.warnings)
    if data.requested_mode is not None:
        logged["requested_mode"] = data.requested_mode.value
