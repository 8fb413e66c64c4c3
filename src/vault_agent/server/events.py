"""Sends the states of a job, or the news of a vault, as Server-Sent Events (WHATWG HTML, 9.2).

All followers of a job share one stream, so each state is serialised only once.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from aiohttp import web

from vault_agent.api.replies import shown_job
from vault_agent.errors import Busy, Unauthorized
from vault_agent.model.health import Revision
from vault_agent.model.jobs import Job
from vault_agent.model.memory import MemoryNews
from vault_agent.model.values import dump
from vault_agent.model.writing import LoggedWrite, WriteNews
from vault_agent.server.app_keys import ACCESS, CALLER, SESSIONS, STOPPING
from vault_agent.server.replies import SAFE_HEADERS
from vault_agent.vaults.event_stream import Signal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from vault_agent.api.caller import CallerKind
    from vault_agent.server.connection import Limits
    from vault_agent.vaults.event_stream import StreamItem

    StreamCaller = tuple[str, CallerKind]  # the client's address, and who calls

HEARTBEAT_SECONDS = 5.0
"""Time until the disconnection of a client, or the end of its session, is noticed."""

_NEWS_PATHS = 20
WARNINGS_WHILE_RUNNING = 10
"""Warnings in an event of a running job. The last event lists all that are kept."""


async def send_events(
    request: web.Request, job_id: str, watch: Callable[[str], AsyncIterator[Job]]
) -> web.StreamResponse:
    """Send each state of a job as an event `job`, until the job ends or the server stops."""
    async with _stream(request) as response:
        if request.method != "HEAD":
            async with request.app[JOB_STREAMS].follow(job_id, watch) as stream:
                await _forward(request, response, stream.events())
    return response


async def send_news(
    request: web.Request, last_id: str, news: AsyncIterator[StreamItem]
) -> web.StreamResponse:
    """Send the news of a vault as events with IDs, until the server stops."""

    async def events() -> AsyncIterator[bytes]:
        yield f"id: {last_id}\n\n".encode()  # for a client that reconnects before the first event
        async for item in news:
            yield _news_event(item)

    async with _stream(request) as response:
        if request.method != "HEAD":
            await _forward(request, response, events())
    return response


@asynccontextmanager
async def _stream(request: web.Request) -> AsyncIterator[web.StreamResponse]:
    caller = (request.remote or "", request[CALLER].kind)
    with request.app[OPEN_STREAMS].one_more_of(caller):
        response = await _begun(request)
        yield response
        await response.write_eof()


async def _begun(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={
            **SAFE_HEADERS,
            "Cache-Control": "no-store",
            "Content-Type": "text/event-stream; charset=utf-8",
        }
    )
    response.force_close()
    await response.prepare(request)
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


class JobStreams:
    """The streams of all jobs that are being followed."""

    def __init__(self) -> None:
        self._streams: dict[str, JobStream] = {}

    @asynccontextmanager
    async def follow(
        self, job_id: str, watch: Callable[[str], AsyncIterator[Job]]
    ) -> AsyncIterator[JobStream]:
        """Yield the stream of a job. The first follower starts it, and the last one ends it."""
        stream = self._streams.get(job_id)
        if stream is None:
            stream = self._streams[job_id] = JobStream(watch(job_id))
        stream.followers += 1
        try:
            yield stream
        finally:
            stream.followers -= 1
            if not stream.followers:
                del self._streams[job_id]
                await stream.close()


JOB_STREAMS = web.AppKey("job_streams", JobStreams)


class JobStream:
    """The newest state of one job as the bytes of an event. Followers wait for the next one."""

    def __init__(self, states: AsyncIterator[Job]) -> None:
        self.followers = 0
        self._states = states
        self._newest = b""
        self._count = 0
        self._change = Signal()
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(lambda _: self._change.announce())

    async def after(self, count: int) -> tuple[int, bytes] | None:
        """Wait for more than `count` states, and return their number and the newest.

        Return None after the last state. A slow follower misses the states in between.
        """
        while self._count == count:
            if self._reading.done():
                self._reading.result()  # raises the error that ended it, if any
                return None
            await self._change.wait()
        return self._count, self._newest

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the newest state at each change until the last."""
        count = 0
        while (newer := await self.after(count)) is not None:
            count, event = newer
            yield event

    async def close(self) -> None:
        """Stop watching the job."""
        self._reading.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._reading

    async def _read(self) -> None:
        async for job in self._states:
            self._newest = _event(job)
            self._count += 1
            self._change.announce()


def _event(job: Job) -> bytes:
    if not job.state.final:
        job = replace(job, warnings=job.warnings[:WARNINGS_WHILE_RUNNING])
    return b"event: job\ndata: " + dump(shown_job(job)) + b"\n\n"


def _news_event(news: StreamItem) -> bytes:
    item = news.item
    if item is None:
        event = b"event: resync\ndata: {}\n\n"
    elif isinstance(item, Job):
        event = _event(item)
    elif isinstance(item, Revision):
        event = b"event: revision\ndata: " + dump(item) + b"\n\n"
    elif isinstance(item, LoggedWrite):
        event = b"event: write\ndata: " + dump(_write_news(item)) + b"\n\n"
    elif isinstance(item, MemoryNews):
        event = b"event: memory\ndata: " + dump(item) + b"\n\n"
    else:
        event = b"event: watch\ndata: " + dump(item) + b"\n\n"
    return b"id: " + news.id.encode() + b"\n" + event


def _write_news(logged: LoggedWrite) -> WriteNews:
    return WriteNews(
        write_id=logged.write_id,
        operation=logged.operation,
        agent=logged.agent,
        client=logged.client,
        paths=tuple(change.place for change in logged.changes[:_NEWS_PATHS]),
        file_count=len(logged.changes),
    )


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
            request.headers.getall("Authorization", []), sessions=request.app.get(SESSIONS)
        )
    except Unauthorized:
        return False
    return True
