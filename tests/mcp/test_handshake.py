"""The handshake and the lists that the relay gives: the same as the server's."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.mcp.conftest import META
from tests.mcp.recorded import recorded, text_of

from vault_agent.api.caller import OWNER, Caller, CallerKind
from vault_agent.config.agents import AgentSettings
from vault_agent.config.layers import Layer
from vault_agent.config.rights import tool_settings
from vault_agent.config.settings import Config
from vault_agent.mcp.exchange import Post, exchange
from vault_agent.mcp.handshake import FILE, result_for
from vault_agent.mcp.prompts import prompts_for
from vault_agent.mcp.service import make_server
from vault_agent.mcp.tool import TOOL_SWITCHES, ClientTools, tools_for
from vault_agent.mcp.toolsets import TOOLSETS
from vault_agent.mcp.view import View
from vault_agent.model.writing import Right
from vault_agent.server.mcp import rights_of

METHODS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01")


async def test_the_recorded_lists_are_those_of_the_server():
    """If not, run `python -m tests.mcp.recorded`."""
    assert FILE.read_text(encoding="utf-8") == text_of(await recorded())


async def asked(view: View, message: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
    post = Post(headers, tuple(headers), json.dumps(message).encode())
    reply: dict[str, Any] = json.loads((await exchange(make_server(), view, post)).body)
    return reply


def view_of(config: Config, caller: Caller, toolset: str, rights: frozenset[Right]) -> View:
    vault = cast("Any", SimpleNamespace(config=config))
    caller = replace(caller, rights=rights)
    return View(cast("Any", None), vault, caller, max_bytes=24_000, toolset=toolset)


@pytest.mark.parametrize("toolset", TOOLSETS)
async def test_a_list_is_the_same_with_and_without_a_server(toolset):
    chosen = random.Random(toolset)
    for _ in range(12):
        rights = frozenset(right for right in Right if chosen.random() < 0.6)
        on = {setting for setting in TOOL_SWITCHES if chosen.random() < 0.6}
        config = Config(**{name.partition(".")[0]: {"enabled": True} for name in on})
        agent = chosen.random() < 0.5
        caller = Caller(CallerKind.NAMED_AGENT, "one") if agent else OWNER
        view = view_of(config, caller, toolset, rights)
        for method in METHODS:
            for meta in ({}, META):
                message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}
                headers = {"mcp-protocol-version": "2025-11-25"}
                if meta:
                    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
                expected = (await asked(view, message, headers))["result"]
                client = ClientTools(toolset, rights, on, agent)
                assert result_for(message, client) == expected


@pytest.mark.parametrize("toolset", ["vault-agent", "synk"])
def test_what_several_vaults_enable_is_listed_only_with_them(toolset):
    client = ClientTools(toolset, (), TOOL_SWITCHES, is_named_agent=False)
    alone = client._replace(switched_on=("memory.enabled", "journal.enabled"))
    lost = {tool.name for tool in tools_for(client)} - {tool.name for tool in tools_for(alone)}
    assert lost == {"promote_note_to_global", "generate_session_journal"}
    assert prompts_for(client).keys() - prompts_for(alone).keys() == {"session-journal"}


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_handshake_is_the_same_with_and_without_a_server(version):
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    view = view_of(Config(), OWNER, "vault-agent", frozenset())
    expected = (await asked(view, message, {}))["result"]
    assert result_for(message, None) == expected


async def test_discovery_is_the_same_with_and_without_a_server():
    message = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover"}
    view = view_of(Config(), OWNER, "vault-agent", frozenset())
    expected = (await asked(view, message, headers))["result"]
    assert result_for(message, None) == expected


@pytest.mark.parametrize(
    "params",
    [
        [],
        {"cursor": "x"},
        {"_meta": []},
        {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}},
        {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}},
    ],
)
def test_what_is_not_plain_is_left_to_the_server(params):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
    client = ClientTools("vault-agent", (), (), is_named_agent=False)
    assert result_for(message, client) is None
    broken = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    assert result_for(broken, client) is None


@pytest.mark.parametrize("enabled", [True, "on", False, "false"])
@pytest.mark.parametrize(
    ("folders", "agent"),
    [
        (["."], None),
        (["Notes"], {"write": ["create", "delete"], "folder": "Notes/a"}),
        (["Notes"], {"write": ["create", "edit"], "folder": "notes"}),
        (["Notes"], {"write": ["create"], "folder": "Other", "toolset": "synk"}),
        (["Notes/a"], {"write": ["append"], "folder": "."}),
        (["."], {"folder": "."}),
    ],
)
def test_rights_and_tools_are_those_of_the_full_settings(enabled, folders, agent):
    agents = {} if agent is None else {"one": agent}
    values = {"write.enabled": enabled, "write.folders": folders, "mcp.toolset": "agentiso"}
    config = Config(
        write={"enabled": enabled, "folders": folders},
        mcp={"toolset": "agentiso"},
        agents=agents,
    )
    settings = None if agent is None else AgentSettings(**agent)
    found = tool_settings([Layer("file", values, agents)], None if agent is None else "one")
    toolset, rights = found
    assert rights == rights_of(config, settings)
    assert toolset == ((settings and settings.toolset) or config.mcp.toolset)
    assert tool_settings([Layer("file", values, agents)], "nobody") is None
