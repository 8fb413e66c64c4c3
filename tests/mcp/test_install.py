"""`vault-agent agent connect`: one entry is added to a client's settings, the rest stays."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.mcp.conftest import Agent

from vault_agent.cli.agent_programs import (
    ALIASES,
    CLIENTS,
    NotChanged,
    change_settings,
    read_settings,
)

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


ORIGINAL = '{"mcpServers": {"other": {"command": "x"}}, "theme": "dark"}\n'


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Agent]:
    with Agent(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.json", COMMENTED, {"mcpServers": {"other": {"a": [1, {"b": "}"}]}}, "url": "http://x"}),
        ("a.json", "", {}),
        ("a.yaml", "# mine\nextensions:\n  a: {b: 1}\n", {"extensions": {"a": {"b": 1}}}),
        ("a.toml", "[a]\nb = 1\n", {"a": {"b": 1}}),
    ],
)
def test_settings_are_read_as_their_programs_write_them(tmp_path: Path, name, text, expected):
    path = tmp_path / name
    path.write_text(text)
    assert read_settings(path) == expected


@pytest.mark.fault(
    "Agents",
    "a client's configuration has comments, is YAML, is a link, or is not JSON",
    "a link is followed; what is not plain JSON is left alone, and the entry to add is printed",
)
@pytest.mark.parametrize(
    "text",
    [COMMENTED, "[]", "{", '{"a": }', "nothing", '{"x": 1e400}', '"x"', "[" * 100_000, "\ufeff{}"],
)
def test_what_is_not_plain_json_is_never_written(tmp_path: Path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(NotChanged):
        change_settings(path, lambda settings: settings.update(a=1, b=2))
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]
    assert path.read_text() == text


def test_lines_to_paste_are_given_where_the_file_is_yaml(home):
    file = home.home / ".config" / "goose" / "config.yaml"
    file.parent.mkdir(parents=True)
    text = "# mine\nGOOSE_MODEL: m\nextensions:\n  memory:\n    enabled: true\n"
    file.write_text(text)
    told = home.run("agent", "connect", "goose")
    assert told.returncode == 2
    assert file.read_text() == text
    printed = yaml.safe_load(home.run("agent", "connect", "goose", "--print").stdout)
    entry = printed["extensions"]["vault-agent"]
    assert (entry["type"], entry["enabled"], entry["args"][-1]) == ("stdio", True, "mcp")
    assert Path(entry["cmd"]).is_absolute()
    assert "    type: stdio" in told.stderr
    file.write_text(yaml.safe_dump({"extensions": printed["extensions"]}))
    assert "knows vault-agent already" in home.run("agent", "connect", "goose").stdout


def test_a_client_that_only_a_person_can_set_up_gets_text_to_paste(home):
    told = home.run("agent", "connect", "jetbrains")
    assert told.returncode == 2
    assert "Settings | Tools | AI Assistant" in told.stderr
    assert '"vault-agent": {' in told.stderr
    assert "jetbrains" not in home.run("uninstall", "--yes").stdout.lower()


def test_a_file_gets_one_entry_and_the_original_is_kept_once(home):
    file = home.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(ORIGINAL)
    done = home.run("agent", "connect", "cursor")
    assert done.returncode == 0, done.stderr
    added = json.loads(file.read_text())["mcpServers"]
    assert set(added) == {"other", "vault-agent"}
    assert added["vault-agent"]["args"][-1] == "mcp"
    assert Path(added["vault-agent"]["command"]).is_absolute()
    assert file.with_name("mcp.json.bak").read_text() == ORIGINAL
    again = home.run("agent", "connect", "cursor")
    assert again.returncode == 0
    assert "Cursor knows vault-agent already.\n" in again.stdout
    assert home.run("agent", "add", "claude", "--folder", ".").returncode == 0
    again = home.run("agent", "connect", "cursor", "--agent", "claude")
    assert again.returncode == 2
    assert again.stderr.startswith("CLIENT_CONFIG_INVALID: ")
    assert home.run("agent", "connect", "cursor", "--agent", "claude", "--force").returncode == 0
    added = json.loads(file.read_text())["mcpServers"]
    assert added["vault-agent"]["args"][-2:] == ["--agent", "claude"]
    assert home.run("agent", "disconnect", "cursor").returncode == 0
    assert json.loads(file.read_text()) == json.loads(ORIGINAL)
    assert file.with_name("mcp.json.bak").read_text() == ORIGINAL


def test_a_missing_file_is_made(home):
    assert home.run("agent", "connect", "zed").returncode == 0
    file = home.home / ".config" / "zed" / "settings.json"
    entry = json.loads(file.read_text())["context_servers"]["vault-agent"]
    assert set(entry) == {"command", "args", "env"}


@pytest.mark.parametrize("content", [b"{ not json", b"\xff\xfe", b'{"mcpServers": 3}'])
def test_a_file_that_is_not_json_is_left_alone_and_the_entry_shown(home, content):
    file = home.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(content)
    done = home.run("agent", "connect", "cursor")
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
    assert home.run("agent", "connect", "cursor").returncode == 0
    assert file.is_symlink()
    assert "vault-agent" in real.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_a_client_with_a_command_of_its_own_is_called(home, tmp_path):
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/called\n')
    program.chmod(0o755)
    home.variables["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    assert home.run("agent", "connect", "claude-code").returncode == 0
    called = (tmp_path / "called").read_text().split("\n")
    assert called[:6] == ["mcp", "add", "-s", "user", "vault-agent", "--"]
    assert called[-2] == "mcp"
    program.write_text("#!/bin/sh\nexit 1\n")
    done = home.run("agent", "connect", "claude-code")
    assert done.returncode == 2
    assert "claude mcp add -s user vault-agent -- " in done.stderr


def test_each_client_has_an_entry_to_print(home):
    for name in CLIENTS:
        done = home.run("agent", "connect", name, "--print")
        assert done.returncode == 0
        assert "vault-agent" in done.stdout
    assert set(ALIASES.values()) <= CLIENTS.keys()
    assert not ALIASES.keys() & CLIENTS.keys()
    named = [home.run("agent", "connect", name, "--print") for name in ("gemini-cli", "gemini")]
    assert named[0].stdout == named[1].stdout != ""
    listed = home.run("agent").stderr
    assert listed.strip() == f"Not found here: {', '.join(CLIENTS)}"
    assert home.run("agent", "connect", "nothing").returncode == 2
