"""Events of agents' sessions over HTTP."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.server.test_vaults import running
from tests.support.registered_vaults import RegisteredVaults, indexed
from tests.support.session_desk import PATIENT, PROMPT, SHOP

from vault_agent.config.rules import vault_identity
from vault_agent.memory.deliveries import Deliveries

KEY = "k" * 40
KEYED = {"api_key": KEY}
PLACE = "/sessions/events"
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def world(tmp_path: Path) -> RegisteredVaults:
    made = RegisteredVaults(tmp_path)
    made.write(made.default, {"Bread.md": "# Bread\n"})
    made.project("shop", {})
    return made


def event(world: RegisteredVaults, **fields: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "agent": "generic",
        "event": "prompt",
        "name": "prompt",
        "sessionId": "one",
        "cwd": "/a/folder",
        "at": time.time(),
        "vault": vault_identity(world.folder / "projects/shop/.vault-agent/vault"),
        "prompt": f"use CANARY {SECRET}",
        **fields,
    }


async def test_an_event_is_taken_and_its_words_stay_in_its_file(world: RegisteredVaults):
    async with running(world, journal={"enabled": True}, server=KEYED) as server:
        server.session.headers["Authorization"] = f"Bearer {KEY}"
        status, found = await server.call("POST", PLACE, event(world))
        assert (status, found["data"]) == (202, {"text": None, "message": None})
        session = await server.app.sessions.store.get("one")
        assert (session.prompts, session.agent) == (1, "generic")
        assert "CANARY" not in server.log.getvalue()
        assert "/a/folder" not in server.log.getvalue()
    for file in world.data.rglob("*"):
        if file.is_file() and file.parent.name != "sessions":
            assert SECRET.encode() not in file.read_bytes()


async def test_what_is_no_event_of_a_trusted_project_is_refused(world: RegisteredVaults):
    other = world.project("clone", {}, register=False)
    async with running(world, memory={"enabled": True}, server=KEYED) as server:
        server.session.headers["Authorization"] = f"Bearer {KEY}"
        for wrong in (
            {"version": 2},
            {"agent": "somebody"},
            {"event": "pause"},
            {"sessionId": "../etc"},
            {"at": "now"},
            {"at": 1e300},
            {"vault": "project:shop"},
            {"prompt": 1},
            {"more": 1},
        ):
            status, _ = await server.code("POST", PLACE, event(world, **wrong))
            assert status == 400, wrong
        found = await server.code("POST", PLACE, event(world, vault=vault_identity(other)))
        assert found == (404, "VAULT_UNKNOWN")
        default = event(world, vault=server.app.vaults.default.identity)
        assert await server.code("POST", PLACE, default) == (404, "VAULT_UNKNOWN")
        large = event(world, prompt="a" * 600_000)
        assert await server.code("POST", PLACE, large) == (413, "BODY_TOO_LARGE")
        assert await server.app.sessions.store.get("one") is None


@pytest.mark.parametrize("several", [False, True])
async def test_nothing_is_taken_or_written_while_it_is_off(world: RegisteredVaults, several: bool):
    async with running(world, vaults={"enabled": several}) as server:
        assert await server.code("POST", PLACE, event(world)) == (403, "FEATURE_DISABLED")
    assert [each.name for each in world.data.iterdir()] == ["indexes"]


async def test_what_a_hook_that_left_was_not_given_is_not_logged_and_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    world = RegisteredVaults(tmp_path)
    world.write(world.default, {"Bread.md": "# Bread\n"})
    world.project("shop", SHOP)
    chosen, left = asyncio.Event(), asyncio.Event()
    real = Deliveries._chosen

    async def slow(*args: Any) -> Any:
        found = await real(*args)
        chosen.set()
        await left.wait()
        return found

    async with running(world, memory=PATIENT, server=KEYED) as server:
        server.session.headers["Authorization"] = f"Bearer {KEY}"
        await indexed(await server.app.vaults.open("project:shop"))
        asked = event(world, prompt=PROMPT)
        body = json.dumps(asked).encode()
        monkeypatch.setattr(Deliveries, "_chosen", slow)
        _, hook = await asyncio.open_connection("127.0.0.1", server.port)
        hook.write(
            f"POST {PLACE} HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {KEY}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        await chosen.wait()
        hook.transport.abort()
        await server.call("GET", "/health")  # the server has noticed by then
        left.set()
        monkeypatch.setattr(Deliveries, "_chosen", real)
        again = event(world, prompt=f"{PROMPT} now", at=time.time() + 10)
        found = (await server.call("POST", PLACE, again))[1]["data"]
        assert "Tracker" in found["text"]
        told = (await server.data("GET", "/memory/sessions/one"))["session"]
        assert [each["text"] for each in told["deliveries"]] == [found["text"]]


async def test_a_hook_without_time_left_is_given_nothing(tmp_path: Path):
    world = RegisteredVaults(tmp_path)
    world.write(world.default, {"Bread.md": "# Bread\n"})
    world.project("shop", SHOP)
    async with running(world, memory=PATIENT, server=KEYED) as server:
        server.session.headers["Authorization"] = f"Bearer {KEY}"
        await indexed(await server.app.vaults.open("project:shop"))
        for header, number, wanted in (("0", 1, False), ("no time", 2, True)):
            server.session.headers["Vault-Agent-Seconds"] = header
            sent = event(world, prompt=f"{PROMPT} {number}", at=time.time() + 10 * number)
            found = (await server.call("POST", PLACE, sent))[1]["data"]
            assert bool(found["text"]) is wanted
