"""A job as Server-Sent Events (WHATWG HTML, section 9.2), from now until its end."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from aiohttp import web

from vault_agent.server.keys import STOPPING
from vault_agent.server.replies import SAFE_HEADERS
from vault_agent.wire.base import dump
from vault_agent.wire.convert import job_data

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vault_agent.model.jobs import Job

HEARTBEAT_SECONDS = 5.0
"""How long a client that went away can go unnoticed."""


async def send_events(request: web.Request, jobs: AsyncIterator[Job]) -> web.StreamResponse:
    """Send each state of a job as an event `job`, then end; also when the server stops."""
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
        await _forward(response, jobs, request.app[STOPPING])
    await response.write_eof()
    return response


async def _forward(
    response: web.StreamResponse, jobs: AsyncIterator[Job], stopping: asyncio.Event
) -> None:
    stopped = asyncio.ensure_future(stopping.wait())
    following = asyncio.ensure_future(_next(jobs))
    try:
        while True:
            done, _ = await asyncio.wait(
                {stopped, following},
                timeout=HEARTBEAT_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if stopped in done:
                return
            if following in done:
                job = following.result()
                if job is None:
                    return
                await response.write(b"event: job\ndata: " + dump(job_data(job)) + b"\n\n")
                following = asyncio.ensure_future(_next(jobs))
            else:
                await response.write(b": still here\n\n")
    finally:
        stopped.cancel()
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


async def _next(jobs: AsyncIterator[Job]) -> Job | None:
    return await anext(jobs, None)
