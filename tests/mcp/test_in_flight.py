"""Calls that take long: waiting, cancellation, and limits. The vault is a fake that waits."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from tests.mcp.conftest import META, MODERN
from tests.server.conftest import hang_up, run
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async

from vault_agent.errors import IndexUnavailable
from vault_agent.mcp import service
from vault_agent.mcp.relay import Relay, ServerAt
from vault_agent.mcp.tool import TOOL_SWITCHES, ClientTools, tools_for
from vault_agent.mcp.toolsets import TOOLSETS, synk
from vault_agent.model.jobs import Job, JobKind, JobState, PhaseProgress
from vault_agent.model.reply import Envelope
from vault_agent.model.writing import Right, Written
from vault_agent.server import mcp
from vault_agent.server import serve as serving

HEADERS = {
    "MCP-Protocol-Version": MODERN,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "vault_search",
}


def search(number: int = 1, **meta: object) -> dict[str, Any]:
    params = {
        "name": "vault_search",
        "arguments": {"query": "lamp"},
        "_meta": {**META, **meta},
    }
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class Slow:
    """A search that waits until it is released, and records how it ended."""

    def __init__(self, engine: Any) -> None:
        self.answer = engine.search
        self.began = asyncio.Event()
        self.release = asyncio.Event()
        self.cancelled = asyncio.Event()
        engine.search = self.search

    async def search(self, query: Any) -> Any:
        self.began.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return await self.answer(query)


class Indexing:
    """A vault whose first index is being built, until some questions have been asked."""

    def __init__(self, engine: Any, questions: int) -> None:
        self.left = questions
        self.answer = engine.search
        phases = (PhaseProgress("parse", 3200, 9746),)
        engine.jobs.all["first"] = Job(
            "first", JobKind.INDEX, JobState.RUNNING, "2026-01-01T00:00:00Z", phases=phases,
            eta_seconds=6.2,
        )  # fmt: skip
        engine.search = self.search

    async def search(self, query: Any) -> Any:
        if self.left:
            self.left -= 1
            raise IndexUnavailable(
                "INDEX_NOT_FOUND", "The first index is being built.", {"jobId": "first"}
            )
        return await self.answer(query)


@pytest.mark.fault(
    "Agents",
    "the client disconnects or cancels",
    "the work stops, and nothing more is sent",
)
async def test_work_stops_when_the_client_has_gone():
    async with run(mcp={"enabled": True}) as server:
        slow = Slow(server.engine)
        asking = asyncio.create_task(server.ask("POST", "/mcp", json=search(), headers=HEADERS))
        await slow.began.wait()
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
        async with asyncio.timeout(PATIENCE):
            await slow.cancelled.wait()


async def test_a_stop_does_not_wait_for_calls_that_wait_for_their_turn(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(serving, "_SHUTDOWN_SECONDS", 2 * PATIENCE)
    requests: list[object] = []
    monkeypatch.setattr(mcp, "_require_json", requests.append)
    calls = 2 * mcp.IN_FLIGHT
    async with asyncio.timeout(PATIENCE):
        async with run(mcp={"enabled": True}) as server:
            slow = Slow(server.engine)
            body = json.dumps(search()).encode()
            head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
            request = (
                f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{head}"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            clients = []
            for _ in range(calls):
                _reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
                writer.write(request.encode() + body)
                clients.append(writer)
            await eventually_async(lambda: len(requests) == calls)
            await slow.began.wait()
        for writer in clients:
            await hang_up(writer)
    assert slow.cancelled.is_set()


@pytest.mark.fault(
    "Agents",
    "the first index is being built",
    "a reading call waits up to 25 s, then says how far it is",
)
async def test_a_call_waits_for_the_first_index():
    async with run(mcp={"enabled": True}) as server:
        Indexing(server.engine, questions=2)
        _, body, _ = await server.ask("POST", "/mcp", json=search(), headers=HEADERS)
        assert body["result"]["isError"] is False


async def test_an_index_that_takes_longer_is_an_error_with_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(service, "INDEX_SECONDS", 0.0)
    async with run(mcp={"enabled": True}) as server:
        Indexing(server.engine, questions=9)
        _, body, _ = await server.ask("POST", "/mcp", json=search(), headers=HEADERS)
        assert body["result"]["isError"] is True
        assert body["result"]["content"][0]["text"] == (
            "INDEX_NOT_FOUND: The first index is being built: 3,200 of 9,746 notes; call again in"
            " about 6 s."
        )


async def test_a_note_is_made_once_while_the_index_is_made(monkeypatch: pytest.MonkeyPatch):
    paths: list[str] = []

    async def create(*_: object) -> Envelope[Written]:
        paths.append(f"notes/name-{len(paths)}.md")
        return Envelope(data=Written("1", "create", True, paths[-1], created=True))

    async def read(*_: object) -> dict[str, Any]:
        raise IndexUnavailable("INDEX_NOT_FOUND", "The index is being built.", {"jobId": "first"})

    monkeypatch.setattr(synk, "perform_write", create)
    monkeypatch.setattr(synk, "properties_of", read)
    monkeypatch.setattr(mcp, "rights_of", lambda *_: frozenset({Right.CREATE}))
    async with run(mcp={"enabled": True, "toolset": "synk"}) as server:
        Indexing(server.engine, questions=0)
        body = search()
        body["params"]["name"] = "create_vault_note"
        body["params"]["arguments"] = {"type": "note", "title": "Name"}
        headers = {**HEADERS, "Mcp-Name": "create_vault_note"}
        _, body, _ = await server.ask("POST", "/mcp", json=body, headers=headers)
    assert len(paths) == 1
    assert body["result"]["isError"] is False, body
    assert body["result"]["structuredContent"]["filePath"] == paths[0]


@pytest.mark.parametrize("toolset", TOOLSETS)
async def test_a_tool_that_writes_runs_once(toolset: str):
    async with run(mcp={"enabled": True}) as server:
        indexing = Indexing(server.engine, questions=0)
        view: Any = SimpleNamespace(vault=server.engine)
        for tool in tools_for(
            ClientTools(toolset, frozenset(Right), TOOL_SWITCHES, is_named_agent=False)
        ):
            runs: list[str] = []

            async def fail(_view: object, _arguments: object, runs: list[str] = runs) -> str:
                runs.append("run")
                if len(runs) > 1:
                    return "repeated"
                raise IndexUnavailable("INDEX_NOT_FOUND", "It is built.", {"jobId": "first"})

            with suppress(IndexUnavailable):
                await service._with_index(tool, fail, view, {})
            assert len(runs) == (1 if tool.writes else 2), tool.name
        assert indexing.left == 0


async def test_a_request_over_the_limit_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mcp, "IN_FLIGHT", 1)
    async with run(mcp={"enabled": True}) as server:
        slow = Slow(server.engine)

        def ask() -> asyncio.Task[Any]:
            return asyncio.create_task(server.ask("POST", "/mcp", json=search(), headers=HEADERS))

        first = ask()
        await slow.began.wait()
        slow.began.clear()
        second = ask()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slow.began.wait(), 0.1)
        slow.release.set()
        assert [status for status, _, _ in await asyncio.gather(first, second)] == [200, 200]


# --- the relay --------------------------------------------------------------------------------


class Waiting(BaseHTTPRequestHandler):
    """A server that answers `slow` only when the client has gone, and all else at once."""

    protocol_version = "HTTP/1.1"
    gone = threading.Event()
    asked = threading.Event()
    got: ClassVar[list[tuple[str, ...]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(body)
        self.got.append((self.path, message["method"], self.headers["Authorization"]))
        if message["method"] == "slow":
            self.asked.set()
            self.connection.recv(1)  # until the client closes
            self.gone.set()
            self.close_connection = True
            return
        content = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Keep the output clean."""


