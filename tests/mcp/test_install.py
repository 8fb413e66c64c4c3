"""`vault-agent mcp install` and `check`: one entry is added, the rest keeps its bytes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.mcp.conftest import Agent

from vault_agent.cli import jsonc, yaml_members
from vault_agent.cli.clients import ALIASES, CLIENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

ENTRY = {"command": "/bin/vault-agent", "args": ["mcp"]}
COMMENTED = """\
// mine
{
  /* servers */
  "mcpServers": {
    "other": {"a": [1, {"b": "}"}],}, // last
  },
  "url": "http://x", // a comment, with a comma
}
"""
FILES = [
    "{}",
    "{ }\n",
    '{\n  "mcpServers": {}\n}\n',
    '{"mcpServers": {"other": {"command": "x"}}, "theme": "dark"}',
    COMMENTED,
    '{\r\n\t"theme": "dark"\r\n}\r\n',
]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Agent]:
    made = Agent(tmp_path)
    yield made
    made.close()


@pytest.mark.fault(
    "Agents",
    "a client's configuration has comments, is a link, or is not JSON",
    "the other bytes are kept; what is not JSON is left alone, and the entry to add is printed",
)
@pytest.mark.parametrize("text", FILES)
def test_a_member_is_added_and_removed_and_the_rest_keeps_its_bytes(text):
    added = jsonc.with_member(text, "mcpServers", "vault-agent", ENTRY)
    before, after = jsonc.loads(text), jsonc.loads(added)
    assert after["mcpServers"].pop("vault-agent") == ENTRY
    assert {"mcpServers": {}, **before} == {"mcpServers": {}, **after}
    # What was there before is there still, in one or two pieces.
    position = next(at for at in range(len(text)) if not added.startswith(text[: at + 1]))
    assert added.endswith(text[position:].lstrip())
    removed = jsonc.without_member(added, "mcpServers", "vault-agent")
    assert {"mcpServers": {}, **jsonc.loads(removed)} == {"mcpServers": {}, **before}
    again = jsonc.with_member(added, "mcpServers", "vault-agent", {"command": "y"})
    assert jsonc.loads(again)["mcpServers"]["vault-agent"] == {"command": "y"}


@pytest.mark.parametrize("text", ["[]", "{", '{"a": }', '{"a" 1}', "nothing", '{"mcpServers": []}'])
def test_what_is_not_an_object_is_refused(text):
    with pytest.raises(jsonc.NotJson):
        jsonc.with_member(text, "mcpServers", "vault-agent", ENTRY)


YAML_FILES = [
    "",
    "GOOSE_MODEL: m",
    "# mine\nGOOSE_MODEL: m  # the best\n",
    "extensions:\n",
    "extensions: {}  # none\nlast: 1\n",
    "extensions:\n    memory:\n        enabled: true # yes\n\n# the rest\nlast: [1, {a: 2}]\n",
    "a: |\n  extensions:\n    x: 1\nextensions:\n  developer: {type: builtin}\n",
    'extensions:\r\n  memory:\r\n    args:\r\n    - "a"\r\n    - b\r\n',
    "---\nextensions:\n  z: &z\n    text: >-\n      long\n\n      text\n  y: *z\n...\n",
]


@pytest.mark.parametrize("text", YAML_FILES)
def test_a_member_of_a_yaml_file_is_added_and_removed_and_the_rest_keeps_its_bytes(text):
    added = yaml_members.with_member(text, "extensions", "vault-agent", ENTRY)
    before, after = yaml_members.loads(text) or {}, yaml_members.loads(added)
    assert after["extensions"].pop("vault-agent") == ENTRY
    assert {**before, "extensions": before.get("extensions") or {}} == after
    lines = added.splitlines(keepends=True)
    kept = [line for line in text.splitlines(keepends=True) if "{}" not in line]
    assert all(line in lines or f"{line}\n" in lines for line in kept)
    assert ("\r\n" in text) == ("\r\n" in added)
    removed = yaml_members.without_member(added, "extensions", "vault-agent")
    assert (yaml_members.loads(removed) or {}) == {n: v for n, v in before.items() if v != {}} or (
        "extensions" not in before or not before["extensions"]
    )
    if before.get("extensions"):
        assert removed == text
    again = yaml_members.with_member(added, "extensions", "vault-agent", {"cmd": "y"})
    assert yaml_members.loads(again)["extensions"]["vault-agent"] == {"cmd": "y"}


@pytest.mark.parametrize(
    "text", ["- a\n", "{a: 1}\n", "extensions: {a: {b: 1}}\n", "a: [\n", "a: !x 1\n", "? a\n: b\n"]
)
def test_yaml_in_another_form_is_refused(text):
    with pytest.raises(yaml_members.NotYaml):
        yaml_members.with_member(text, "extensions", "vault-agent", ENTRY)


def test_goose_gets_an_entry_and_every_byte_comes_back(home):
    file = home.home / ".config" / "goose" / "config.yaml"
    file.parent.mkdir(parents=True)
    text = "# mine\nGOOSE_MODEL: m\nextensions:\n  memory:\n    enabled: true\n"
    file.write_text(text)
    assert home.run("mcp", "install", "goose").returncode == 0
    entry = yaml_members.loads(file.read_text())["extensions"]["vault-agent"]
    assert (entry["type"], entry["enabled"], entry["args"][-1]) == ("stdio", True, "mcp")
    assert Path(entry["cmd"]).is_absolute()
    assert file.with_name("config.yaml.bak").read_text() == text
    assert "knows vault-agent already" in home.run("mcp", "install", "goose").stdout
    assert home.run("mcp", "install", "goose", "--uninstall").returncode == 0
    assert file.read_text() == text
    file.write_text("extensions: [\n")
    refused = home.run("mcp", "install", "goose")
    assert refused.returncode == 2
    assert "is not valid YAML" in refused.stderr
    assert "    type: stdio" in refused.stderr


def test_a_client_that_only_a_person_can_set_up_gets_text_to_paste(home):
    told = home.run("mcp", "install", "jetbrains")
    assert told.returncode == 2
    assert "Settings | Tools | AI Assistant" in told.stderr
    assert '"vault-agent": {' in told.stderr
    assert "jetbrains" not in home.run("uninstall", "--yes").stdout.lower()


def test_a_file_gets_one_entry_and_the_original_is_kept_once(home):
    file = home.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(COMMENTED)
    done = home.run("mcp", "install", "cursor")
    assert done.returncode == 0, done.stderr
    added = jsonc.loads(file.read_text())["mcpServers"]
    assert set(added) == {"other", "vault-agent"}
    assert added["vault-agent"]["args"][-1] == "mcp"
    assert Path(added["vault-agent"]["command"]).is_absolute()
    assert file.with_name("mcp.json.bak").read_text() == COMMENTED
    again = home.run("mcp", "install", "cursor")
    assert again.returncode == 0
    assert again.stdout == "Cursor knows vault-agent already.\n"
    again = home.run("mcp", "install", "cursor", "--agent", "claude")
    assert again.returncode == 2
    assert again.stderr.startswith("CLIENT_CONFIG_INVALID: ")
    assert home.run("mcp", "install", "cursor", "--agent", "claude", "--force").returncode == 0
    added = jsonc.loads(file.read_text())["mcpServers"]
    assert added["vault-agent"]["args"][-2:] == ["--agent", "claude"]
    assert home.run("mcp", "install", "cursor", "--uninstall").returncode == 0
    assert file.read_text() == COMMENTED
    assert file.with_name("mcp.json.bak").read_text() == COMMENTED


def test_a_missing_file_is_made(home):
    assert home.run("mcp", "install", "zed").returncode == 0
    file = home.home / ".config" / "zed" / "settings.json"
    entry = json.loads(file.read_text())["context_servers"]["vault-agent"]
    assert set(entry) == {"command", "args", "env"}


@pytest.mark.parametrize("content", [b"{ not json", b"\xff\xfe", b'{"mcpServers": 3}'])
def test_a_file_that_is_not_json_is_left_alone_and_the_entry_shown(home, content):
    file = home.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(content)
    done = home.run("mcp", "install", "cursor")
    assert done.returncode == 2
    assert '"vault-agent": {' in done.stderr
    assert file.read_bytes() == content
    assert not file.with_name("mcp.json.bak").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_link_is_followed_and_stays_a_link(home):
    real = home.home / "dotfiles" / "cursor.json"
    real.parent.mkdir()
    real.write_text("{}")
    file = home.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.symlink_to(real)
    assert home.run("mcp", "install", "cursor").returncode == 0
    assert file.is_symlink()
    assert "vault-agent" in real.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_a_client_with_a_command_of_its_own_is_called(home, tmp_path):
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/called\n')
    program.chmod(0o755)
    home.variables["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    assert home.run("mcp", "install", "claude-code").returncode == 0
    called = (tmp_path / "called").read_text().split("\n")
    assert called[:6] == ["mcp", "add", "-s", "user", "vault-agent", "--"]
    assert called[-2] == "mcp"
    program.write_text("#!/bin/sh\nexit 1\n")
    done = home.run("mcp", "install", "claude-code")
    assert done.returncode == 2
    assert "claude mcp add -s user vault-agent -- " in done.stderr


def test_each_client_has_an_entry_to_print(home):
    for name in CLIENTS:
        done = home.run("mcp", "install", name, "--print")
        assert done.returncode == 0
        assert "vault-agent" in done.stdout
    assert set(ALIASES.values()) <= CLIENTS.keys()
    assert not ALIASES.keys() & CLIENTS.keys()
    named = [home.run("mcp", "install", name, "--print") for name in ("gemini-cli", "gemini")]
    assert named[0].stdout == named[1].stdout != ""
    listed = home.run("mcp", "install").stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(CLIENTS)
    assert home.run("mcp", "install", "nothing").returncode == 2


def test_the_check_shows_the_tools_and_a_search(agent):
    done = agent.run("mcp", "check")
    assert done.returncode == 0, done.stderr
    assert "  vault_search\n  vault_read\n" in done.stdout
    assert "Long.md" in done.stdout
    shown = json.loads(agent.run("mcp", "check", "--json").stdout)["data"]
    assert shown["tools"][0] == "vault_search"
    assert shown["tokens"] <= 1200
    failed = agent.run("mcp", "check", "--endpoint", "http://127.0.0.1:1")
    assert failed.returncode == 1
    assert failed.stderr.startswith("MCP_FAILED: SERVER_UNAVAILABLE: ")
