"""The client raises the server's errors, contacts only the server and shows no secret."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from tests.cli.fake import FakeServer, job
from tests.support.clocks import PATIENCE

import vault_agent
from vault_agent.client import client as client_module
from vault_agent.client.client import Address, BrokenReply, Client, NotConnected, Reply, exchange
from vault_agent.codes import CODES
from vault_agent.errors import Failed, Unauthorized, Unavailable, VaultAgentError, error_of
from vault_agent.model.jobs import JobList
from vault_agent.model.modes import Mode
from vault_agent.model.reply import Envelope
from vault_agent.model.search import Answer
from vault_agent.model.values import dump
from vault_agent.model.warning import Warning
from vault_agent.server.routes import ROUTES

KEY = "canary-key-0123456789"
PACKAGE = Path(vault_agent.__file__).parent


@pytest.fixture
async def fake() -> AsyncIterator[FakeServer]:
    server = FakeServer()
    async with TestServer(server.application()) as running:
        server.endpoint = str(running.make_url("")).rstrip("/")
        yield server


async def ask(client: Client, *arguments, **fields) -> Reply:
    """Call an operation in a thread, while the server of the test replies in this one."""
    return await asyncio.to_thread(client.call, *arguments, **fields)


async def answering(handler) -> TestServer:
    """Run a server that uses `handler` for every route."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    server = TestServer(app)
    await server.start_server()
    return server


def reply_with(data: object, *warnings: Warning) -> web.Response:
    body = dump(Envelope(data, warnings=warnings))
    return web.Response(body=body, content_type="application/json")


def test_every_code_of_the_server_is_raised_as_its_class():
    for code, known in CODES.items():
        if known.error:
            raised = error_of(code, "As the server says.")
            assert type(raised).__name__ == known.error, code
            assert (raised.code, raised.message) == (code, "As the server says.")


def test_an_unknown_error_code_is_still_an_error():
    assert type(error_of("NEW_CODE", "x")) is Failed


async def test_a_path_is_sent_unchanged(fake: FakeServer):
    """The server checks whether a path leaves the vault. The client must not normalise it."""
    client = Client(fake.endpoint)
    await ask(client, "GET /attachments/{path}", path="../../etc/passwd")
    assert fake.asked[-1][1] == "/attachments/../../etc/passwd"
    await ask(client, "GET /attachments/{path}", path="%2e%2e/x?download=true#y")
    assert fake.asked[-1][1] == "/attachments/%252e%252e/x%3Fdownload%3Dtrue%23y"


async def test_events_yield_job_states_until_the_end(fake: FakeServer):
    fake.history = [job("queued"), job("running"), job()]
    client = Client(fake.endpoint)
    events = await asyncio.to_thread(list, client.events("job-1"))
    assert [event.state.value for event in events] == ["queued", "running", "succeeded"]


async def test_the_key_is_sent_as_a_bearer_token_and_never_shown(fake: FakeServer):
    fake.key = KEY
    client = Client(fake.endpoint, KEY)
    assert KEY not in repr(client)
    assert (await ask(client, "GET /jobs")).read(JobList).jobs
    stranger = Client(fake.endpoint, "wrong")
    with pytest.raises(Unauthorized) as refusal:
        await ask(stranger, "GET /jobs")
    assert "wrong" not in str(refusal.value)


async def test_unknown_reply_fields_are_ignored(fake: FakeServer):
    async def later(request: web.Request) -> web.Response:
        body = b'{"data":{"jobs":[],"cursor":"x"},"warnings":[],"trace":1}'
        return web.Response(body=body, content_type="application/json")

    server = await answering(later)
    async with server:
        client = Client(str(server.make_url("")))
        assert (await ask(client, "GET /jobs")).read(JobList).jobs == ()


def building(details: dict[str, str]) -> dict[str, object]:
    return {"code": "INDEX_NOT_FOUND", "message": "It is being built.", "details": details}


