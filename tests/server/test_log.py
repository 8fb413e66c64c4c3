"""The log contains events and no private text."""

from __future__ import annotations

import asyncio
import io
import json
import logging

import pytest
from aiohttp.web_protocol import RequestHandler
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async

from vault_agent.errors import NotFound
from vault_agent.server.connection import ClientConnection
from vault_agent.server.log import EventLog, Fields, Level, captured_logging, report_crash
from vault_agent.system.crash import CrashReport

from .conftest import KEY, NOTE_ID, hang_up, run

CANARY = "canary-51d0"


@pytest.fixture
def stream():
    return io.StringIO()


def test_an_event_is_one_line_of_json(stream):
    log = EventLog(Level.INFO, stream)
    log.emit(Level.INFO, "request", status=200, duration_ms=1.5, route="/notes/{noteId}")
    log.emit(Level.DEBUG, "request", status=200)
    (line,) = stream.getvalue().splitlines()
    event = json.loads(line)
    assert event["event"] == "request"
    assert event["level"] == "info"
    assert event["route"] == "/notes/{noteId}"
    assert event["duration_ms"] == 1.5


def test_unlisted_or_complex_fields_are_not_logged(stream):
    log = EventLog(Level.INFO, stream)
    log.emit(Level.INFO, "request", query=CANARY, path=CANARY, code="two words", status=[CANARY])
    log.emit(Level.INFO, "request", code="a\nb", route="é", error_type="x" * 81)
    for line in stream.getvalue().splitlines():
        assert set(json.loads(line)) == {"time", "level", "event"}


def test_no_log_field_can_hold_private_text():
    assert not {"query", "path", "message", "url", "body", "header"} & set(Fields.__annotations__)


def test_a_closed_stderr_is_not_an_error(stream):
    stream.close()
    EventLog(Level.INFO, stream).emit(Level.ERROR, "request", status=500)


async def test_library_messages_are_reduced_to_their_type(stream):
    with captured_logging(EventLog(Level.INFO, stream)):
        error = ValueError(CANARY)
        logging.getLogger("aiohttp.server").error("Error handling %s", CANARY, exc_info=error)
        logging.getLogger("asyncio").error(CANARY)
        loop = asyncio.get_running_loop()
        loop.call_exception_handler({"message": CANARY, "exception": KeyError(CANARY)})
    assert CANARY not in stream.getvalue()
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [event.get("error_type") for event in events] == ["ValueError", None, "KeyError"]
    assert events[0]["logger"] == "aiohttp.server"


def test_a_crash_is_logged_with_process_type_and_lines():
    stream = io.StringIO()
    frames = ("vault_agent.vaults.jobs:12", "vault_agent.indexing.index:3")
    report_crash(EventLog(Level.ERROR, stream), "keeper", CrashReport("ValueError", frames))
    event = json.loads(stream.getvalue())
    assert (event["event"], event["process"], event["error_type"]) == (
        "crash",
        "keeper",
        "ValueError",
    )
    assert event["frames"] == list(frames)


@pytest.mark.parametrize("frame", [CANARY, "elsewhere.module:3", f"vault_agent.x:3 {CANARY}", 3])
def test_invalid_frames_are_not_logged(frame: str):
    stream = io.StringIO()
    report_crash(EventLog(Level.ERROR, stream), "keeper", CrashReport("ValueError", (frame,)))
    assert "frames" not in json.loads(stream.getvalue())


async def test_a_request_is_logged_with_route_status_and_counts():
    async with run() as server:
        await server.ask("POST", "/search", json={"query": CANARY, "mode": "hybrid"})
        await server.ask("GET", f"/notes/{NOTE_ID}")
        searched, fetched = [event for event in server.events if event["event"] == "request"]
    assert searched["route"] == "/search"
    assert searched["result_count"] == 1
    assert (searched["requested_mode"], searched["used_mode"]) == ("hybrid", "lexical")
    assert fetched["route"] == "/notes/{noteId}"
    assert NOTE_ID not in str(fetched)
    assert fetched["status"] == 200


async def test_an_error_reply_to_a_disconnected_client_is_not_logged_as_an_error(
    monkeypatch: pytest.MonkeyPatch,
):
    begun, gone, lost = asyncio.Event(), asyncio.Event(), ClientConnection.connection_lost

    def noticed(connection: ClientConnection, error: BaseException | None) -> None:
        lost(connection, error)
        gone.set()

    monkeypatch.setattr(ClientConnection, "connection_lost", noticed)
    async with run() as server:

        async def slow(query):
            begun.set()
            await gone.wait()
            raise NotFound("NOTE_NOT_FOUND", "There is no such note.")

        server.engine.search = slow
        _reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(
            b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b'Content-Length: 14\r\n\r\n{"query": "a"}'
        )
        await asyncio.wait_for(begun.wait(), PATIENCE)
        await hang_up(writer)
        [event] = await eventually_async(
            lambda: [event for event in server.events if event["event"] == "request"]
        )
    assert (event["level"], event["status"]) == ("info", 499)


async def test_connection_errors_are_logged_by_type_only(
    monkeypatch: pytest.MonkeyPatch,
):
    async def fail(*_: object) -> None:
        raise RuntimeError(CANARY)

    async with run() as server:
        with monkeypatch.context() as patched:
            patched.setattr(RequestHandler, "finish_response", fail)
            await server.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        [event] = [event for event in server.events if event["level"] == "error"]
        assert CANARY not in server.log.getvalue()
    assert (event["event"], event["error_type"]) == ("connection_error", "RuntimeError")


async def test_the_log_contains_nothing_that_a_client_sends(capfd):
    async with run(server={"api_key": KEY}) as server:
        headers = {"Authorization": f"Bearer {KEY}", "User-Agent": CANARY, "Referer": CANARY}
        for path in (f"/{CANARY}", f"/notes/{CANARY}", f"/attachments/{CANARY}?{CANARY}={CANARY}"):
            await server.ask("GET", path, headers=headers)
            await server.ask("GET", path, headers={"Authorization": f"Bearer {CANARY}"})
        await server.ask("POST", "/search", json={"query": CANARY}, headers=headers)
        await server.ask("POST", "/search", json={CANARY: CANARY}, headers=headers)
        await server.raw(f"{CANARY} HTTP\r\n\r\n".encode())
        await server.ask(CANARY, "/health", headers=headers)
        server.engine.failure = RuntimeError(CANARY)
        await server.ask("POST", "/search", json={"query": CANARY}, headers=headers)
        log = server.log.getvalue()
    assert log.count("\n") > 8
    for secret in (CANARY, KEY, "127.0.0.1"):
        assert secret not in log
    assert capfd.readouterr() == ("", "")
