"""A request and its reply over a plain connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.client.address import Address
from vault_agent.client.exchange import BrokenReply, NotConnected, exchange


class Raw:
    """A server that sends fixed bytes, one by one if asked, and keeps what it received."""

    def __init__(self, reply: bytes, *, slowly: bool = False, ends: bool = True):
        self.reply, self.slowly, self.ends = reply, slowly, ends
        self.received = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            self.received += await reader.readuntil(b"\r\n\r\n")
            for start in range(0, len(self.reply), 1 if self.slowly else 1 << 16):
                writer.write(self.reply[start : start + (1 if self.slowly else 1 << 16)])
                await writer.drain()
                await asyncio.sleep(0)
            if not self.ends:
                await reader.read()
        writer.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Address]:
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        async with server:
            yield Address.of(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")


async def ask(raw: Raw, silence: float = PATIENCE) -> tuple[int, bytes]:
    async with raw.running() as address:
        return await asyncio.to_thread(send, address, silence)


def send(address: Address, silence: float) -> tuple[int, bytes]:
    with exchange(
        address, "GET", "/x", {"A": "b"}, None, connect=PATIENCE, silence=silence
    ) as response:
        return response.status, b"".join(response.blocks())


BODIES = {
    "with a length": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwords and more",
    "in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2;x=y\r\nwo\r\n03\r\nrds\r\n0\r\n\r\n",
    "to the end": b"HTTP/1.0 200 OK\r\n\r\nwords",
    "after a notice": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\r\ncontent-length:5\r\n\r\nwords",
}


@pytest.mark.parametrize("slowly", [False, True])
@pytest.mark.parametrize("reply", BODIES.values(), ids=BODIES)
async def test_a_body_is_read_in_each_form(reply: bytes, slowly: bool):
    raw = Raw(reply, slowly=slowly)
    assert await ask(raw) == (200, b"words")
    assert raw.received.startswith(b"GET /x HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nA: b\r\n" in raw.received


OK = b"HTTP/1.1 200 OK\r\n"
BROKEN = {
    "nothing": b"",
    "no HTTP": b"SSH-2.0-OpenSSH\r\n\r\n",
    "another protocol": b"HTTP/2 200\r\n\r\n",
    "no status": b"HTTP/1.1 OK\r\n\r\n",
    "half a head": OK + b"Content-Le",
    "no header": OK + b"words\r\n\r\n",
    "an endless head": OK + b"A: " + b"x" * 200_000,
    "half a body": OK + b"Content-Length: 10\r\n\r\nwords",
    "a negative length": OK + b"Content-Length: -1\r\n\r\nwords",
    "a length in other digits": OK + "Content-Length: ٣\r\n\r\nwords".encode(),
    "a compressed body": OK + b"Transfer-Encoding: gzip\r\n\r\nwords",
    "no chunk": OK + b"Transfer-Encoding: chunked\r\n\r\nwords\r\n",
    "half a chunk": OK + b"Transfer-Encoding: chunked\r\n\r\n9\r\nwords",
    "a chunk too long": OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nwords\r\n0\r\n\r\n",
    "no last chunk": OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nwords\r\n",
}


@pytest.mark.fault(
    "HTTP and access",
    "a server's reply is not HTTP, is cut short, has a wrong length or broken chunks, "
    "or has an endless head; a server that accepts a connection and stays silent",
    "`SERVER_UNAVAILABLE`, for silence after the time limit; nothing of the reply is quoted",
)
@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
async def test_a_broken_reply_is_reported(reply: bytes):
    with pytest.raises(BrokenReply):
        await ask(Raw(reply))


@pytest.mark.parametrize("reply", [b"", OK, BODIES["with a length"][:-10]])
async def test_a_silent_server_is_not_waited_for(reply: bytes):
    with pytest.raises(BrokenReply):
        await ask(Raw(reply, ends=False), silence=0.05)


def test_nobody_at_the_address_is_reported():
    with pytest.raises(NotConnected):
        send(Address.of("http://127.0.0.1:9"), PATIENCE)


@pytest.mark.parametrize(
    ("endpoint", "host", "port", "authority", "prefix"),
    [
        ("http://localhost", "localhost", 80, "localhost", ""),
        ("http://[::1]:7717/", "::1", 7717, "[::1]:7717", ""),
        ("https://notes.example/a b/é", "notes.example", 443, "notes.example", "/a%20b/%C3%A9"),
        ("http://bücher.example:81", "bücher.example", 81, "xn--bcher-kva.example:81", ""),
    ],
)
def test_an_endpoint_is_split_into_its_parts(
    endpoint: str, host: str, port: int, authority: str, prefix: str
):
    tls = endpoint.startswith("https")
    assert Address.of(endpoint) == Address(host, port, tls, authority, prefix)
