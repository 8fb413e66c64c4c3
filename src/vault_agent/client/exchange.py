"""One HTTP request and its reply, with the standard library only.

Importing a whole HTTP client takes twice as long as a search from the shell. This client needs
little: one request a connection, no redirects, no proxies, no compression.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping

_BLOCK = 1 << 16
_MAX_HEAD_BYTES = 1 << 16
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: |$)")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")


class NotConnected(Exception):
    """No server accepts connections at the address."""


class BrokenReply(Exception):
    """The reply is not HTTP, ended early, or did not arrive in time."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is. `prefix` is the path before every route, without a slash at its end."""

    host: str
    port: int
    tls: bool
    authority: str
    prefix: str

    @classmethod
    def of(cls, endpoint: str) -> Address:
        """Return the address in an http or https URL."""
        parts = urlsplit(endpoint)
        host, tls = parts.hostname or "", parts.scheme == "https"
        name = host if host.isascii() else host.encode("idna").decode("ascii")
        name = f"[{name}]" if ":" in name else name
        return cls(
            host=host,
            port=parts.port or (443 if tls else 80),
            tls=tls,
            authority=name if parts.port is None else f"{name}:{parts.port}",
            prefix=quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~"),
        )


class Response:
    """A reply whose head has arrived."""

    def __init__(
        self, reader: asyncio.StreamReader, status: int, headers: Mapping[str, str], silence: float
    ) -> None:
        self.status = status
        self.headers = headers
        """By name in lower case."""
        self._reader = reader
        self._silence = silence

    @property
    def content_length(self) -> int | None:
        """The number of bytes of the body, or None if the reply does not say."""
        length = self.headers.get("content-length")
        if length is None or "transfer-encoding" in self.headers:
            return None
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            raise BrokenReply
        return int(length)

    async def blocks(self) -> AsyncGenerator[bytes]:
        """Yield the body as it arrives.

        Raises:
            BrokenReply: if it ends early, or pauses for too long.
        """
        if self.status in (204, 304):
            return
        length = self.content_length
        if length is not None:
            async for block in self._exactly(length):
                yield block
        elif "transfer-encoding" not in self.headers:
            while block := await self._read(_BLOCK):
                yield block
        elif self.headers["transfer-encoding"].strip().lower() == "chunked":
            async for block in self._chunks():
                yield block
        else:
            raise BrokenReply

    async def _chunks(self) -> AsyncGenerator[bytes]:
        while True:
            size = _CHUNK_SIZE.fullmatch(await self._line())
            if size is None:
                raise BrokenReply
            if not (left := int(size[1], 16)):
                return  # what follows is not needed: the connection is closed
            async for block in self._exactly(left):
                yield block
            if await self._line() != b"\r\n":
                raise BrokenReply

    async def _exactly(self, left: int) -> AsyncGenerator[bytes]:
        while left:
            block = await self._read(min(left, _BLOCK))
            if not block:
                raise BrokenReply
            left -= len(block)
            yield block

    async def _line(self) -> bytes:
        with _broken():
            async with asyncio.timeout(self._silence):
                return await self._reader.readuntil(b"\r\n")

    async def _read(self, most: int) -> bytes:
        with _broken():
            async with asyncio.timeout(self._silence):
                return await self._reader.read(most)


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
        async with asyncio.timeout(connect):
            reader, writer = await asyncio.open_connection(
                address.host, address.port, ssl=address.tls or None, limit=_MAX_HEAD_BYTES
            )
    except (OSError, UnicodeError):
        raise NotConnected from None
    try:
        sent = {"Host": address.authority, **headers, "Connection": "close"}
        if body is not None:
            sent["Content-Length"] = str(len(body))
        lines = (f"{name}: {value}\r\n" for name, value in sent.items())
        head = f"{method} {address.prefix}{path} HTTP/1.1\r\n{''.join(lines)}\r\n"
        with _broken():
            async with asyncio.timeout(silence):
                writer.write(head.encode("ascii") + (body or b""))
                # A server that refuses a request may reply before it has read all of it.
                with suppress(ConnectionError):
                    await writer.drain()
                status, received = await _head(reader)
        yield Response(reader, status, received, silence)
    finally:
        # Without the polite end, for which a server could keep the caller waiting.
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """Return the status and the headers of a reply."""
    while True:
        first, *lines = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
        match = _STATUS_LINE.match(first)
        if match is None:
            raise BrokenReply
        status = int(match[1])
        if status >= 200:  # others only announce the reply
            break
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon:
            raise BrokenReply
        headers[name.strip().lower()] = value.strip()
    return status, headers


@contextmanager
def _broken() -> Iterator[None]:
    """Raise `BrokenReply` for errors of the connection and for what is no HTTP."""
    try:
        yield
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise BrokenReply from None
