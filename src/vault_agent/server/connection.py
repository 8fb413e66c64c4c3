"""Limits on connections, and replies to malformed requests.

aiohttp keeps an idle connection for an hour, does not limit the number of connections, and logs
the text of malformed requests. This module changes all three.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from vault_agent.errors import InvalidRequest
from vault_agent.server.log import EventLog, Level
from vault_agent.server.replies import error_reply, internal_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

_FULL_LOGGED_EVERY_SECONDS = 10.0
_BEGIN_SECONDS = 0.01
_BEGIN_LOOKS = 50


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on connections. Idle and slow clients are disconnected within 15 s."""

    idle_seconds: float = 12.0  # before the first request, within its head, between requests
    body_seconds: float = 10.0
    linger_seconds: float = 2.0  # for a client that still sends a body that is not read
    send_seconds: float = 60.0  # for a client that does not read its reply
    connections: int = 1024
    streams_of_caller: int = 64  # a quarter of all connections may be streams of events
    head_bytes: int = 16 * 1024


class ClientConnections:
    """Creates and counts a server's connections, and closes one if there are too many.

    A connection is busy from the arrival of a whole request until the reply is sent. Otherwise it
    waits for its client: for a request, for the rest of one, or until the client reads its reply.
    At the limit, a new connection replaces a waiting one: of the client address with most waiting
    connections, the one that has waited longest. So a client that holds many connections open loses
    its own, and a request that the server works on is never dropped. If all connections are busy,
    the new one is closed at once.
    """

    def __init__(self, server: web.Server, limits: Limits, log: EventLog) -> None:
        self._server = server
        self._limits = limits
        self._log = log
        self._open: set[ClientConnection] = set()
        # By client address, in the order in which they began to wait.
        self._waiting: dict[str, dict[ClientConnection, None]] = {}
        self.reads_end = False
        self._full_logged_at = -math.inf

    def __call__(self) -> ClientConnection:
        """Return the protocol of a new connection."""
        return ClientConnection(self._server, self, self._limits, self._log)

    def admit(self, connection: ClientConnection) -> bool:
        """Add a new connection, and return whether to keep it."""
        if len(self._open) >= self._limits.connections:
            self._log_full()
            most = max(self._waiting.values(), key=len, default=None)
            if most is None:
                return False
            longest = next(iter(most))
            self.remove(longest)
            longest.drop()
        self._open.add(connection)
        self.waiting(connection)
        return True

    def busy(self, connection: ClientConnection) -> None:
        """Mark the connection as busy: a whole request has arrived."""
        of_client = self._waiting.get(connection.client, {})
        of_client.pop(connection, None)
        if not of_client:
            self._waiting.pop(connection.client, None)

    def waiting(self, connection: ClientConnection) -> None:
        """Mark the connection as waiting for its client."""
        if connection in self._open:
            self.busy(connection)  # removes it from the order, so that it is added at the end
            self._waiting.setdefault(connection.client, {})[connection] = None

    async def begin_all(self) -> None:
        """Wait until each accepted connection has begun a request, for at most half a second."""
        for _ in range(_BEGIN_LOOKS):
            await asyncio.sleep(_BEGIN_SECONDS)
            if all(connection.has_begun for connection in self._open):
                return

    def end_reads(self) -> None:
        """Cancel all operations that only read, and later ones, so that a stop need not wait."""
        self.reads_end = True
        for connection in self._open:
            connection.end_read()

    def remove(self, connection: ClientConnection) -> None:
        """Remove a closed connection."""
        self._open.discard(connection)
        self.busy(connection)

    def _log_full(self) -> None:
        # Limited, so that a client that opens many connections does not fill the log.
        now = time.monotonic()
        if now - self._full_logged_at >= _FULL_LOGGED_EVERY_SECONDS:
            self._full_logged_at = now
            self._log.emit(Level.WARNING, "connections_full", connections=len(self._open))


