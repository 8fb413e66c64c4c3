"""Idle and slow sockets are closed and do not block search."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

import pytest
from aiohttp import ClientConnectionError
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async

from vault_agent.model.jobs import JobKind
from vault_agent.server import events
from vault_agent.server import serve as serving
from vault_agent.server.connection import Limits

from .conftest import CONTENT, NOTE_ID, Running, hang_up, run

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
DOWNLOAD = HEALTH.replace(b"/health", b"/attachments/huge.png?download=true&allowLarge=true")
SHORT = Limits(idle_seconds=0.4, body_seconds=0.4, linger_seconds=0.2, send_seconds=0.5)


def test_the_limits_close_idle_or_slow_sockets_within_15_seconds():
    limits = Limits()
    assert limits.idle_seconds < 15
    assert limits.body_seconds + limits.linger_seconds < 15


@pytest.mark.fault(
    "HTTP and access",
    "a body that arrives slowly; a socket that sends nothing",
    "closed within 15 s",
)
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\r\n",
        b"GET /health HTTP/1.1\r\nHost: loc",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        (
            b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b'Content-Length: 100\r\n\r\n{"que'
        ),
        (
            b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc"
        ),
        b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
    ],
    ids=["nothing", "blank", "half a head", "kept alive", "half a body", "half a chunk", "refused"],
)
async def test_an_idle_socket_is_closed(sent: bytes):
    async with run(limits=SHORT) as server:
        assert await server.closes(sent, within=PATIENCE)


@pytest.mark.parametrize("body", [False, True])
async def test_an_occasional_byte_does_not_keep_a_socket_open(body: bool):
    async with run(limits=SHORT) as server:
        _reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        head = b"POST /search HTTP/1.1\r\nHost: localhost\r\n"
        if body:
            head += b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        writer.write(head)
        with suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while True:
                    writer.write(b"a")
                    await writer.drain()
                    await asyncio.sleep(0.05)
        await hang_up(writer)


async def answers(server: Running) -> bool:
    """Whether the server takes another connection."""
    try:
        return (await server.ask("GET", "/health"))[0] == 200
    except ClientConnectionError:
        return False


@pytest.mark.fault(
    "HTTP and access",
    "a client that does not read its reply, or disconnects",
    "disconnected within 60 s, its buffers are freed, and no server error is logged",
)
@pytest.mark.parametrize("kind", ["a note", "an attachment"])
async def test_a_client_that_does_not_read_is_disconnected(kind: str):
    requests = {
        "a note": f"GET /notes/{NOTE_ID} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
        "an attachment": DOWNLOAD,
    }
    async with run(limits=replace(SHORT, connections=1)) as server:
        note = await server.engine.read_whole(NOTE_ID, allow_large=False, path=None)

        async def huge(*arguments, **options):
            return replace(note, content="filler\n" * 5_000_000)

        server.engine.read_whole = huge
        server.engine.files["huge.png"] = CONTENT * 3000
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1)
        writer.write(requests[kind])
        await eventually_async(lambda: answers(server))  # until there is room again
        received = 0
        with suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE):  # the server has closed it
                while piece := await reader.read(1 << 20):
                    received += len(piece)
        assert received < 15_000_000
        await eventually_async(lambda: all(each.file.closed for each in server.engine.opened))
        await hang_up(writer)


@pytest.mark.fault(
    "HTTP and access",
    "a client disconnects before its reply is ready",
    "what it only wanted to read is given up, so that nobody waits behind it",
)
async def test_a_read_that_nobody_waits_for_ends():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def endless(*arguments, **options):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with run() as server, asyncio.timeout(PATIENCE):
        server.engine.read_whole = endless
        _reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(f"GET /notes/{NOTE_ID} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await begun.wait()
        await hang_up(writer)
        await ended.wait()
        assert await answers(server)


async def test_a_stop_does_not_wait_for_what_only_reads(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(serving, "_SHUTDOWN_SECONDS", 2 * PATIENCE)
    begun = asyncio.Event()

    async def endless(*arguments, **options):
        begun.set()
        await asyncio.Event().wait()

    async with asyncio.timeout(PATIENCE):
        async with run() as server:
            server.engine.read_whole = endless
            _reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(f"GET /notes/{NOTE_ID} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            await begun.wait()
        await hang_up(writer)


@pytest.mark.fault(
    "HTTP and access",
    "a client holds more streams of events open than the server has connections",
    "503 `SERVER_BUSY` over 64 of a caller, or a quarter of the connections; others are served",
)
@pytest.mark.parametrize("kind", ["a job", "a vault"])
async def test_streams_leave_connections_for_others(kind: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.1)  # it shows who has gone
    limits = Limits(idle_seconds=PATIENCE, connections=20, streams_of_caller=4)
    async with run(limits=limits) as server:
        job = await server.engine.jobs.submit(JobKind.INDEX)
        path = {"a job": f"/jobs/{job.id}/events", "a vault": "/events"}[kind]
        follow = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        sockets = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(20)]
        heads = []
        for reader, writer in sockets:
            writer.write(follow)
            heads.append(await asyncio.wait_for(reader.readline(), PATIENCE))
        assert [b" 200 " in head for head in heads] == [True] * 4 + [False] * 16
        assert all(b" 503 " in head for head in heads[4:])
        assert await answers(server)
        await hang_up(sockets[0][1])
        await eventually_async(lambda: _follows(server, path))
        for _, writer in sockets[1:]:
            await hang_up(writer)


async def _follows(server: Running, path: str) -> bool:
    """Whether the server takes another stream."""
    async with server.request("GET", path) as reply:
        return reply.status == 200


@pytest.mark.fault(
    "HTTP and access",
    "clients that do not read their replies hold every connection",
    "a new connection replaces the one that has not read for longest",
)
async def test_unread_replies_make_room_for_others():
    async with run(limits=Limits(connections=4, send_seconds=10 * PATIENCE)) as server:
        server.engine.files["huge.png"] = CONTENT * 3000
        sockets = []
        for _ in range(4):
            sockets.append(await asyncio.open_connection("127.0.0.1", server.port, limit=1))
            sockets[-1][1].write(DOWNLOAD)
        await eventually_async(lambda: len(server.engine.opened) == 4)
        await eventually_async(lambda: answers(server))
        # Which one has not read for longest depends on what the system has taken of each reply.
        await eventually_async(lambda: any(opened.file.closed for opened in server.engine.opened))
        for _, writer in sockets:
            await hang_up(writer)


async def test_a_slow_reader_gets_the_complete_reply():
    limits = replace(SHORT, send_seconds=2.0)
    async with run(limits=limits) as server:
        server.engine.files["huge.png"] = CONTENT * 3000
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 18)
        writer.write(DOWNLOAD)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        began = time.monotonic()
        for _ in range(30):
            await reader.readexactly(len(CONTENT) * 100)
            await asyncio.sleep(0.15)
        assert time.monotonic() - began > 2 * limits.send_seconds
        await hang_up(writer)


@pytest.mark.fault("HTTP and access", "a thousand idle sockets", "searches are answered")
async def test_search_works_beside_a_thousand_silent_sockets():
    async with run(limits=Limits(connections=1000)) as server:
        idle = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(1000)]
        await asyncio.sleep(0.1)
        async with asyncio.timeout(PATIENCE):
            status, _, _ = await server.ask("POST", "/search", json={"query": "a"})
        assert status == 200
        for _, writer in idle:
            await hang_up(writer)


async def test_at_the_limit_the_longest_idle_connection_is_closed():
    async with run(limits=Limits(connections=3)) as server:
        sockets = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(4)]
        assert await asyncio.wait_for(sockets[0][0].read(), PATIENCE) == b""
        for reader, _ in sockets[1:]:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.read(), 0.1)
        for _, writer in sockets:
            await hang_up(writer)


async def test_ended_connections_do_not_count_towards_the_limit():
    async with run(limits=Limits(connections=3)) as server:
        for _ in range(10):
            assert await server.closes(HEALTH[:-2] + b"Connection: close\r\n\r\n", within=PATIENCE)
        kept = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(3)]
        for reader, writer in kept:  # all have been taken once they are answered
            writer.write(HEALTH)
            await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        assert "connections_full" not in server.log.getvalue()
        for _, writer in kept:
            await hang_up(writer)


async def test_a_new_connection_is_closed_if_all_are_busy():
    reads: list[str] = []

    async def endless(*arguments, **options):
        reads.append(NOTE_ID)
        await asyncio.Event().wait()

    async with run(limits=Limits(connections=2)) as server:
        server.engine.read_whole = endless
        busy = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(2)]
        for _, writer in busy:
            writer.write(f"GET /notes/{NOTE_ID} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await eventually_async(lambda: len(reads) == 2)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        with suppress(ConnectionError):
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
        for _, other in [*busy, (reader, writer)]:
            await hang_up(other)


HALF_A_BODY = (
    b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 100\r\n\r\n{"que'
)
HALF_A_CHUNK = HALF_A_BODY.replace(b"Content-Length: 100", b"Transfer-Encoding: chunked").replace(
    b'{"que', b"64\r\n{"
)


async def is_open(reader: asyncio.StreamReader) -> bool:
    """Whether the connection is open and silent."""
    try:
        await asyncio.wait_for(reader.read(1), 0.1)
    except TimeoutError:
        return True
    except ConnectionError:
        pass
    return False


@pytest.mark.fault(
    "HTTP and access",
    "clients that never finish their head or body hold every connection",
    "one of them makes room for each new connection; a request that has arrived is never dropped",
)
@pytest.mark.parametrize(
    "sent",
    [HALF_A_BODY, HALF_A_CHUNK, HALF_A_BODY[:40]],
    ids=["half a body", "half a chunk", "half a head"],
)
async def test_unfinished_requests_do_not_block_new_connections(sent: bytes):
    async with run(limits=Limits(connections=8)) as server:
        stuck = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(8)]
        for _, writer in stuck:
            writer.write(sent)
        await asyncio.sleep(0.1)
        for turn in range(8):
            assert await server.raw(HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            _reader, writer = stuck[turn]  # a dropped client reconnects
            await hang_up(writer)
            stuck[turn] = await asyncio.open_connection("127.0.0.1", server.port)
            stuck[turn][1].write(sent)
        await asyncio.sleep(0.1)
        for _, writer in stuck:
            await hang_up(writer)


async def test_at_the_limit_the_oldest_unfinished_request_is_closed():
    async with run(limits=Limits(connections=3)) as server:
        sockets = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(3)]
        for turn in (1, 2, 0):
            sockets[turn][1].write(HALF_A_BODY)
            await asyncio.sleep(0.05)
        sockets.append(await asyncio.open_connection("127.0.0.1", server.port))
        with suppress(ConnectionError):
            assert await asyncio.wait_for(sockets[1][0].read(), PATIENCE) == b""
        assert all([await is_open(sockets[number][0]) for number in (0, 2, 3)])
        for _, writer in sockets:
            await hang_up(writer)


async def test_a_complete_request_is_never_closed():
    async with run(limits=Limits(connections=2)) as server:
        asked, finish = asyncio.Event(), asyncio.Event()
        search = server.engine.search

        async def slow(query):
            asked.set()
            await finish.wait()
            return await search(query)

        server.engine.search = slow
        body = b'{"query": "lamp"}'
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        head = HALF_A_BODY.partition(b"\r\n\r\n")[0].replace(b"100", b"%d" % len(body))
        writer.write(head + b"\r\n\r\n" + body[:5])
        await asyncio.sleep(0.1)
        writer.write(body[5:])
        await asyncio.wait_for(asked.wait(), PATIENCE)
        others = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(5)]
        for other, _ in others[:-1]:  # each makes room for the next one
            with suppress(ConnectionError):
                assert await asyncio.wait_for(other.read(), PATIENCE) == b""
        finish.set()
        assert (await asyncio.wait_for(reader.readline(), PATIENCE)).startswith(b"HTTP/1.1 200 ")
        for _, other in [(reader, writer), *others]:
            await hang_up(other)


@pytest.mark.fault(
    "HTTP and access",
    "one client address holds most connections",
    "it loses one of its own",
)
async def test_at_the_limit_a_client_with_many_connections_loses_one():
    """Clients of other addresses keep their connections, even idle ones."""
    async with run(limits=Limits(connections=6)) as server:
        quiet = await asyncio.open_connection("127.0.0.1", server.port)
        many = [
            await asyncio.open_connection("127.0.0.1", server.port, local_addr=("127.0.0.2", 0))
            for _ in range(20)
        ]
        for _, writer in many:
            writer.write(HALF_A_BODY)
        assert await is_open(quiet[0])
        for _, writer in [quiet, *many]:
            await hang_up(writer)


async def test_a_full_server_logs_once():
    async with run(limits=Limits(connections=2)) as server:
        sockets = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(30)]
        for reader, _ in sockets[:-2]:  # each makes room for a later one
            with suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
        full = [event for event in server.events if event["event"] == "connections_full"]
        assert len(full) == 1
        for _, writer in sockets:
            await hang_up(writer)
