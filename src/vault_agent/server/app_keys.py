"""Typed keys of the values that an application and a request hold."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import web

from vault_agent.api.caller import Caller
from vault_agent.server.access import Access
from vault_agent.server.connection import Limits
from vault_agent.server.log import EventLog, Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vault_agent.app import App
    from vault_agent.config.settings import Config
    from vault_agent.web.assets import Assets
    from vault_agent.web.page_sessions import PageSessions

LIMITS = web.AppKey("limits", Limits)
ACCESS = web.AppKey("access", Access)
LOG = web.AppKey("log", EventLog)
STOPPING = web.AppKey("stopping", asyncio.Event)
OPENAPI: web.AppKey[Callable[[], bytes]] = web.AppKey("openapi")
APP: web.AppKey[App] = web.AppKey("app")
CONFIG: web.AppKey[Config] = web.AppKey("config")
ASSETS: web.AppKey[Assets] = web.AppKey("assets")
PAGE_SESSIONS: web.AppKey[PageSessions] = web.AppKey("sessions")  # only with a key and the web page


@dataclass(slots=True)
class Trace:
    """The data of one request for the log and for error replies."""

    request_id: str
    route: str | None = None  # the template, not the path
    origin: str | None = None  # an allowed foreign origin
    is_admitted: bool = False  # whether the key was checked: the reply may name the vault
    fields: Fields = field(default_factory=Fields)


class Activity:
    """When the server was last used."""

    def __init__(self) -> None:
        self._used_at = time.monotonic()
        self._in_flight = 0

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request."""
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            self._used_at = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """The time since the last request; 0 while one is in flight."""
        return 0.0 if self._in_flight else time.monotonic() - self._used_at


ACTIVITY = web.AppKey("activity", Activity)
TRACE = web.RequestKey("trace", Trace)
CALLER = web.RequestKey("caller", Caller)  # of an admitted request; none if it is to `/mcp`
