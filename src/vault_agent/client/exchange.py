"""One HTTP request and its reply, over a connection of their own.

Importing a whole HTTP client takes twice as long as a search from the shell. This client needs
little: no redirects, no proxies, no compression. h11 speaks the protocol over a plain socket.
"""

from __future__ import annotations

import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import h11

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from vault_agent.client.address import Address

_BLOCK = 1 << 16
_MAX_HEAD_BYTES = 1 << 16


class NotConnected(Exception):
    """No server accepts connections at the address."""


class BrokenReply(Exception):
    """The reply is not HTTP, ended early, or did not arrive in time."""


class Response:
    """A reply whose head has arrived."""

    def __init__(self, wire: _Wire, head: h11.Response) -> None:
        self.status = head.status_code
        self.headers = {
            name.decode("ascii"): value.decode("latin-1") for name, value in head.headers
        }
        """By name in lower case."""
        self._wire = wire

    @property
    def content_length(self) -> int | None:
        """The number of bytes of the body, or None if the reply does not say."""
        length = self.headers.get("content-length")
        return None if length is None or "transfer-encoding" in self.headers else int(length)

    def blocks(self) -> Generator[bytes]:
        """Yield the body as it arrives.

        Raises:
            BrokenReply: if it ends early, or pauses for too long.
        """
        while isinstance(event := self._wire.event(), h11.Data):
            yield bytes(event.data)


@contextmanager
def exchange(
    address: Address,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    connect: float,
    silence: float,
) -> Iterator[Response]:
    """Send a request and yield its reply, whose body is not read yet.

    `path` is sent unchanged after the address's prefix. `connect` is the limit in seconds for the
    connection, `silence` for each wait after that.

    Raises:
        NotConnected: if no server accepts the connection.
        BrokenReply: if what arrives is no HTTP reply.
    """
    try:
        connection = _connected(address, connect, silence)
    except (OSError, UnicodeError):
        raise NotConnected from None
    try:
        wire = _Wire(connection)
        sent = {"Host": address.authority, **headers, "Connection": "close"}
        if body is not None:
            sent["Content-Length"] = str(len(body))
        request = h11.Request(
            method=method, target=address.prefix + path, headers=list(sent.items())
        )
        content = wire.encoded(request, body or b"")
        # A server that refuses a request may reply before it has read all of it.
        with _broken(), suppress(ConnectionError):
            connection.sendall(content)
        yield Response(wire, wire.head())
    finally:
        connection.close()


def _connected(address: Address, connect: float, silence: float) -> socket.socket:
    # Of bytes no name is made for international domains, whose import takes a millisecond.
    host: Any = address.host.encode() if address.host.isascii() else address.host
    plain = socket.create_connection((host, address.port), timeout=connect)
    try:
        if address.tls:
            import ssl

            plain = ssl.create_default_context().wrap_socket(plain, server_hostname=address.host)
        plain.settimeout(silence)
    except BaseException:
        plain.close()
        raise
    return plain


class _Wire:
    """The protocol's state, and the bytes that arrive."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES)

    def encoded(self, request: h11.Request, body: bytes) -> bytes:
        parts = (request, h11.Data(data=body), h11.EndOfMessage())
        return b"".join(self._protocol.send(part) or b"" for part in parts)

    def head(self) -> h11.Response:
        while isinstance(event := self.event(), h11.InformationalResponse):
            pass  # it only announces the reply
        if not isinstance(event, h11.Response):
            raise BrokenReply
        return event

    def event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        with _broken():
            while (event := self._protocol.next_event()) is h11.NEED_DATA:
                self._protocol.receive_data(self._connection.recv(_BLOCK))
            return event


@contextmanager
def _broken() -> Iterator[None]:
    """Raise `BrokenReply` for errors of the connection, and for bytes that are not HTTP."""
    try:
        yield
    except (OSError, h11.ProtocolError):
        raise BrokenReply from None
