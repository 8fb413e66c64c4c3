"""Runs the server: bind, open, listen, follow the settings, and stop within five seconds."""

from __future__ import annotations

import asyncio
import math
import signal
import sys
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from vault_agent.app import open_app
from vault_agent.config.rules import endpoint_of
from vault_agent.config.server_key import needs_key
from vault_agent.errors import Failed, Unauthorized, VaultAgentError
from vault_agent.server.app import create_app
from vault_agent.server.app_keys import ACTIVITY, APP, PAGE_SESSIONS, Activity
from vault_agent.server.connection import ClientConnections, Limits
from vault_agent.server.log import (
    EventLog,
    Level,
    captured_logging,
    private_stderr,
    report_crash,
)
from vault_agent.store.directory import ServerLock
from vault_agent.system.address import BACKLOG, SERVER_LOCK, bound_sockets

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from contextlib import AbstractAsyncContextManager

    from vault_agent.app import App
    from vault_agent.config.followed_file import FollowedFile
    from vault_agent.config.settings import Config
    from vault_agent.model.health import Health
    from vault_agent.web.page_sessions import PageSessions

IDLE_SECONDS = 15 * 60.0
"""After this time without requests and jobs, a server ends that a command or agent has started."""
WATCH_START_SECONDS = 5.0
"""How long the announcement waits for the watch of the vault, to say how it is watched."""
_LOOK_SECONDS = 0.5
_SHUTDOWN_SECONDS = 1.5  # aiohttp waits this long twice: for requests, then for cancelled ones
_FINISH_SECONDS = 10.0
"""How long requests that have arrived may take while the server opens itself again."""
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
    runner: web.AppRunner
    servers: Sequence[asyncio.Server]
    connections: ClientConnections
    page_sessions: PageSessions | None = None  # of the web page, if the server has a key

    async def finish_requests(self) -> None:
        """Take no more connections, and answer the requests that have arrived."""
        loop = asyncio.get_running_loop()
        for server in self.servers:
            for listener in server.sockets:
                # A server that is closed at once drops connections that it has just accepted.
                with suppress(NotImplementedError):  # on Windows
                    loop.remove_reader(listener.fileno())
        await self.connections.begin_all()
        for server in self.servers:
            server.close()
        assert self.runner.server is not None  # noqa: S101 - it runs
        self.runner.server.pre_shutdown()
        await self.runner.shutdown()
        await self.runner.server.shutdown(_FINISH_SECONDS)


async def serve(
    config: Config,
    *,
    announce: Callable[[Listening, Health], None],
    open_app: Callable[..., AbstractAsyncContextManager[App]] = open_app,
    until_idle: bool = False,
    follow: FollowedFile | None = None,
) -> None:
    """Run the server until SIGINT or SIGTERM. `announce` is called once it accepts requests.

    With `until_idle` it also ends after `IDLE_SECONDS` without requests or jobs. With `follow`
    it opens itself again when the settings change: it keeps its port and the lock of its index, and
    requests wait. If it cannot open with the new settings, it goes on with the former ones.

    Raises Misconfigured PORT_IN_USE or CONFIG_INVALID, Unauthorized API_KEY_REQUIRED, and the
    errors of `open_app`, all before `announce` is called; Failed SERVER_FAILED if its index is
    removed.
    """
    with private_stderr() as stream:
        log = EventLog(Level[config.server.log_level.upper()], stream)
        sys.setswitchinterval(_SWITCH_SECONDS)
        with captured_logging(log), _stop_signals() as stopped, ExitStack() as kept:
            # A Ctrl-C during the imports ends the server here, while nothing is open.
            await asyncio.sleep(0)
            lock = kept.enter_context(closing(ServerLock()))
            port = kept.enter_context(closing(_Port()))
            opening = partial(open_app, on_crash=partial(report_crash, log), lock=lock)
            is_announced, folder = False, None
            before: Config | None = None  # the settings to return to if it cannot open
            while True:
                try:
                    port.bind(config)
                    log.level = Level[config.server.log_level.upper()]
                    async with listening(
                        config, open_app=opening, log=log, sockets=port.sockets
                    ) as server:
                        vault = server.app.vaults.default
                        if follow is not None and vault.index_folder != folder:
                            folder = vault.index_folder
                            # A command that finds the server reads its flags.
                            await asyncio.to_thread(follow.record, folder)
                        endpoint = endpoint_of(server.host, server.port)
                        await vault.listening_at(endpoint, until_idle=until_idle)
                        if follow is not None:
                            # A command that waits for the settings reads the address then.
                            await asyncio.to_thread(follow.record, vault.index_folder)
                        before = None
                        if not is_announced:
                            await vault.watch.settled(WATCH_START_SECONDS)
                            announce(server, await vault.health())
                            is_announced = True
                        idle_seconds = IDLE_SECONDS if until_idle else math.inf
                        changed = await _wait(stopped, server, idle_seconds, config, follow)
                        if changed is None:
                            # The index is locked until everything is closed, but a client that
                            # finds the server now would be refused.
                            await vault.listening_at(None)
                            log.emit(Level.INFO, "stopping")
                            return
                        log.emit(Level.INFO, "settings_changed")
                        await server.finish_requests()
                except VaultAgentError as error:
                    if before is None or follow is None:
                        raise
                    follow.refuse(error)
                    config, before = before, None
                else:
                    config, before = changed, config


