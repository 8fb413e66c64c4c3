"""A connection within an event loop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_agent.client.address import Address


async def connected(address: Address, connect: float, silence: float) -> LoopedStream:
    """Return a connection.

    Raises:
        OSError: if no server accepts it within `connect` seconds.
        UnicodeError: if the host is not a name.
    """
    async with asyncio.timeout(connect):
        reader, writer = await asyncio.open_connection(
            address.host, address.port, ssl=address.tls or None
        )
    return LoopedStream(reader, writer, silence)


class LoopedStream:
    """A connection of asyncio."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, silence: float
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._silence = silence

    async def write(self, content: bytes) -> None:
        """Send all bytes."""
        async with asyncio.timeout(self._silence):
            self._writer.write(content)
            await self._writer.drain()

    async def read(self, most: int) -> bytes:
        """Return what has arrived."""
        async with asyncio.timeout(self._silence):
            return await self._reader.read(most)

    async def close(self) -> None:
        """Close at once."""
        self._writer.transport.abort()
        with suppress(OSError):
            await self._writer.wait_closed()