class ClientConnection(web.RequestHandler):
    """One client's connection."""

    def __init__(
        self, server: web.Server, connections: ClientConnections, limits: Limits, log: EventLog
    ) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=limits.idle_seconds,
            lingering_time=limits.linger_seconds,
            max_line_size=limits.head_bytes,
            max_field_size=limits.head_bytes,
            access_log=None,  # type: ignore[arg-type]  # None turns it off: the gate logs
            # Compressed bodies are refused, so nothing may decompress them first.
            auto_decompress=False,
        )
        self._connections = connections
        self.client = ""  # its address
        self.has_begun = False  # whether a request has arrived
        self._send_seconds = limits.send_seconds
        self._unsent: asyncio.TimerHandle | None = None  # runs while the client does not read
        self._has_request = False
        self._log = log
        self._is_lost = False
        self._waits_for: asyncio.Task[Any] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection, or close it if there are too many."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type
        peer = transport.get_extra_info("peername")
        self.client = str(peer[0]) if peer else ""
        if self._connections.admit(self):
            super().connection_made(transport)
            # So that `pause_writing` is called for every byte that cannot be sent at once.
            transport.set_write_buffer_limits(high=0)
        else:
            self.close()
            transport.abort()

    def pause_writing(self) -> None:
        """Start the time limit for a client that does not read.

        The limit also holds while the connection closes: closing has no limit of its own.
        """
        super().pause_writing()
        self._connections.waiting(self)
        if self.transport is not None:
            loop = asyncio.get_running_loop()
            self._unsent = loop.call_later(self._send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the time limit: the client has read."""
        self._stop_timer()
        if self._has_request:
            self._connections.busy(self)
        super().resume_writing()

    def drop(self) -> None:
        """Close the connection to make room for a new one. Bytes that were not read are lost."""
        transport = self.transport
        self.force_close()
        if transport is not None:
            transport.abort()

    def _stop_timer(self) -> None:
        if self._unsent is not None:
            self._unsent.cancel()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Remove the connection."""
        self._stop_timer()
        self._connections.remove(self)
        super().connection_lost(exc)
        self._is_lost = True
        self.end_read()

    def end_read(self) -> None:
        """Cancel the work within `waits`."""
        if self._waits_for is not None:
            self._waits_for.cancel()
            self._waits_for = None

    @contextmanager
    def waits(self) -> Iterator[None]:
        """Cancel the work within the context if the client disconnects, or the server stops.

        Raises:
            ConnectionResetError: if the client has disconnected.
        """
        if self.transport is None:
            raise ConnectionResetError
        task = self._waits_for = asyncio.current_task()
        if self._connections.reads_end:
            self.end_read()
        try:
            yield
        except asyncio.CancelledError:
            if task is None or not self._is_lost or task.uncancel():
                raise
            raise ConnectionResetError from None
        finally:
            self._waits_for = None

    def begin(self, request: web.BaseRequest) -> None:
        """Handle the arrival of a request's head. The connection is busy if there is no body."""
        self.has_begun = True
        if request.body_exists and not request.content.is_eof():
            self._connections.waiting(self)
        else:
            self.complete()

    def complete(self) -> None:
        """Mark the connection as busy. Its request is not dropped for a new connection."""
        self._has_request = True
        self._connections.busy(self)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send a reply, then mark the connection as waiting."""
        if isinstance(resp, web.HTTPException):
            # Raised by aiohttp itself, outside the gate.
            resp = self.handle_error(request, resp.status, resp)
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self._has_request = False
            self._connections.waiting(self)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.Response:
        """Reply to a malformed request with an error that quotes nothing of it."""
        del message  # quotes the request
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


def while_client_waits(request: web.Request) -> AbstractContextManager[None]:
    """Return a context whose work is cancelled if the client disconnects.

    Entering or leaving it raises ConnectionResetError then.
    """
    protocol = request.protocol
    return protocol.waits() if isinstance(protocol, ClientConnection) else nullcontext()
