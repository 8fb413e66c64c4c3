"""Jobs over HTTP: submit, follow and cancel. A disconnect does not end a job."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async

from vault_agent.model.jobs import JobState
from vault_agent.model.warning import Warning
from vault_agent.server import events
from vault_agent.server import serve as serving

from .conftest import run


async def start(server) -> str:
    _, body, _ = await server.ask("POST", "/index")
    return body["data"]["job"]["id"]


async def test_a_submitted_job_returns_its_location(server):
    for path, kind in (("/index", "index"), ("/reindex", "reindex")):
        status, body, headers = await server.ask("POST", path, json={"requireEmbeddings": True})
        job = body["data"]["job"]
        assert (status, job["kind"], job["state"]) == (202, kind, "running")
        assert headers["Location"] == f"/jobs/{job['id']}"
        assert server.engine.jobs.options.require_embeddings is True
        assert server.engine.jobs.options.fresh_embeddings is False
        server.engine.jobs.change(job["id"], state=JobState.SUCCEEDED)


async def read_events(reply) -> list[dict]:
    return [json.loads(line[6:]) async for line in reply.content if line.startswith(b"data: ")]


async def next_event(reply) -> dict:
    async with asyncio.timeout(PATIENCE):
        while not (line := await reply.content.readline()).startswith(b"data: "):
            pass
    return json.loads(line[6:])


async def test_events_send_every_state_and_end_with_the_job(server):
    job_id = await start(server)
    async with server.request("GET", f"/jobs/{job_id}/events") as reply:
        assert reply.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert reply.headers["Cache-Control"] == "no-store"
        assert await reply.content.readline() == b"event: job\n"
        assert (await next_event(reply))["state"] == "running"
        server.engine.jobs.change(job_id, phase="parse")
        assert (await next_event(reply))["phase"] == "parse"
        server.engine.jobs.change(job_id, state=JobState.SUCCEEDED)
        (ended,) = await asyncio.wait_for(read_events(reply), PATIENCE)
    assert ended["state"] == "succeeded"


async def test_a_finished_job_sends_one_event(server):
    job_id = await start(server)
    server.engine.jobs.change(job_id, state=JobState.FAILED, error=Warning("DISK_FULL", "Full."))
    async with server.request("GET", f"/jobs/{job_id}/events") as reply:
        (job,) = await read_events(reply)
    assert job["error"] == {"code": "DISK_FULL", "message": "Full.", "details": {}}


async def test_a_job_without_progress_sends_heartbeats(server, monkeypatch):
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.05)
    job_id = await start(server)
    async with server.request("GET", f"/jobs/{job_id}/events") as reply:
        await asyncio.wait_for(reply.content.readuntil(b": still here\n\n"), PATIENCE)


@pytest.mark.fault(
    "Jobs",
    "the client disconnects; SIGTERM",
    "the job continues; all processes end within 5 s",
)
async def test_a_job_continues_when_its_follower_disconnects(server, monkeypatch):
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.05)
    job_id = await start(server)
    async with server.request("GET", f"/jobs/{job_id}/events") as reply:
        await reply.content.readline()
    await eventually_async(lambda: any(event.get("status") == 499 for event in server.events))
    _, body, _ = await server.ask("GET", f"/jobs/{job_id}")
    assert body["data"]["job"]["state"] == "running"
    assert not [event for event in server.events if event["level"] == "error"]


async def test_a_stopping_server_ends_event_streams(monkeypatch):
    monkeypatch.setattr(serving, "_SHUTDOWN_SECONDS", 2 * PATIENCE)
    async with asyncio.timeout(PATIENCE):
        async with run() as server:
            job_id = await start(server)
            reply = await server.request("GET", f"/jobs/{job_id}/events")
            await reply.content.readline()
            following = asyncio.create_task(reply.read())
    await asyncio.gather(following, return_exceptions=True)


async def test_a_late_follower_gets_the_newest_state_at_once(server):
    job_id = await start(server)
    async with server.request("GET", f"/jobs/{job_id}/events") as first:
        await next_event(first)
        server.engine.jobs.change(job_id, phase="parse")
        assert (await next_event(first))["phase"] == "parse"
        async with server.request("GET", f"/jobs/{job_id}/events") as late:
            assert (await next_event(late))["phase"] == "parse"


async def test_events_of_a_running_job_list_few_warnings(server):
    job_id = await start(server)
    many = tuple(Warning("FILE_BINARY", f"Skipped {number}.") for number in range(100))
    server.engine.jobs.change(job_id, warnings=many, warning_count=250)
    async with server.request("GET", f"/jobs/{job_id}/events") as reply:
        await reply.content.readline()
        running = json.loads((await reply.content.readline())[6:])
        server.engine.jobs.change(job_id, state=JobState.SUCCEEDED)
        (*_, ended) = await asyncio.wait_for(read_events(reply), PATIENCE)
    assert running["warningCount"] == ended["warningCount"] == 250
    assert len(running["warnings"]) == events.WARNINGS_WHILE_RUNNING + 1
    assert running["warnings"][-1]["details"] == {"omitted": 240}
    assert [item["message"] for item in ended["warnings"][:100]] == [each.message for each in many]
