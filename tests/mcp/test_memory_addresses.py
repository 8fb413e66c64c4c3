"""Each address that memory gives opens that note and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.registered_vaults import RegisteredVaults, indexed
from tests.support.session_desk import note

from vault_agent.api import memory
from vault_agent.api.caller import OWNER, CallContext, Caller, CallerKind
from vault_agent.api.operation import perform
from vault_agent.config.vault_list import Role
from vault_agent.mcp.service import _result
from vault_agent.mcp.tool import own_tool
from vault_agent.mcp.toolsets import TOOLSETS
from vault_agent.mcp.view import View
from vault_agent.model.memory import NoteQuery, RecallQuery

ENTRY = re.compile(r'^--- [^"\n]+: "(Note \d+)".*?Note: ([^\n]*)$', re.MULTILINE | re.DOTALL)
NAMES = [
    "patterns/clash.md",
    "two  spaces.md",
    "zero\u200bwidth.md",
    "Größe 日本.md",
    f"{'deep folder with a long name/' * 4}{'n' * 120}.md",
    "a<b>.md",
    "global/notes.md",
]


def notes(first: int) -> dict[str, str]:
    return {
        name: note(f"Note {number}", f"Words {number}.", id="same", files=f"[src/{number}.py]")
        for number, name in enumerate(NAMES, first)
    }


@pytest.fixture
def world(tmp_path: Path) -> RegisteredVaults:
    world = RegisteredVaults(tmp_path)
    world.write(world.default, {"A.md": "# A\n"})
    world.project("shop", notes(1))
    world.registered(Role.GLOBAL, "shared", notes(101))
    return world


async def test_each_address_opens_its_note(world: RegisteredVaults):
    tools = {name: own_tool(name) for name in TOOLSETS["vault-agent"]}
    async with world.app(memory={"enabled": True}) as app:
        shared = await app.vaults.open("global")
        await indexed(shared)
        vault = await app.vaults.open("project:shop")
        await indexed(vault)
        view = View(app, vault, OWNER, 60_000, vaults=("project:shop", "global"))

        async def call(name: str, **arguments: object) -> str:
            found = await _result(tools[name], view, arguments)
            return str(found["content"][0]["text"])

        opened = {}
        for number in (n + first for n in range(len(NAMES)) for first in (1, 101)):
            body = RecallQuery(files=(f"src/{number}.py",))
            text = (
                await perform(memory.memory, CallContext(app, vault, OWNER), body)
            ).reply.data.text
            opened |= dict(ENTRY.findall(text))
        assert len(opened) == 2 * len(NAMES)
        for title, address in opened.items():
            assert f"# {title}\n" in await call("vault_read", path=address)


async def test_an_agent_that_knows_one_vault_gets_nothing_of_the_global_one(
    world: RegisteredVaults,
):
    async with world.app(memory={"enabled": True}) as app:
        shared = await app.vaults.open("global")
        await indexed(shared)
        vault = await app.vaults.open("project:shop")
        await indexed(vault)
        for caller, wanted in ((OWNER, True), (Caller(CallerKind.NAMED_AGENT, "helper"), False)):
            body = RecallQuery(files=("src/101.py",))
            found = (await perform(memory.memory, CallContext(app, vault, caller), body)).reply.data
            assert any(each.vault == "global" for each in found.notes) is wanted
            assert ("global:" in found.text) is wanted
            named = NoteQuery(files=("src/101.py",))
            reply = await perform(memory.note_search, CallContext(app, vault, caller), named)
            assert any(hit.vault == "global" for hit in reply.reply.data.notes) is wanted
