"""Agents: each sees only its folder, and its key opens only its endpoint."""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mcp.conftest import META, MODERN, Agent

from vault_agent.model.scope import Scope
from vault_agent.text.names import fold

KEY = "the-key-of-the-owner-0123456789abcdef"
WORDS = ("lantern", "harbour", "ledger", "meadow", "signal", "orchard", "copper", "velvet")


class Scoped(Agent):
    """A server with an agent that sees the folder `desk` without `desk/private`."""

    agent_key = ""
    oracle = False  # whether the vault holds only what the agent sees

    def call_tool(self, name: str, **arguments: object) -> tuple[bool, str]:
        """Call a tool as the agent, or as the owner of the oracle."""
        params = {"name": name, "arguments": arguments, "_meta": META}
        headers = {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
        }
        if self.agent_key:
            headers["Authorization"] = f"Bearer {self.agent_key}"
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        _, reply, _ = self.post(body, headers, "/mcp" if self.oracle else "/mcp/desk")
        assert reply is not None
        return reply["result"]["isError"], reply["result"]["content"][0]["text"]


def notes() -> dict[str, str]:
    """Return the notes of the agent's folder."""
    chosen = random.Random(5)
    made = {}
    for number in range(12):
        folder = ("", "Work/", "Work/Deep/")[number % 3]
        text = " ".join(chosen.choices(WORDS, k=30))
        made[f"{folder}Note {number}.md"] = (
            f"# About {number}\n\n{text}. [[Note {number // 2}]] #{WORDS[number % 3]}/x\n"
        )
    return made


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scoped]:
    made = Scoped(tmp_path_factory.mktemp("desk"))
    for path, text in notes().items():
        made.write(f"desk/{path}", text)
    made.write(
        "desk/private/Diary.md", "# Diary\n\nThe lantern secret of the diary. #lantern/secret\n"
    )
    made.write("desk/Locked.md", "# Locked\n\nThe lantern that is locked. [[Note 3]]\n")
    made.write("Outside.md", "# Outside\n\nThe lantern outside, near the harbour. [[Note 1]]\n")
    made.write("desktop/Other.md", "# Other\n\nThe lantern of another desk.\n")
    config = made.home / "config.toml"
    made.variables = {"VAULT_AGENT_CONFIG": str(config), "VAULT_AGENT_SERVER_API_KEY": KEY}
    config.write_text("# mine\n[server]\nlog_level = 'debug'\n")
    added = made.run(
        "agent",
        "add",
        "desk",
        "--folder",
        "/desk/",
        "--deny",
        "desk/private",
        "--deny",
        "desk/lockeD",
    )
    assert added.returncode == 0, added.stderr
    made.agent_key = added.stdout.strip()
    made.private.add("the agent's key", made.agent_key)
    made.start("--mcp")
    wait_for_index(made)
    yield made
    made.close()


def wait_for_index(program: Scoped) -> None:
    """Wait for the first index. A tool waits for it too."""
    for _ in range(20):
        if not program.call_tool("vault_search", query="lantern")[0]:
            return
    raise AssertionError("no index")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scoped]:
    """Return a server whose whole vault is what the agent sees."""
    made = Scoped(tmp_path_factory.mktemp("oracle"))
    made.oracle = True
    for path, text in notes().items():
        made.write(path, text)
    made.start("--mcp")
    wait_for_index(made)
    yield made
    made.close()


def test_a_scope_contains_its_folder_without_what_it_denies():
    scope = Scope("desk", ("desk/private",))
    assert scope.contains("desk/a.md")
    assert not scope.contains("desktop/a.md")
    assert not scope.contains("desk/private/a.md")
    assert scope.contains("desk/privately.md")
    assert (scope.inner("desk/a.md"), scope.outer("a.md")) == ("a.md", "desk/a.md")
    assert Scope().contains("a.md")


@pytest.mark.fault(
    "Agents",
    "`deny` in another letter case or normal form, with wildcards, or a note without its suffix",
    "denied alike in searches, lists, reads and suggestions",
)
def test_a_scope_compares_paths_as_filters_do():
    scope = Scope("Büro", ("büro/Priv?t", "Büro/Tagebuch"))
    assert scope.contains("B\N{LATIN SMALL LETTER U WITH DIAERESIS}RO/a.md".lower())
    assert scope.contains("Bu\N{COMBINING DIAERESIS}ro/a.md")
    assert scope.inner("Bu\N{COMBINING DIAERESIS}ro/x/a.md") == "x/a.md"
    assert scope.inner("büro/x/a.md") == "x/a.md"
    assert not scope.contains("BÜRO/PRIV?T/a.md")
    assert scope.contains("BÜRO/privat/a.md")
    assert not scope.contains("büro/tagebuch.MD")
    for path in ("Maße", "ΣΟΦΟΣ", "a\u00a0b", "İstanbul", "Å", "ﬁ"):
        assert Scope(path).contains(f"{fold(path)}/a.md")
        assert not Scope("", (fold(path),)).contains(f"{path}/a.md")


