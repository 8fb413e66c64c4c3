"""The handlers. Each performs one operation and replies. Most routes use `reply`."""

from __future__ import annotations

import gzip
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from aiohttp import web

from vault_agent.api.caller import OWNER
from vault_agent.api.context import CallContext
from vault_agent.api.operation import Got, Operation, answer, perform
from vault_agent.api.operations import DOWNLOAD
from vault_agent.model.jobs import OneJob
from vault_agent.model.search import Answer, CompactAnswer
from vault_agent.server.connection import while_client_waits
from vault_agent.server.downloads import send_file
from vault_agent.server.events import send_events, send_news
from vault_agent.server.keys import APP, CALLER, OPENAPI, TRACE
from vault_agent.server.replies import (
    SAFE_HEADERS,
    accepts_gzip,
    bytes_reply,
    caching,
    not_modified,
)
from vault_agent.system.cancelling import in_thread, to_its_end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractContextManager

    from vault_agent.api.caller import Caller
    from vault_agent.api.operation import Outcome
    from vault_agent.model.reply import Reply
    from vault_agent.server.log import Fields
    from vault_agent.vaults.open_vault import OpenVault


PROGRAM = "vault-agent"
"""The name of the command line in its User-Agent header. It is only for the log of writes."""

_COMPRESSION = 1  # within a tenth of the size of 6, in a fifth of its time (measured)


@dataclass(frozen=True, slots=True)
class Call:
    """A validated request of a route. `sent` is the operation's request model.

    `prefix` is the beginning of the path that names the vault, "" for the default vault.
    """

    request: web.Request
    vault: OpenVault
    operation: Operation[Any, Any]
    sent: Any
    status: int = 200
    prefix: str = ""

    @property
    def caller(self) -> Caller:
        """The caller that the gate admitted, and which program it uses."""
        known = self.request[CALLER]
        program = self.request.headers.get("User-Agent", "").partition("/")[0]
        return replace(known, client="cli") if known == OWNER and program == PROGRAM else known

    @property
    def context(self) -> CallContext:
        """What operations run in, for the caller that the gate admitted."""
        return CallContext(self.request.app[APP], self.vault, self.caller)

    async def perform(self, operation: Operation[Any, Got]) -> Got:
        """Run an operation with the request, for the caller that the gate admitted."""
        with self._while_wanted(operation):
            return await perform(operation, self.context, self.sent)

    async def answer(self) -> Outcome:
        """Perform the operation, within the limit of a reply's size."""
        with self._while_wanted(self.operation):
            return await answer(self.operation, self.context, self.sent)

    def _while_wanted(self, operation: Operation[Any, Any]) -> AbstractContextManager[None]:
        """Return a context that ends what only reads if the client disconnects."""
        return nullcontext() if operation.writes else while_client_waits(self.request)


async def reply(call: Call) -> web.StreamResponse:
    """Perform the operation and reply in JSON, or with 304 if the client has the content."""
    outcome = await call.answer()
    _trace(call.request[TRACE].fields, outcome.reply)
    if outcome.etag is not None and (known := not_modified(call.request, outcome.etag)):
        return known
    status = 202 if outcome.accepted else 201 if outcome.created else call.status
    made = bytes_reply(
        outcome.body,
        status=status,
        headers=_location(call, outcome.reply.data) if status == 202 else None,
        etag=outcome.etag,
    )
    if outcome.settle is not None:
        await _send(call.request, made, outcome.settle)
    return made


async def whole_graph(call: Call) -> web.StreamResponse:
    """Reply with the whole graph, compressed if the client accepts that."""
    graph = await call.perform(call.operation)
    compressed = accepts_gzip(call.request)
    etag = f"{graph.etag}-gzip" if compressed else graph.etag
    varying = {"Vary": "Accept-Encoding"}
    if known := not_modified(call.request, etag):
        known.headers.update(varying)
        return known
    body = await graph.build()
    if compressed:
        body = await in_thread(gzip.compress, body, _COMPRESSION, mtime=0)
        varying["Content-Encoding"] = "gzip"
    return bytes_reply(body, headers=varying, etag=etag)


async def layout(call: Call) -> web.StreamResponse:
    """Reply with the positions of the notes of the graph, in binary."""
    found = await call.perform(call.operation)
    if known := not_modified(call.request, found.revision):
        return known
    headers = {**SAFE_HEADERS, **caching(found.revision)}
    return web.Response(body=found.body, headers=headers, content_type="application/octet-stream")


async def attachment(call: Call) -> web.StreamResponse:
    """Reply with an attachment's metadata, or with `download=true` with its bytes."""
    if not call.sent.download:
        return await reply(call)
    opened = await call.perform(DOWNLOAD)
    with opened.file:
        return await send_file(call.request, opened)


async def job_events(call: Call) -> web.StreamResponse:
    """Send a job's states as events until its end."""
    feed = await call.perform(call.operation)
    return await send_events(call.request, feed.job_id, feed.watch)


async def events(call: Call) -> web.StreamResponse:
    """Send the news of the vault as events, after the one that `Last-Event-ID` names."""
    feed = await call.perform(call.operation)
    after = call.request.headers.get("Last-Event-ID")
    return await send_news(call.request, feed.last_id, feed.follow(after))


async def description(call: Call) -> web.StreamResponse:
    """Reply with the OpenAPI description."""
    return bytes_reply(call.request.app[OPENAPI]())


async def _send(
    request: web.Request, made: web.Response, settle: Callable[[bool], Awaitable[None]]
) -> None:
    """Send a reply now, and settle whether the client still was there to get it."""
    is_there = False
    try:
        await made.prepare(request)
        await made.write_eof()
        transport = request.transport
        is_there = transport is not None and not transport.is_closing()
    except ConnectionError:
        pass  # it is gone
    finally:
        await to_its_end(settle(is_there))


def _location(call: Call, data: object) -> dict[str, str]:
    place = f"{call.prefix}/jobs/"
    return {"Location": f"{place}{data.job.id}"} if isinstance(data, OneJob) else {}


def _trace(logged: Fields, sent: Reply[Any]) -> None:
    """Record modes and counts of a search for the log."""
    data = sent.data
    if not isinstance(data, Answer | CompactAnswer):
        return
    logged["used_mode"] = data.used_mode.value
    logged["result_count"] = len(data.hits)
    logged["warning_count"] = len(sent.warnings)
    if data.requested_mode is not None:
        logged["requested_mode"] = data.requested_mode.value
