"""`agent connect` turns on what it needs, and what it did can be undone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mcp.conftest import Agent
from tests.support.listening import free_port

from vault_agent.cli.agent_programs import CLIENTS

KEY = "a-key-of-a-server-elsewhere-0123456789"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="homes are set otherwise there")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Agent]:
    """Return a program whose vault is in the config file. A server is stopped at the end."""
    made = Agent(tmp_path)
    made.write("Bread.md", "# Bread\n\nThe dough rests overnight. A note.\n")
    made.run("config", "set", "vault.root", str(made.vault))
    made.run("config", "set", "server.port", str(free_port()))
    yield made
    made.run("serve", "--stop")
    made.close()


def test_an_agent_is_connected_to_a_server_on_another_computer(home, tmp_path):
    home.run("config", "set", "mcp.enabled", "true")
    home.run("config", "set", "server.api_key", KEY)
    running = json.loads(home.run("--json", "serve", "--background").stdout)["data"]["endpoint"]
    (tmp_path / "elsewhere").mkdir()
    elsewhere = Agent(tmp_path / "elsewhere")
    try:
        refused = elsewhere.run("agent", "connect", "cursor", "--url", running)
        assert refused.returncode == 1
        assert "UNAUTHORIZED" in refused.stderr
        assert "config set server.api_key -" in refused.stderr
        elsewhere.run("config", "set", "server.api_key", KEY)
        done = elsewhere.run("agent", "connect", "cursor", "--url", running)
        assert done.returncode == 0, done.stderr
        assert "Checked: it gets" in done.stdout
        text = (elsewhere.home / ".cursor" / "mcp.json").read_text()
        assert json.loads(text)["mcpServers"]["vault-agent"]["args"][-2:] == ["--endpoint", running]
        assert KEY not in text
        assert elsewhere.run("agent", "disconnect", "cursor").returncode == 0
    finally:
        elsewhere.close()


def test_an_agent_is_named_or_the_agents_are_listed(home):
    named = home.run("agent", "connect")
    assert named.returncode == 2
    assert "Choose from: amp, claude-code" in named.stderr


def test_an_agent_is_connected_in_one_step_and_disconnected(home):
    assert home.run("serve", "--background").returncode == 0
    done = home.run("agent", "connect", "cursor", "--yes")
    assert done.returncode == 0, done.stderr
    assert "its first search works" in done.stdout
    rows = json.loads(home.run("--json", "agent").stdout)["data"]["clients"]
    assert {row["name"]: row["entry"] for row in rows}["cursor"] == "installed"
    assert [row["name"] for row in rows] == list(CLIENTS)
    assert home.run("agent", "disconnect", "cursor").returncode == 0
    assert not (home.home / ".cursor/mcp.json").exists()  # nobody else has written it
    assert "neither" in home.run("agent", "disconnect", "cursor").stderr


def test_the_hooks_are_added_only_while_memory_is_on(home):
    program = home.home / "bin" / "gemini"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    home.variables["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    settings = home.home / ".gemini" / "settings.json"
    home.run("enable", "mcp")
    assert home.run("agent", "connect", "gemini").returncode == 0
    assert not settings.exists()
    home.run("enable", "memory")
    done = home.run("agent", "connect", "gemini")
    assert "The hooks are in " in done.stdout
    assert "SessionStart" in settings.read_text()
    assert "hooks" in home.run("agent", "disconnect", "gemini").stdout
    assert not settings.exists()


def test_without_consent_nothing_is_turned_on(home):
    done = home.run("agent", "connect", "zed")
    assert done.returncode == 0
    assert "vault-agent enable mcp" in done.stderr
    assert home.run("config", "get", "mcp.enabled").stdout == "false\n"


@pytest.mark.parametrize("name", [name for name, each in CLIENTS.items() if each.program])
def test_what_to_type_without_the_program_of_a_client_is_a_line_of_its_own(home, name):
    home.variables["PATH"] = "/nowhere"
    done = home.run("agent", "connect", name)
    assert done.returncode == 2
    assert "\\x0a" not in done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith(f"  {CLIENTS[name].program} mcp add ")


def test_an_agent_whose_program_is_missing_gets_its_hooks(home):
    home.run("enable", "mcp")
    home.run("enable", "memory")
    home.variables["PATH"] = "/nowhere"
    done = home.run("agent", "connect", "claude")  # another name of claude-code
    assert done.returncode == 2
    assert "  claude mcp add " in done.stderr
    assert "The hooks are in " in done.stdout
    assert "SessionStart" in (home.home / ".claude" / "settings.json").read_text()
    assert "hooks" in home.run("agent", "disconnect", "claude").stdout


@pytest.mark.parametrize(
    ("name", "place", "text"),
    [
        ("claude-code", ".claude.json", '{"mcpServers": {"vault-agent": ENTRY}}'),
        ("gemini", ".gemini/settings.json", '{"mcpServers": {"vault-agent": ENTRY}}'),
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers.vault-agent]\ncommand = COMMAND\nargs = ARGS\n",
        ),
    ],
)
def test_an_entry_is_recognized_where_the_client_keeps_it(home, name, place, text):
    printed = home.run("agent", "connect", name, "--print").stdout
    command, *args = printed.split(" vault-agent ")[1].removeprefix("-- ").split()
    file = home.home / place
    file.parent.mkdir(exist_ok=True)
    text = text.replace("ENTRY", json.dumps({"command": command, "args": args}))
    text = text.replace("COMMAND", json.dumps(command)).replace("ARGS", json.dumps(args))
    file.write_text(text)

    def state() -> str:
        rows = json.loads(home.run("--json", "agent").stdout)["data"]["clients"]
        return {row["name"]: row["entry"] for row in rows}[name]

    assert state() == "installed"
    file.write_text(text.replace(json.dumps(args[-1]), json.dumps("other")))
    assert state() == "other"
    file.write_text("{ not")
    assert state() == "unreadable"
