"""Events of agents' sessions over HTTP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.library.vaults import World
from tests.server.test_vaults import running

from vault_agent.config.rules import vault_identity

if TYPE_CHECKING:
    from pathlib import Path

KEY = "k" * 40
KEYED = {"api_key": KEY}
PLACE = "/sessions/events"
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.write(made.default, {"Bread.md": "# Bread\n"})
    made.project("shop", {})
    return made


def event(world: World, **fields: Any) -> dict[str, Any]:
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


async def test_an_event_is_taken_and_its_secrets_are_not_kept(world: World):
    async with running(world, journal={"enabled": True}, server=KEYED) as server:
        server.session.headers["Authorization"] = f"Bearer {KEY}"
        status, found = await server.call("POST", PLACE, event(world))
        assert (status, found["data"]) == (202, {"text": None, "message": None})
        session = await server.library.sessions.get("one")
        assert (session.prompts, session.agent) == (1, "generic")
        [text] = await server.library.sessions.texts(session)
        assert text.prompt == "use CANARY [redacted: github]"
        assert "CANARY" not in server.log.getvalue()
        assert "/a/folder" not in server.log.getvalue()
    for file in world.data.rglob("*"):
        if file.is_file():
            assert SECRET.encode() not in file.read_bytes()


async def test_what_is_no_event_of_a_trusted_project_is_refused(world: World):
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
        default = event(world, vault=server.library.default.identity)
        assert await server.code("POST", PLACE, default) == (404, "VAULT_UNKNOWN")
        large = event(world, prompt="a" * 600_000)
        assert await server.code("POST", PLACE, large) == (413, "BODY_TOO_LARGE")
        assert await server.library.sessions.get("one") is None


@pytest.mark.parametrize("several", [False, True])
async def test_nothing_is_taken_or_written_while_it_is_off(world: World, several: bool):
    async with running(world, vaults={"enabled": several}) as server:
        assert await server.code("POST", PLACE, event(world)) == (403, "FEATURE_DISABLED")
    assert [each.name for each in world.data.iterdir()] == ["indexes"]
