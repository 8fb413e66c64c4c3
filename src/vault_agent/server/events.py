"""Sends the states of a job, or the news of a vault, as Server-Sent Events (WHATWG HTML, 9.2)."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any

from aiohttp import web

from vault_agent.api.replies import shown_job
from vault_agent.errors import Busy, Unauthorized
from vault_agent.model.health import Revision, WatchStatus
from vault_agent.model.jobs import Job
from vault_agent.model.memory import MemoryNews
from vault_agent.model.values import dump
from vault_agent.model.writing import LoggedWrite, WriteNews
from vault_agent.server.app_keys import ACCESS, CALLER, PAGE_SESSIONS, STOPPING
from vault_agent.server.replies import SAFE_HEADERS
from vault_agent.vaults.event_stream import StreamItem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from vault_agent.api.caller import CallerKind
    from vault_agent.api.vaults import Feed
    from vault_agent.server.connection import Limits
    from vault_agent.vaults.event_stream import Item

    StreamCaller = tuple[str, CallerKind]  # the client's address, and the kind of caller

HEARTBEAT_SECONDS = 5.0
"""Time until the disconnection of a client, or the end of its session, is noticed."""

_NEWS_PATHS = 20
WARNINGS_WHILE_RUNNING = 10
"""Warnings in an event of a running job. The last event lists all that are kept."""


async def send_feed(request: web.Request, feed: Feed) -> web.StreamResponse:
    """Send a feed as events, until it ends or the server stops."""

    async def events() -> AsyncIterator[bytes]:
        if feed.last_id is not None:  # for a client that reconnects before the first event
            yield f"id: {feed.last_id}\n\n".encode()
        async for news in feed.follow(request.headers.get("Last-Event-ID")):
            if isinstance(news, StreamItem):
                yield f"id: {news.id}\n".encode() + _event(news.item)
            else:
                yield _event(news)

    caller = (request.remote or "", request[CALLER].kind)
    with request.app[OPEN_STREAMS].one_more_of(caller):
        response = web.StreamResponse(
            headers={
                **SAFE_HEADERS,
                "Cache-Control": "no-store",
                "Content-Type": "text/event-stream; charset=utf-8",
            }
        )
        response.force_close()
        await response.prepare(request)
        if request.method != "HEAD":
            await _forward(request, response, events())
        await response.write_eof()
    return response


class OpenStreams:
    """Counts the streams that are open, so that they leave connections for other requests."""

    def __init__(self, limits: Limits) -> None:
        self._most = max(1, limits.connections // 4)
        self._most_of_caller = limits.streams_of_caller
        self._open: Counter[StreamCaller] = Counter()

    @contextmanager
    def one_more_of(self, caller: StreamCaller) -> Iterator[None]:
        """Count a stream of a caller within the context.

        Raises:
            Busy: `SERVER_BUSY` if too many are open.
        """
        if self._open.total() >= self._most or self._open[caller] >= self._most_of_caller:
            raise Busy("SERVER_BUSY", "Too many streams of events are open.")
        self._open[caller] += 1
        try:
            yield
        finally:
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]


OPEN_STREAMS = web.AppKey("open_streams", OpenStreams)


_NAMES = {
    NoneType: "resync",
    Job: "job",
    Revision: "revision",
    LoggedWrite: "write",
    MemoryNews: "memory",
    WatchStatus: "watch",
}
"""What events are called, by the class of the news."""


def _event(news: Item | None) -> bytes:
    data: Any = {} if news is None else news
    if isinstance(news, LoggedWrite):
        data = WriteNews(
            write_id=news.write_id,
            operation=news.operation,
            agent=news.agent,
            client=news.client,
            paths=tuple(change.path_after for change in news.changes[:_NEWS_PATHS]),
            file_count=len(news.changes),
        )
    elif isinstance(news, Job):
        warnings = news.warnings
        if not news.state.final:
            warnings = warnings[:WARNINGS_WHILE_RUNNING]
        data = shown_job(replace(news, warnings=warnings))
    return f"event: {_NAMES[type(news)]}\ndata: ".encode() + dump(data) + b"\n\n"


async def _forward(
    request: web.Request, response: web.StreamResponse, events: AsyncIterator[bytes]
) -> None:
    """Send events until there are no more, the caller's session ends, or the server stops."""
    stopped = asyncio.ensure_future(request.app[STOPPING].wait())
    following = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait(
                {stopped, following},
                timeout=HEARTBEAT_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if stopped in done or not _is_admitted(request):
                return
            if following in done:
                event = following.result()
                if event is None:
                    return
                await response.write(event)
                following = asyncio.ensure_future(anext(events, None))
            else:
                await response.write(b": still here\n\n")
    finally:
        stopped.cancel()
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


def _is_admitted(request: web.Request) -> bool:
    """Whether the key or the session of a stream is still valid."""
    try:
        request.app[ACCESS].check_key(
            request.headers.getall("Authorization", []), request.app.get(PAGE_SESSIONS)
        )
    except Unauthorized:
        return False
    return True
