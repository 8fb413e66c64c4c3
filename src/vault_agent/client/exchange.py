"""One HTTP request and its reply, over a connection of their own.

Importing a whole HTTP client takes twice as long as a search from the shell. This client needs
little: no redirects, no proxies, no compression. h11 speaks the protocol. Within an event loop
asyncio speaks to the network. Without one a plain socket does, since importing asyncio takes longer
than the exchange.
"""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

import h11

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping

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

    async def blocks(self) -> AsyncGenerator[bytes]:
        """Yield the body as it arrives.

        Raises:
            BrokenReply: if it ends early, or pauses for too long.
        """
        while isinstance(event := await self._wire.event(), h11.Data):
            yield bytes(event.data)


@asynccontextmanager
async def exchange(
    address: Address,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    connect: float,
    silence: float,
) -> AsyncIterator[Response]:
    """Send a request and yield its reply, whose body is not read yet.

    `path` is sent unchanged after the address's prefix. `connect` is the limit in seconds for the
    connection, `silence` for each wait after that.

    Raises:
        NotConnected: if no server accepts the connection.
        BrokenReply: if what arrives is no HTTP reply.
    """
    try:
        stream = await _connected(address, connect, silence)
    except (OSError, UnicodeError):
        raise NotConnected from None
    try:
        wire = _Wire(stream)
        sent = {"Host": address.authority, **headers, "Connection": "close"}
        if body is not None:
            sent["Content-Length"] = str(len(body))
        request = h11.Request(
            method=method, target=address.prefix + path, headers=list(sent.items())
        )
        content = wire.encoded(request, body or b"")
        # A server that refuses a request may reply before it has read all of it.
        with _broken(), suppress(ConnectionError):
            await stream.write(content)
        yield Response(wire, await wire.head())
    finally:
        await stream.close()


class Stream(Protocol):
    """A connection. Each wait raises TimeoutError after the limit of silence."""

    async def write(self, content: bytes) -> None:
        """Send all bytes."""

    async def read(self, most: int) -> bytes:
        """Return what has arrived, at most so many bytes, or b"" at the end."""

    async def close(self) -> None:
        """Close without a polite end, for which a server could keep the caller waiting."""


async def _connected(address: Address, connect: float, silence: float) -> Stream:
    if _in_a_loop():
        from vault_agent.client import looped

        return await looped.connected(address, connect, silence)
    from vault_agent.client import blocking

    return await blocking.connected(address, connect, silence)


def _in_a_loop() -> bool:
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class _Wire:
    """The protocol's state, and the bytes that arrive."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES)

    def encoded(self, request: h11.Request, body: bytes) -> bytes:
        parts = (request, h11.Data(data=body), h11.EndOfMessage())
        return b"".join(self._protocol.send(part) or b"" for part in parts)

    async def head(self) -> h11.Response:
        while isinstance(event := await self.event(), h11.InformationalResponse):
            pass  # it only announces the reply
        if not isinstance(event, h11.Response):
            raise BrokenReply
        return event

    async def event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        with _broken():
            while (event := self._protocol.next_event()) is h11.NEED_DATA:
                self._protocol.receive_data(await self._stream.read(_BLOCK))
            return event


@contextmanager
def _broken() -> Iterator[None]:
    """Raise `BrokenReply` for errors of the connection, and for bytes that are not HTTP."""
    try:
        yield
    except (OSError, h11.ProtocolError):
        raise BrokenReply from None
