"""The state of a watch, and the stream of news."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.server.conftest import run
from tests.support.clocks import PATIENCE

from vault_agent.model.health import Revision, WatchState, WatchStatus
from vault_agent.server import events
from vault_agent.vaults import event_stream as news

STATE = WatchStatus(
    enabled=True,
    state=WatchState.POLLING,
    reason="WATCH_LIMIT",
    pending=3,
)


def revision(number: int) -> Revision:
    return Revision(7, number, 1, 0, 0, 0, ("a" * 32,), complete=True)


async def read(reply, count: int) -> list[dict[str, str]]:
    """Read so many blocks of a stream, heartbeats included."""
    found = []
    async with asyncio.timeout(PATIENCE):
        while len(found) < count:
            block = (await reply.content.readuntil(b"\n\n")).decode().strip()
            found.append(dict(line.split(": ", 1) for line in block.splitlines()))
    return found


async def test_the_state_of_the_watch_is_shown(server):
    server.engine.watch.state = STATE
    status, body, _ = await server.ask("GET", "/watch")
    assert status == 200
    data = body["data"]
    assert (data["state"], data["reason"], data["pending"]) == ("polling", "WATCH_LIMIT", 3)
    _, health, _ = await server.ask("GET", "/health")
    assert health["data"]["watch"]["state"] == "off"


async def test_a_scan_needs_the_switch(server):
    status, body, _ = await server.ask("POST", "/watch/scan")
    assert (status, body["error"]["code"]) == (403, "FEATURE_DISABLED")
    assert body["error"]["details"]["setting"] == "watch.enabled"
    async with run(watch={"enabled": True}) as watched:
        status, body, headers = await watched.ask("POST", "/watch/scan")
        assert status == 202
        assert headers["Location"] == f"/jobs/{body['data']['job']['id']}"


async def test_news_arrives_as_events_with_ids(server):
    async with server.request("GET", "/events") as reply:
        assert reply.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        (first,) = await read(reply, 1)
        server.engine.events.add(revision(12))
        server.engine.events.add(STATE)
        one, two = await read(reply, 2)
    assert list(first) == ["id"]
    assert (one["event"], two["event"]) == ("revision", "watch")
    assert json.loads(one["data"])["noteIds"] == ["a" * 32]
    assert json.loads(two["data"])["state"] == "polling"
    assert len({first["id"], one["id"], two["id"]}) == 3


@pytest.mark.fault(
    "HTTP and access",
    "a client of `/events` comes back, or missed too much; a follower is slow",
    "it gets what it missed, or `resync`",
)
async def test_a_client_that_returns_gets_what_it_has_missed(server):
    for number in range(5):
        server.engine.events.add(revision(number))
    async with server.request("GET", "/events") as reply:
        (first,) = await read(reply, 1)
    for number in range(5, 8):
        server.engine.events.add(revision(number))
    headers = {"Last-Event-ID": first["id"]}
    async with server.request("GET", "/events", headers=headers) as reply:
        _, *missed = await read(reply, 4)
    assert [json.loads(event["data"])["revision"] for event in missed] == [5, 6, 7]


async def test_a_client_that_missed_too_much_is_told_to_read_again(server, monkeypatch):
    server.engine.events.add(revision(0))
    for unknown in ("", "x", "other-1", f"{server.engine.events.last_id}0", "-" * 5_000):
        headers = {"Last-Event-ID": unknown}
        async with server.request("GET", "/events", headers=headers) as reply:
            _, told = await read(reply, 2)
        assert told["event"] == "resync"
    old = server.engine.events.last_id
    for number in range(news.KEPT + 1):
        server.engine.events.add(revision(number))
    async with server.request("GET", "/events", headers={"Last-Event-ID": old}) as reply:
        _, told = await read(reply, 2)
        assert told["event"] == "resync"
        server.engine.events.add(revision(9))
        (then,) = await read(reply, 1)
    assert then["event"] == "revision"


async def test_a_quiet_stream_sends_heartbeats_and_a_head_request_ends(server, monkeypatch):
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.05)
    async with server.request("GET", "/events") as reply:
        async with asyncio.timeout(PATIENCE):
            await reply.content.readuntil(b": still here\n\n")
    async with server.request("HEAD", "/events") as reply:
        assert reply.status == 200
        assert await reply.read() == b""


async def test_a_follower_that_is_slow_loses_no_place():
    told = news.EventStream()
    follower = told.follow()
    first = asyncio.ensure_future(anext(follower))
    await asyncio.sleep(0)
    for number in range(3 * news.KEPT):
        told.add(revision(number))
    assert (await first).item is None  # more than is kept
    told.add(revision(7))
    following = await anext(follower)
    assert following.item == revision(7)
    assert following.id == told.last_id
