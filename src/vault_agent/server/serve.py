"""Runs the server: bind, open, listen, and stop within five seconds of a signal."""

from __future__ import annotations

import asyncio
import math
import signal
import sys
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from vault_agent.app import open_app
from vault_agent.config.access import changes_notes
from vault_agent.config.rules import endpoint_of, is_loopback
from vault_agent.errors import Unauthorized
from vault_agent.server.app import create_app
from vault_agent.server.connection import Connections, Limits
from vault_agent.server.keys import ACTIVITY, APP, SESSIONS, Activity
from vault_agent.server.log import (
    EventLog,
    Level,
    captured_logging,
    level_named,
    private_stderr,
    report_crash,
)
from vault_agent.system.ports import BACKLOG, bound_sockets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager

    from vault_agent.app import App
    from vault_agent.config import Config
    from vault_agent.model.health import Health
    from vault_agent.web.sessions import Sessions

WATCH_START_SECONDS = 5.0
"""How long the announcement waits for the watch of the vault, to say how it is watched."""
_LOOK_SECONDS = 1.0
_SHUTDOWN_SECONDS = 1.5  # aiohttp waits this long twice: for requests, then for cancelled ones
_READ_SECONDS = 0.5
"""How long a stop waits for requests that only read."""
_SWITCH_SECONDS = 0.0005
"""How long a thread may hold the interpreter's lock while another waits. With Python's own 5 ms,
the event loop would wait that long for each search that is being ranked."""
_SPARE_FILES = 256  # open files reserved for the index and for attachments


@dataclass(frozen=True, slots=True)
class Listening:
    """A server that accepts requests."""

    host: str
    port: int
    app: App
    activity: Activity
    sessions: Sessions | None = None  # of the web page, if the server has a key

    def new_ticket(self) -> str | None:
        """Return a ticket for the web page, or None if the server has no key."""
        return self.sessions.make_ticket().text if self.sessions is not None else None


async def serve(
    config: Config,
    *,
    announce: Callable[[Listening, Health], None],
    open_app: Callable[..., AbstractAsyncContextManager[App]] = open_app,
    until_idle: bool = False,
    before_found: Callable[[], None] = lambda: None,
    look: Callable[[], None] = lambda: None,
) -> None:
    """Run the server until SIGINT or SIGTERM. `announce` is called once it accepts requests.

    `before_found` is called while it has the index, before clients can find it. With `until_idle`
    it also ends after `mcp.idle_minutes` without requests or jobs. `look` is called every second;
    it may change `config` where that is `live`, and an error of it ends the server.

    Raises Misconfigured PORT_IN_USE or CONFIG_INVALID, Unauthorized API_KEY_REQUIRED, and the
    errors of `open_app`, all before `announce` is called.
    """
    with private_stderr() as stream:
        log = EventLog(level_named(config.server.log_level), stream)
        sys.setswitchinterval(_SWITCH_SECONDS)
        with captured_logging(log), _stop_signals() as stopped:
            # A Ctrl-C during the imports ends the server here, while nothing is open.
            await asyncio.sleep(0)
            opening = partial(open_app, on_crash=partial(report_crash, log))
            async with listening(config, open_app=opening, log=log) as server:
                await asyncio.to_thread(before_found)
                vault = server.app.vaults.default
                endpoint = endpoint_of(server.host, server.port)
                await vault.listening_at(endpoint, until_idle=until_idle)
                await vault.watch.settled(WATCH_START_SECONDS)
                announce(server, await vault.health())

                def tend() -> None:
                    look()
                    log.level = level_named(config.server.log_level)

                idle_seconds = config.mcp.idle_minutes * 60 if until_idle else math.inf
                await _wait(stopped, server, idle_seconds, tend)
                # It keeps the index until all is closed. A client that found it would be refused.
                await vault.listening_at(None)
                log.emit(Level.INFO, "stopping")


async def _wait(
    stopped: asyncio.Event, server: Listening, idle_seconds: float, look: Callable[[], None]
) -> None:
    """Wait for a signal, or for the end of the time without requests and jobs. Raises as `look`."""
    while not stopped.is_set():
        look()
        if server.activity.idle_seconds >= idle_seconds and not server.app.vaults.has_running_job:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_SECONDS):
                await stopped.wait()


@asynccontextmanager
async def listening(
    config: Config,
    *,
    open_app: Callable[[Config], AbstractAsyncContextManager[App]],
    log: EventLog,
    limits: Limits | None = None,
    port: int | None = None,
) -> AsyncIterator[Listening]:
    """Accept requests within the context. With `port` 0 the system chooses a port."""
    host = config.server.host
    if config.server.api_key is None and (changes_notes(config) or not is_loopback(host)):
        raise Unauthorized(
            "API_KEY_REQUIRED",
            "A server that other computers can reach, or that changes notes, needs a key.",
        )
    limits = limits or Limits(connections=_room_for_connections(Limits().connections))
    sockets = bound_sockets(host, config.server.port if port is None else port)
    app = create_app(config=config, log=log, open_app=open_app, limits=limits)
    runner = web.AppRunner(app, shutdown_timeout=_SHUTDOWN_SECONDS)
    servers: list[asyncio.Server] = []
    connections: Connections | None = None
    try:
        await runner.setup()
        assert runner.server is not None  # noqa: S101 - set up just now
        connections = Connections(runner.server, limits, log)
        loop = asyncio.get_running_loop()
        servers = [
            await loop.create_server(connections, sock=bound, backlog=BACKLOG) for bound in sockets
        ]
        log.emit(
            Level.INFO,
            "listening",
            key_required=config.server.api_key is not None,
            cors_enabled=config.cors.enabled,
            embeddings_enabled=config.embedding.enabled,
        )
        port = sockets[0].getsockname()[1]
        yield Listening(host, port, app[APP], app[ACTIVITY], app.get(SESSIONS))
    finally:
        for server in servers:
            server.close()
        for bound in sockets:
            bound.close()
        if connections is not None:
            asyncio.get_running_loop().call_later(_READ_SECONDS, connections.end_reads)
        await runner.cleanup()
        log.emit(Level.INFO, "stopped")


def _room_for_connections(wanted: int) -> int:
    """Return the number of connections that the limit on open files allows, at most `wanted`.

    The soft limit is raised if it is too low: on macOS it is 256.
    """
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
        return min(wanted, max(soft - _SPARE_FILES, 32))
    return wanted


@contextmanager
def _stop_signals() -> Iterator[asyncio.Event]:
    """Yield an event that SIGINT or SIGTERM sets. A second signal ends the process at once."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}

    def stop(number: int, _frame: object = None) -> None:
        signal.signal(number, signal.SIG_DFL)
        loop.call_soon_threadsafe(stopped.set)

    # `signal.signal`, because Windows has no signal handlers of the event loop.
    for number in numbers:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