class Piped:
    """A relay in this process, with pipes for its input and output."""

    def __init__(self, endpoint: str) -> None:
        reading, self.input = os.pipe()
        self.output, writing = os.pipe()
        self.relay = Relay(lambda _: ServerAt(endpoint, "key"), "/mcp", reading, writing)
        self.thread = threading.Thread(target=self.relay.run, daemon=True)
        self.thread.start()
        self.lines = os.fdopen(self.output, "rb")
        self.write = lambda message: os.write(self.input, json.dumps(message).encode() + b"\n")
        self.descriptors = (reading, self.input, writing)

    def close(self) -> None:
        os.close(self.input)
        self.thread.join(PATIENCE)
        while self.relay.active:
            time.sleep(0.01)
        self.lines.close()
        for descriptor in (self.descriptors[0], self.descriptors[2]):
            os.close(descriptor)


@pytest.fixture
def piped() -> Iterator[Piped]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Waiting)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made = Piped(f"http://127.0.0.1:{server.server_port}")
    yield made
    made.close()
    server.shutdown()
    server.server_close()


def test_a_connected_client_keeps_the_server_from_being_idle(piped):
    Waiting.got.clear()
    piped.relay.touch()
    assert Waiting.got == []  # no server is known before the first call
    piped.write({"jsonrpc": "2.0", "id": 5, "method": "quick"})
    assert piped.lines.readline()
    piped.relay.touch()
    assert Waiting.got[1:] == [("/mcp", "ping", "Bearer key")]


def test_a_cancelled_request_closes_its_connection_and_gets_no_reply(piped):
    Waiting.asked.clear()
    Waiting.gone.clear()
    piped.write({"jsonrpc": "2.0", "id": "a", "method": "slow"})
    assert Waiting.asked.wait(PATIENCE)
    cancel = {"requestId": "a"}
    piped.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
    assert Waiting.gone.wait(PATIENCE)
    piped.write({"jsonrpc": "2.0", "id": 6, "method": "quick"})
    assert json.loads(piped.lines.readline())["id"] == 6


@pytest.mark.fault(
    "Agents",
    "a second request with an ID in flight, on standard input",
    "−32600; the first request continues",
)
def test_a_second_request_with_an_id_in_flight_is_refused(piped):
    Waiting.asked.clear()
    piped.write({"jsonrpc": "2.0", "id": 9, "method": "slow"})
    assert Waiting.asked.wait(PATIENCE)
    piped.write({"jsonrpc": "2.0", "id": 9, "method": "quick"})
    reply = json.loads(piped.lines.readline())
    assert (reply["id"], reply["error"]["code"]) == (9, -32600)
    cancel = {"requestId": 9}
    piped.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