async def test_a_search_waits_for_the_first_index_of_each_of_its_vaults():
    """First no vault answers, then one does, then both do."""
    skipped = Warning("VAULT_SKIPPED", "It is left out.", {"vault": "two", "jobId": "second"})
    search = [
        web.json_response({"error": building({"vault": "one", "jobId": "first"})}, status=503),
        reply_with(Answer(Mode.LEXICAL, Mode.LEXICAL, 1, ()), skipped),
        reply_with(Answer(Mode.LEXICAL, Mode.LEXICAL, 1, ())),
    ]
    asked = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request.path)
        if request.path == "/search":
            return search.pop(0)
        return web.Response(
            body=b"data: " + dump(job()) + b"\n\n", content_type="text/event-stream"
        )

    async with await answering(handler) as server:
        client = Client(str(server.make_url("")))
        told = []
        client.on_wait = told.append
        assert (await ask(client, "POST /search", query="x")).warnings == ()
    first, second = "/vaults/one/jobs/first/events", "/vaults/two/jobs/second/events"
    assert asked == ["/search", first, "/search", second, "/search"]
    assert told == ["It is being built."]


async def test_a_search_waits_for_no_job_twice():
    skipped = Warning("VAULT_SKIPPED", "It is left out.", {"vault": "two", "jobId": "second"})
    asked = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request.path)
        if request.path == "/search":
            return reply_with(Answer(Mode.LEXICAL, Mode.LEXICAL, 1, ()), skipped)
        return web.Response(
            body=b"data: " + dump(job()) + b"\n\n", content_type="text/event-stream"
        )

    async with await answering(handler) as server:
        client = Client(str(server.make_url("")))
        await ask(client, "POST /search", query="x")
        assert asked == ["/search"]  # only a person waits
        client.on_wait = lambda _: None
        assert (await ask(client, "POST /search", query="x")).warnings[0].code == "VAULT_SKIPPED"
    assert asked[1:] == ["/search", "/vaults/two/jobs/second/events", "/search"]


@pytest.mark.parametrize("body", [b"<html>canary</html>", b"[]", b"{}", b'"canary"', b""])
@pytest.mark.parametrize("status", [200, 404, 502])
async def test_another_server_program_is_reported_as_such(body: bytes, status: int):
    async def other(request: web.Request) -> web.Response:
        return web.Response(body=body, status=status)

    server = await answering(other)
    async with server:
        client = Client(str(server.make_url("")))
        with pytest.raises(Unavailable, match="is not vault-agent") as refusal:
            await ask(client, "GET /jobs")
    assert refusal.value.code == "SERVER_UNAVAILABLE"
    assert "canary" not in str(refusal.value)


async def test_unexpected_reply_data_is_an_error_that_does_not_quote_it():
    async def other(request: web.Request) -> web.Response:
        body, ours = b'{"data":{"jobs":["canary"]}}', {"X-Vault-Id": "0" * 32}
        return web.Response(body=body, headers=ours, content_type="application/json")

    server = await answering(other)
    async with server:
        client = Client(str(server.make_url("")))
        with pytest.raises(Failed, match="different versions") as refusal:
            (await ask(client, "GET /jobs")).read(JobList)
        with pytest.raises(Failed, match="different versions"):
            (await ask(client, "GET /jobs")).envelope["data"]["next"]
    assert "canary" not in str(refusal.value)


async def test_a_redirect_is_not_followed(fake: FakeServer):
    async def elsewhere(request: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect(fake.endpoint + "/search")

    server = await answering(elsewhere)
    async with server:
        client = Client(str(server.make_url("")), KEY)
        with pytest.raises(Unavailable):
            await ask(client, "POST /search", query="private words")
    assert fake.asked == []


async def test_proxy_variables_are_ignored(fake: FakeServer, monkeypatch: pytest.MonkeyPatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    client = Client(fake.endpoint)
    assert (await ask(client, "GET /jobs")).read(JobList).jobs


async def test_a_missing_server_is_unavailable_at_once():
    client = Client("http://127.0.0.1:9")
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Unavailable, match="vault-agent serve") as refusal:
            await ask(client, "POST /search", query="private words")
    assert "private" not in str(refusal.value)


async def test_a_server_that_disconnects_is_unavailable():
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = Client(f"http://127.0.0.1:{port}")
    async with server:
        with pytest.raises(VaultAgentError) as refusal:
            await ask(client, "GET /jobs")
    assert refusal.value.code == "SERVER_UNAVAILABLE"


class Endless:
    """A server that sends endless bytes and counts them."""

    def __init__(self, head: bytes, block: bytes = b"x" * 65536):
        self.head, self.block, self.sent = head, block, 0
        self.replying: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> str:
        self.server = await asyncio.start_server(self.reply, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_) -> None:
        self.server.close()
        await asyncio.gather(*self.replying)
        await self.server.wait_closed()

    async def reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.replying.add(task)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self.head)
        with suppress(ConnectionError):
            while self.sent < 64 * 1024 * 1024:
                writer.write(self.block)
                self.sent += len(self.block)
                await writer.drain()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
