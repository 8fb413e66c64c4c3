"""The plugin for agents, the entry in the MCP registry and the install links fit their schemas."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml
from jsonschema import Draft7Validator
from tests.test_package import REPOSITORY, script

from vault_agent import __version__
from vault_agent.cli.agent_programs import CLIENTS
from vault_agent.cli.hook import hook_options
from vault_agent.cli.relay import RelayOptions, options_of
from vault_agent.mcp.tool import own_tool
from vault_agent.mcp.toolsets import TOOLSETS

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "tests/fixtures/schemas"
SKILL = ROOT / "plugin/skills/vault-agent/SKILL.md"
ENTRY = {"command": "vault-agent", "args": ["mcp"]}


def problems(value: object, schema: str) -> list[str]:
    rules = json.loads((SCHEMAS / schema).read_text())
    Draft7Validator.check_schema(rules)
    return [error.message for error in Draft7Validator(rules).iter_errors(value)]


def read(path: str) -> Any:
    return json.loads((ROOT / path).read_text("utf-8"))


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("plugin/.claude-plugin/plugin.json", "claude-plugin.json"),
        ("plugin/.codex-plugin/plugin.json", "codex-plugin.json"),
        ("plugin/.mcp.json", "mcp.json"),
        ("plugin/hooks/claude-code.json", "hooks.json"),
        ("plugin/hooks/codex.json", "hooks.json"),
        (".claude-plugin/marketplace.json", "claude-marketplace.json"),
        (".agents/plugins/marketplace.json", "codex-marketplace.json"),
    ],
)
def test_each_file_of_the_plugin_fits_its_schema(path: str, schema: str):
    assert problems(read(path), schema) == []
    assert problems({**read(path), "unknown": 1}, schema)


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_manifest_names_files_that_are_there(client: str):
    manifest = read(f"plugin/.{client}-plugin/plugin.json")
    paths = [value for value in manifest.values() if str(value).startswith("./")]
    assert all((ROOT / "plugin" / path).exists() for path in paths)
    assert manifest["version"] == __version__


def test_a_catalog_leads_to_the_plugin():
    claude, codex = (
        read(f"{place}/marketplace.json") for place in (".claude-plugin", ".agents/plugins")
    )
    assert {claude["plugins"][0]["source"], codex["plugins"][0]["source"]["path"]} == {"./plugin"}
    assert (ROOT / "plugin").is_dir()


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_the_hooks_call_the_program_for_their_agent(agent: str):
    groups = read(f"plugin/hooks/{agent}.json")["hooks"]
    hooks = CLIENTS[agent].hooks
    assert list(groups) == list(hooks.events)
    for [group] in groups.values():
        program, *arguments = group["hooks"][0]["command"].split()
        options = hook_options(arguments)
        assert program == "vault-agent"
        assert options.agent == agent


def test_the_entry_starts_the_relay():
    assert read("plugin/.mcp.json") == {"mcpServers": {"vault-agent": ENTRY}}
    assert options_of(ENTRY["args"]) == RelayOptions()


def test_the_skill_is_short_and_says_when_it_is_for():
    text = SKILL.read_text("utf-8")
    front = yaml.safe_load(text.split("---\n")[1])
    assert len(text.splitlines()) <= 120
    assert front["name"] == SKILL.parent.name
    assert 100 < len(front["description"]) <= 1024


def test_the_skill_names_tools_and_arguments_that_there_are():
    text = SKILL.read_text("utf-8")
    tools = {name: own_tool(name).properties for name in TOOLSETS["vault-agent"]}
    named = set(re.findall(r"`((?:vault|task|get|generate)_\w+)", text))
    assert named <= tools.keys()
    assert {"vault_search", "vault_read", "get_agent_memory"} <= named
    for name, arguments in re.findall(r"`(\w+) (\{[^`]*\})`", text):
        assert json.loads(arguments).keys() <= tools[name].keys()


def test_the_entry_of_the_registry_fits_its_schema():
    entry = script("registry").server(REPOSITORY)
    assert problems(entry, "server.json") == []
    assert entry["name"].endswith("/vault-agent")
    assert entry["packages"][0]["packageArguments"][0]["value"] == ENTRY["args"][0]


def test_the_readme_of_a_release_has_the_name_in_the_registry():
    text = (ROOT / "README.md").read_text("utf-8")
    name = script("registry").server(REPOSITORY)["name"]
    released = script("metadata").with_whole_name(text, REPOSITORY)
    assert f"<!-- mcp-name: {name} -->" in released
    assert released.count("mcp-name") == text.count("mcp-name") == 1


def test_install_links_have_the_entry_of_the_client():
    text = (ROOT / "docs/how-to/use-from-an-agent.md").read_text("utf-8")
    [cursor] = re.findall(r"cursor://\S+", text)
    query = parse_qs(urlsplit(cursor).query)
    assert query["name"] == ["vault-agent"]
    assert json.loads(base64.b64decode(query["config"][0])) == ENTRY
    [code] = re.findall(r"vscode:mcp/install\?(\S+)", text)
    assert json.loads(unquote(code)) == {"name": "vault-agent", **ENTRY}
