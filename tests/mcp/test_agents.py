"""Agents: each sees only its folder, and its key opens only its endpoint."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mcp.conftest import META, MODERN, Agent
from tests.support.waiting import eventually

from vault_agent.model.scope import Scope
from vault_agent.text.names import fold

KEY = "the-key-of-the-owner-0123456789abcdef"


class Scoped(Agent):
    """A server with an agent that sees the folder `desk` without `desk/private`."""

    agent_key = ""

    def call_tool(self, name: str, **arguments: object) -> tuple[bool, str]:
        """Call a tool as the agent."""
        key = {"Authorization": f"Bearer {self.agent_key}"}
        reply = self.ask("desk", "tools/call", key, name=name, arguments=arguments)
        return reply["result"]["isError"], reply["result"]["content"][0]["text"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scoped]:
    with Scoped(tmp_path_factory.mktemp("desk")) as made:
        for path in ("Note 0.md", "Work/Note 1.md", "Work/Deep/Note 2.md"):
            made.write(f"desk/{path}", "# About it\n\nThe lantern of the harbour.\n")
        made.write("desk/private/Diary.md", "# Diary\n\nThe lantern secret of the diary.\n")
        made.write("Outside.md", "# Outside\n\nThe lantern outside. [[Note 1]]\n")
        config = made.home / "config.toml"
        made.variables = {"VAULT_AGENT_CONFIG": str(config), "VAULT_AGENT_SERVER_API_KEY": KEY}
        config.write_text("# mine\n[server]\nlog_level = 'debug'\n")
        added = made.run("agent", "add", "desk", "--folder", "/desk/", "--deny", "desk/private")
        assert added.returncode == 0, added.stderr
        made.agent_key = added.stdout.strip()
        made.private.add("the agent's key", made.agent_key)
        made.start("--mcp")
        eventually(lambda: not made.call_tool("vault_search", query="lantern")[0])
        yield made


def test_a_scope_contains_its_folder_without_what_it_denies():
    scope = Scope(("desk",), ("desk/private",))
    assert scope.contains("desk/a.md")
    assert not scope.contains("desktop/a.md")
    assert not scope.contains("desk/private/a.md")
    assert scope.contains("desk/privately.md")
    assert (scope.to_caller("desk/a.md"), scope.in_vault("a.md")) == ("a.md", "desk/a.md")
    assert Scope().contains("a.md")


def test_a_scope_of_several_folders_has_the_paths_of_the_vault():
    scope = Scope(("desk", "team/pub"), ("desk/private",))
    assert scope.contains("desk/a.md")
    assert scope.contains("Team/Pub/x/a.md")
    for path in ("team/a.md", "team/pub2/a.md", "a.md", "desk/private/a.md"):
        assert not scope.contains(path)
    assert scope.reaches("team")
    assert not scope.reaches("other")
    assert {scope.to_caller("desk/a.md"), scope.in_vault("desk/a.md")} == {"desk/a.md"}


@pytest.mark.fault(
    "Agents",
    "`deny` in another letter case or normal form, with wildcards, or a note without its suffix",
    "denied alike in searches, lists, reads and suggestions",
)
def test_a_scope_compares_paths_as_filters_do():
    scope = Scope(("Büro",), ("büro/Priv?t", "Büro/Tagebuch"))
    assert scope.contains("B\N{LATIN SMALL LETTER U WITH DIAERESIS}RO/a.md".lower())
    assert scope.contains("Bu\N{COMBINING DIAERESIS}ro/a.md")
    assert scope.to_caller("Bu\N{COMBINING DIAERESIS}ro/x/a.md") == "x/a.md"
    assert scope.to_caller("büro/x/a.md") == "x/a.md"
    assert not scope.contains("BÜRO/PRIV?T/a.md")
    assert scope.contains("BÜRO/privat/a.md")
    assert not scope.contains("büro/tagebuch.MD")
    for path in ("Maße", "ΣΟΦΟΣ", "a\u00a0b", "İstanbul", "Å", "ﬁ"):
        assert Scope((path,)).contains(f"{fold(path)}/a.md")
        assert not Scope((), (fold(path),)).contains(f"{path}/a.md")


def test_paths_are_relative_to_the_folder(desk):
    _, text = desk.call_tool("vault_search", query="lantern")
    assert "desk" not in text
    _, text = desk.call_tool("vault_search", query="lantern", path="Work")
    assert all(line.startswith("Work/") for line in text.split("\n")[1:] if line[0] != " ")
    _, text = desk.call_tool("vault_read", path="Work/Note 1")
    assert text.startswith('<note path="Work/Note 1.md"')


def test_the_id_of_a_note_outside_finds_nothing(desk):
    from vault_agent.model.identifiers import identify

    for path in ("Outside.md", "desk/private/Diary.md"):
        error, text = desk.call_tool("vault_read", path=identify(path))
        assert error
        assert text.startswith("NOTE_NOT_FOUND: no such note.")


@pytest.mark.fault(
    "Agents",
    "an agent's key on any route but `/mcp`",
    "401",
)
def test_its_key_opens_its_endpoint_and_nothing_else(desk):
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    agent = {"Authorization": f"Bearer {desk.agent_key}"}
    owner = {"Authorization": f"Bearer {KEY}"}
    assert desk.post(ping, agent, "/mcp/desk")[0] == 200
    assert desk.post(ping, owner, "/mcp/desk")[0] == 200
    assert desk.post(ping, owner, "/mcp")[0] == 200
    refused = [
        desk.post(ping, headers, path)
        for headers, path in (
            (agent, "/mcp"),
            (agent, "/mcp/"),
            (agent, "/mcp/other"),
            (agent, "/search"),
            (agent, "/mcp/desk/"),
            ({}, "/mcp/desk"),
            ({"Authorization": "Bearer wrong"}, "/mcp/desk"),
        )
    ]
    assert {status for status, _, _ in refused} == {401}
    status, body, _ = desk.post(ping, owner, "/mcp/other")
    assert (status, body["error"]["data"]["code"]) == (404, "ROUTE_NOT_FOUND")


@pytest.mark.fault(
    "Agents",
    "an agent's folder is missing",
    "it is not added; one of the config file is refused: `AGENT_FOLDER_NOT_FOUND`",
)
def test_agents_are_listed_changed_and_removed(tmp_path: Path):
    program = Agent(tmp_path)
    config = tmp_path / "config.toml"
    config.write_text("# mine\n[server]\nport = 9000  # chosen\n")
    (tmp_path / "notes" / "desk").mkdir(parents=True)
    root = str(tmp_path / "notes")
    program.variables = {"VAULT_AGENT_CONFIG": str(config), "VAULT_AGENT_VAULT_ROOT": root}
    missing = program.run("agent", "add", "claude", "--folder", "desk", "--folder", "/etc")
    assert missing.returncode == 2
    assert missing.stderr.startswith("AGENT_FOLDER_NOT_FOUND: ")
    key = program.run("agent", "add", "claude", "--folder", "desk").stdout.strip()
    assert len(key) >= 32
    assert key not in config.read_text()
    assert "claude          an agent with a key     sees desk\n" in program.run("agent").stdout
    assert tomllib.loads(config.read_text())["agents"]["claude"]["folders"] == ["desk"]
    assert program.run("agent", "add", "claude", "--folder", ".").returncode == 2
    (tmp_path / "notes" / "desk" / "Diary.md").touch()
    denied = ["--folder", "desk", "--deny", "./desk/Diary", "--deny", "Diary", "--deny", "des*"]
    mistyped = program.run("agent", "add", "denied", *denied)
    assert "The vault has no Diary, des*. " in mistyped.stderr
    assert "no Diary. " in program.run("agent", "set", "denied", "--deny", "Diary").stderr
    assert program.run("agent", "remove", "denied").returncode == 0
    digest = tomllib.loads(config.read_text())["agents"]["claude"]["key_sha256"]
    assert program.run("agent", "rotate", "claude").stdout.strip() not in ("", key)
    assert tomllib.loads(config.read_text())["agents"]["claude"]["key_sha256"] != digest
    assert program.run("agent", "remove", "claude").returncode == 0
    assert config.read_text().rstrip() == "# mine\n[server]\nport = 9000  # chosen"
    assert program.run("agent", "remove", "claude").returncode == 4
    assert program.run("agent", "add", "co", "--folder", ".", "--toolset", "co-cli").returncode == 0
    assert "sees the whole vault; tools of co-cli\n" in program.run("agent").stdout
    [listed] = json.loads(program.run("agent", "--json").stdout)["data"]["agents"]
    assert (listed["name"], listed["toolset"]) == ("co", "co-cli")
    assert program.run("agent", "add", "y", "--folder", ".", "--toolset", "none").returncode == 2
    for arguments in (
        ["Not a name"],
        ["x", "--folder", "../up"],
        ["x"],
        ["x", "--folder", ""],
        ["x", "--folder", ".", "--deny", "C:/x"],
        ["x", "--folder", ".", "--deny", ""],
        ["x", "--folder", ".", "--deny", "."],
    ):
        assert program.run("agent", "add", *arguments).returncode == 2
    program.close()


def test_an_agent_without_its_folder_is_refused_and_the_others_go_on(tmp_path: Path):
    program = Agent(tmp_path)
    config = tmp_path / "config.toml"
    program.variables = {"VAULT_AGENT_CONFIG": str(config)}
    config.write_text(
        "[agents.desk]\nfolder = 'dsek'\n[agents.other]\nfolder = 'desk'\n"
        "[agents.maker]\nfolder = 'new'\nwrite = ['create']\n"
    )
    program.write("desk/Note.md", "# Note\n")
    program.start("--mcp")
    program.finish_first()

    def statuses() -> list[int]:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
        names = ("/desk", "/other", "/maker", "")
        return [program.post(body, headers, f"/mcp{name}")[0] for name in names]

    assert statuses() == [503, 200, 200, 200]
    (program.vault / "dsek").mkdir()
    assert statuses() == [200, 200, 200, 200]
    program.close()