def test_paths_are_relative_to_the_folder(desk):
    _, text = desk.call_tool("vault_search", query="lantern")
    assert "desk" not in text
    _, text = desk.call_tool("vault_search", query="lantern", path="Work")
    assert all(line.startswith("Work/") for line in text.split("\n")[1:] if line[0] != " ")
    _, text = desk.call_tool("vault_read", path="Work/Note 1")
    assert text.startswith('<note path="Work/Note 1.md"')


@pytest.mark.fault(
    "Agents",
    "an agent names a note, folder or ID outside its folder to a tool that reads",
    "the same reply as in a vault that does not have it",
)
@pytest.mark.parametrize(
    "path",
    [
        "Outside",
        "Outside.md",
        "Other",
        "Diary",
        "Locked",
        "locked.md",
        "private/Diary.md",
        "desk/private/Diary.md",
        "About nothing at all",
        "desktop/Other.md",
    ],
)
def test_what_lies_outside_does_not_exist(desk, oracle, path):
    for tool in ("vault_read", "vault_related"):
        assert desk.call_tool(tool, path=path) == oracle.call_tool(tool, path=path)


@pytest.mark.fault(
    "Agents",
    "an agent lists tags and folders, or gathers context",
    "names, counts and notes are those of its folder, as in a vault that holds only that",
)
@pytest.mark.parametrize("kind", ["tags", "folders"])
@pytest.mark.parametrize("more", [{}, {"recursive": False}, {"limit": 1}, {"path": "Work"}])
def test_tags_and_folders_are_counted_in_the_folder(desk, oracle, kind, more):
    found = [each.call_tool("vault_list", kind=kind, **more) for each in (desk, oracle)]
    # A cursor names its vault.
    shown = [(error, text.partition("next: ")[0], text.split("\n")[1:]) for error, text in found]
    assert shown[0] == shown[1]


def test_a_context_holds_only_notes_of_the_folder(desk, oracle):
    reads = [{"kind": "read", "query": each} for each in ("Note 1", "Outside", "Diary", "Other")]
    found = [each.call_tool("vault_context", queries=reads) for each in (desk, oracle)]
    shown = [re.sub("[0-9a-f]{8}", "", text) for _, text in found]
    assert shown[0] == shown[1]
    assert '<note path="Work/Note 1.md"' in found[0][1]
    wide = [{"query": "lantern"}, {"query": "secret diary"}, {"query": "outside"}]
    _, text = desk.call_tool("vault_context", queries=wide, maxTokens=6000)
    assert "lantern" in text
    assert not re.search("desk|secret|Outside|Other", text)


def test_the_id_of_a_note_outside_finds_nothing(desk):
    from vault_agent.model.identifiers import identify

    for path in ("Outside.md", "desk/private/Diary.md"):
        error, text = desk.call_tool("vault_read", path=identify(path))
        assert error
        assert text.startswith("NOTE_NOT_FOUND: no such note.")


def test_folders_outside_are_as_unknown_as_those_that_do_not_exist(desk, oracle):
    for path in ("private", "nothing", "desk", "desktop", "Wrk"):
        found = [
            each.call_tool("vault_search", query="lantern", path=path) for each in (desk, oracle)
        ]
        assert found[0] == found[1]


def test_random_calls_never_show_what_lies_outside(desk):
    chosen = random.Random(11)
    for _ in range(150):
        words = " ".join(chosen.choices((*WORDS, "secret", "diary", "outside"), k=2))
        options = chosen.choice(({}, {"path": "*.md"}, {"path": "**"}, {"path": "private"}))
        _, text = desk.call_tool("vault_search", query=words, limit=50, **options)
        _, _, shown = text.partition("\n")  # the first line may repeat a word of the query
        assert not {"Outside.md", "Diary", "Other.md", "secret", "private/"} & set(shown.split())
        assert "Diary" not in text
        _, text = desk.call_tool("vault_related", path=f"Note {chosen.randrange(12)}", limit=50)
        assert "Outside" not in text


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
    missing = program.run("agent", "add", "claude", "--folder", "no such")
    assert missing.returncode == 2
    assert missing.stderr.startswith("AGENT_FOLDER_NOT_FOUND: ")
    key = program.run("agent", "add", "claude", "--folder", "desk").stdout.strip()
    assert len(key) >= 32
    assert key not in config.read_text()
    assert "claude          an agent with a key     sees desk\n" in program.run("agent").stdout
    assert program.run("agent", "add", "claude", "--folder", ".").returncode == 2
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
    ):
        assert program.run("agent", "add", *arguments).returncode == 2
    program.close()


def test_an_agent_without_its_folder_is_refused_and_the_others_go_on(tmp_path: Path):
    program = Agent(tmp_path)
    config = tmp_path / "config.toml"
    program.variables = {"VAULT_AGENT_CONFIG": str(config)}
    config.write_text("[agents.desk]\nfolder = 'dsek'\n[agents.other]\nfolder = 'desk'\n")
    program.write("desk/Note.md", "# Note\n")
    program.start("--mcp")
    program.finish_first()
    assert "AGENT_FOLDER_NOT_FOUND: The folder of the agent desk" in program.log.read_text()

    def statuses() -> list[int]:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
        return [program.post(body, headers, f"/mcp{name}")[0] for name in ("/desk", "/other", "")]

    assert statuses() == [503, 200, 200]
    (program.vault / "dsek").mkdir()
    assert statuses() == [200, 200, 200]
    program.close()
