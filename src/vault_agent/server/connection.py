"""Connections: how many, how long, and what is said on one that does not speak HTTP.

aiohttp keeps an idle connection for an hour, has no limit to their number, and logs malformed
requests with their text. All three change here.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from vault_agent.errors import InvalidRequest
from vault_agent.server.log import EventLog, Level
from vault_agent.server.replies import error_reply, internal_error

_FULL_LOGGED_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What a client may hold on to; every idle or slow one is gone within 15 s."""

    idle_seconds: float = 12.0  # before the first request, within its head, between two
    body_seconds: float = 10.0
    linger_seconds: float = 2.0  # for a client that still sends what nobody will read
    send_seconds: float = 60.0  # for a client that does not read its reply
    connections: int = 1024
    head_bytes: int = 16 * 1024


class Connections:
    """Makes a server's connections, counts them, and decides which one makes room for another.

    A connection is busy from the moment its request has arrived, body included, until the reply
    is sent. Otherwise it waits: for a request, for the rest of a head or of a body. At the limit
    a newcomer takes the place of a waiting connection: of the client address that has most of
    them, the one that has waited longest. So a client that holds many connections open loses its
    own, not another's, and a request that has arrived is never dropped. Where all are busy, the
    newcomer is closed at once.
    """

    def __init__(self, server: web.Server, limits: Limits, log: EventLog) -> None:
        self._server = server
        self._limits = limits
        self._log = log
        self._open: set[Connection] = set()
        # Of each client address, in the order in which they began to wait.
        self._waiting: dict[str, dict[Connection, None]] = {}
        self._full_logged_at = -math.inf

    def __call__(self) -> Connection:
        """Return the protocol of a new connection."""
        return Connection(self._server, self, self._limits, self._log)

    def admit(self, connection: Connection) -> bool:
        """Whether the newcomer may stay."""
        if len(self._open) >= self._limits.connections:
            self._log_full()
            most = max(self._waiting.values(), key=len, default=None)
            if most is None:
                return False
            longest = next(iter(most))
            self.remove(longest)
            longest.force_close()
        self._open.add(connection)
        self.waiting(connection)
        return True

    def busy(self, connection: Connection) -> None:
        """Note that a whole request has arrived."""
        of_client = self._waiting.get(connection.client, {})
        of_client.pop(connection, None)
        if not of_client:
            self._waiting.pop(connection.client, None)

    def waiting(self, connection: Connection) -> None:
        """Note that the connection waits for its client from now on."""
        if connection in self._open:
            self.busy(connection)  # it goes to the end of the line
            self._waiting.setdefault(connection.client, {})[connection] = None

    def remove(self, connection: Connection) -> None:
        """Note that the connection is closed."""
        self._open.discard(connection)
        self.busy(connection)

    def _log_full(self) -> None:
        # Seldom: whoever opens connections without end must not fill the log too.
        now = time.monotonic()
        if now - self._full_logged_at >= _FULL_LOGGED_EVERY_SECONDS:
            self._full_logged_at = now
            self._log.emit(Level.WARNING, "connections_full", connections=len(self._open))


class Connection(web.RequestHandler):
    """One client's connection."""

    def __init__(
        self, server: web.Server, connections: Connections, limits: Limits, log: EventLog
    ) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=limits.idle_seconds,
            lingering_time=limits.linger_seconds,
            max_line_size=limits.head_bytes,
            max_field_size=limits.head_bytes,
            access_log=None,  # type: ignore[arg-type]  # the gate logs; None is how to say so
            # A compressed body is refused; nothing may unpack it first.
            auto_decompress=False,
        )
        self._connections = connections
        self.client = ""  # its address
        self._send_seconds = limits.send_seconds
        self._unsent: asyncio.TimerHandle | None = None  # runs while the client does not read
        self._log = log

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, or close it where there are too many."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type
        peer = transport.get_extra_info("peername")
        self.client = str(peer[0]) if peer else ""
        if self._connections.admit(self):
            super().connection_made(transport)
            # So that `pause_writing` tells of every byte that could not be sent at once.
            transport.set_write_buffer_limits(high=0)
        else:
            self.close()
            transport.abort()

    def pause_writing(self) -> None:
        """Drop the client unless it reads soon.

        Whoever wrote, and also where the connection is closing by now: closing alone waits for
        as long as the client likes.
        """
        super().pause_writing()
        if self.transport is not None:
            loop = asyncio.get_running_loop()
            self._unsent = loop.call_later(self._send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Note that the client has read."""
        self._has_read()
        super().resume_writing()

    def _has_read(self) -> None:
        if self._unsent is not None:
            self._unsent.cancel()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Make room for another."""
        self._has_read()
        self._connections.remove(self)
        super().connection_lost(exc)

    def begin(self, request: web.BaseRequest) -> None:
        """Note that the head of a request has arrived, and perhaps all of it."""
        if request.body_exists and not request.content.is_eof():
            self._connections.waiting(self)
        else:
            self.complete()

    def complete(self) -> None:
        """Note that a whole request has arrived: its reply is not dropped for a newcomer."""
        self._connections.busy(self)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send a reply to its end."""
        if isinstance(resp, web.HTTPException):
            # Made by aiohttp on its own, outside the gate.
            resp = self.handle_error(request, resp.status, resp)
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self._connections.waiting(self)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.Response:
        """Reply to what is not HTTP in the contract's envelope, repeating nothing of it."""
        del message  # quotes what was received
        request_id = secrets.token_hex(8)
        malformed = status < 500
        if request.writer.output_size > 0 or isinstance(exc, ConnectionError):
            raise ConnectionResetError
        self._log.emit(
            Level.INFO if malformed else Level.ERROR,
            "malformed_request" if malformed else "connection_error",
            request_id=request_id,
            status=status,
            error_type=type(exc).__name__,
        )
        error = (
            InvalidRequest("INVALID_REQUEST", "The request is not valid HTTP.")
            if malformed
            else internal_error()
        )
        reply = error_reply(error, request_id)
        reply.force_close()
        return reply

    def log_exception(self, *_args: Any, **kwargs: Any) -> None:
        """Log the type of an error, never its text."""
        error = kwargs.get("exc_info")
        self._log.emit(Level.ERROR, "connection_error", error_type=type(error).__name__)
