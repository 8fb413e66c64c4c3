"""A connection without an event loop. Its functions wait, and never give up control."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from vault_agent.client.address import Address

Result = TypeVar("Result")


def driven(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of a coroutine that waits for nothing but such connections."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    coroutine.close()
    raise RuntimeError("the command needs an event loop")


async def connected(address: Address, connect: float, silence: float) -> BlockingStream:
    """Return a connection.

    Raises:
        OSError: if no server accepts it within `connect` seconds.
        UnicodeError: if the host is not a name.
    """
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
    return BlockingStream(plain)


class BlockingStream:
    """A connection of a plain socket."""

    def __init__(self, plain: socket.socket) -> None:
        self._socket = plain

    async def write(self, content: bytes) -> None:
        """Send all bytes."""
        self._socket.sendall(content)

    async def read(self, most: int) -> bytes:
        """Return what has arrived."""
        return self._socket.recv(most)

    async def close(self) -> None:
        """Close at once."""
        self._socket.close()