class _Port:
    """The sockets at which a server listens, also while it opens itself again."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []
        self._address: tuple[str, int] | None = None

    def bind(self, config: Config) -> None:
        """Listen at the address of the settings, and only there.

        Raises:
            Misconfigured: `PORT_IN_USE`, `CONFIG_INVALID`.
        """
        address = (config.server.host, config.server.port)
        if address == self._address:
            return
        self.close()  # one port cannot be bound at all addresses and at one of them
        self.sockets, self._address = bound_sockets(*address), address

    def close(self) -> None:
        """Listen no more."""
        for bound in self.sockets:
            bound.close()
        self.sockets, self._address = [], None


async def _wait(
    stopped: asyncio.Event,
    server: Listening,
    idle_seconds: float,
    config: Config,
    follow: FollowedFile | None,
) -> Config | None:
    """Wait until the settings change, and return the new ones.

    Return None after a signal, or after `idle_seconds` without requests and jobs.

    Raises:
        Failed: `SERVER_FAILED` if the index was removed: commands no longer find the server.
    """
    vaults = server.app.vaults
    while not stopped.is_set():
        if follow is not None and not (vaults.default.index_folder / SERVER_LOCK).exists():
            raise Failed(
                "SERVER_FAILED",
                "The folder of the index was removed while the server ran.",
                remedy="Start the server again to build it anew.",
            )
        if follow is not None and follow.has_changed():
            changed = await asyncio.to_thread(follow.read)
            if changed is not None and changed != config:
                return changed
            await asyncio.to_thread(follow.record, vaults.default.index_folder)
        if server.activity.idle_seconds >= idle_seconds and not vaults.has_running_job:
            return None
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_SECONDS):
                await stopped.wait()
    return None


@asynccontextmanager
async def listening(
    config: Config,
    *,
    open_app: Callable[[Config], AbstractAsyncContextManager[App]],
    log: EventLog,
    limits: Limits | None = None,
    port: int | None = None,
    sockets: Sequence[socket.socket] = (),
) -> AsyncIterator[Listening]:
    """Accept requests within the context. With `port` 0 the system chooses a port.

    `sockets` listen already, and still do so afterwards.
    """
    host = config.server.host
    if config.server.api_key is None and needs_key(config):
        raise Unauthorized(
            "API_KEY_REQUIRED",
            "A server that other computers can reach, or that changes notes, needs a key.",
        )
    limits = limits or Limits(connections=_room_for_connections(Limits().connections))
    chosen = config.server.port if port is None else port
    bound = [listener.dup() for listener in sockets] if sockets else bound_sockets(host, chosen)
    app = create_app(config=config, log=log, open_app=open_app, limits=limits)
    runner = web.AppRunner(app, shutdown_timeout=_SHUTDOWN_SECONDS)
    servers: list[asyncio.Server] = []
    connections: ClientConnections | None = None
    try:
        await runner.setup()
        assert runner.server is not None  # noqa: S101 - set up just now
        connections = ClientConnections(runner.server, limits, log)
        loop = asyncio.get_running_loop()
        servers = [
            await loop.create_server(connections, sock=listener, backlog=BACKLOG)
            for listener in bound
        ]
        log.emit(
            Level.INFO,
            "listening",
            key_required=config.server.api_key is not None,
            cors_enabled=config.cors.enabled,
            embeddings_enabled=config.embedding.enabled,
        )
        port = bound[0].getsockname()[1]
        yield Listening(
            host,
            port,
            app[APP],
            app[ACTIVITY],
            runner,
            servers,
            connections,
            app.get(PAGE_SESSIONS),
        )
    finally:
        for server in servers:
            server.close()
        for listener in bound:
            listener.close()
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