SPARE = 16 * 1024 * 1024
"""What may be under way between the server and the client."""


async def read(client: Client, what: str) -> None:
    if what == "a reply":
        await ask(client, "GET /jobs")
    else:
        parts = client.events("job-1") if what == "events" else client.download("a.png")
        await asyncio.to_thread(list, parts)


@pytest.mark.fault(
    "HTTP and access",
    "another program at the server's address sends bytes without end",
    "`SERVER_UNAVAILABLE` after 128 MiB",
)
@pytest.mark.parametrize("status", [b"200", b"404"])
@pytest.mark.parametrize("what", ["a reply", "events", "a download"])
async def test_an_endless_reply_is_not_read_completely(
    what: str, status: bytes, monkeypatch: pytest.MonkeyPatch
):
    limit = 4 * 1024 * 1024
    for name in ("MAX_REPLY_BYTES", "MAX_EVENT_BYTES"):
        monkeypatch.setattr(client_module, name, limit)
    endless = Endless(PLAIN.replace(b"200", status))
    async with endless as endpoint:
        client = Client(endpoint)
        with pytest.raises(Unavailable) as refusal:
            await read(client, what)
    assert refusal.value.code == "SERVER_UNAVAILABLE"
    assert endpoint in refusal.value.message
    assert endless.sent < limit + SPARE


async def test_a_download_over_its_limit_is_refused():
    head = PLAIN.replace(b"\r\n\r\n", b"\r\nContent-Length: 99999999999\r\n\r\n")
    async with Endless(head) as endpoint:
        client = Client(endpoint)
        with pytest.raises(Unavailable, match="more than 10 MiB"):
            await read(client, "a download")


async def test_a_compressed_reply_is_not_decompressed():
    packed = gzip.compress(b'{"data": {"jobs": []}, "warnings": []}')

    async def other(request: web.Request) -> web.Response:
        return web.Response(body=packed, headers={"Content-Encoding": "gzip"})

    server = await answering(other)
    async with server:
        client = Client(str(server.make_url("")))
        with pytest.raises(Unavailable, match="is not vault-agent"):
            await ask(client, "GET /jobs")


async def test_a_long_event_is_read(fake: FakeServer):
    many = (Warning(code="X", message="x" * 4000, details={}),) * 100
    fake.history = [job("running"), job(warnings=many)]
    client = Client(fake.endpoint)
    events = await asyncio.to_thread(list, client.events("job-1"))
    assert [len(event.warnings) for event in events] == [0, 100]


def test_commands_call_only_routes_that_exist():
    known = {f"{route.method} {route.path}" for route in ROUTES}
    called = {
        route
        for path in (PACKAGE / "cli").glob("*.py")
        for route in re.findall(r'"((?:GET|POST|DELETE) /[^"]*)"', path.read_text("utf-8"))
    }
    assert called
    assert called <= known


# --- a request and its reply over a plain connection ---


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


async def ask_raw(raw: Raw, silence: float = PATIENCE) -> tuple[int, bytes]:
    async with raw.running() as address:
        return await asyncio.to_thread(send, address, silence)


def send(address: Address, silence: float) -> tuple[int, bytes]:
    with exchange(address, "GET", "/x", {"A": "b"}, None, silence=silence) as response:
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
    assert await ask_raw(raw) == (200, b"words")
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
        await ask_raw(Raw(reply))


@pytest.mark.parametrize("reply", [b"", OK, BODIES["with a length"][:-10]])
async def test_a_silent_server_is_not_waited_for(reply: bytes):
    with pytest.raises(BrokenReply):
        await ask_raw(Raw(reply, ends=False), silence=0.05)


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
