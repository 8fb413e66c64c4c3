"""What the application and a request carry: typed keys, in one place."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import web

from vault_agent.server.access import Access
from vault_agent.server.connection import Limits
from vault_agent.server.log import EventLog, Fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.library.library import Library
    from vault_agent.server.events import JobStreams

LIMITS = web.AppKey("limits", Limits)
ACCESS = web.AppKey("access", Access)
LOG = web.AppKey("log", EventLog)
STOPPING = web.AppKey("stopping", asyncio.Event)
JOB_STREAMS: web.AppKey[JobStreams] = web.AppKey("job_streams")
OPENAPI: web.AppKey[Callable[[], bytes]] = web.AppKey("openapi")
LIBRARY: web.AppKey[Library] = web.AppKey("library")


@dataclass(slots=True)
class Trace:
    """What the log and the error replies will say of one request."""

    request_id: str
    route: str | None = None  # the template
    origin: str | None = None  # of a page that may call
    admitted: bool = False
    fields: Fields = field(default_factory=Fields)


TRACE = web.RequestKey("trace", Trace)
