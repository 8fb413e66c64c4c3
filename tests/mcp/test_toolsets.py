"""Toolsets: the tools of other servers, with their names, arguments and replies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from tests.mcp.conftest import FROST, Agent

from vault_agent.config.setting_names import Toolset
from vault_agent.mcp.toolsets import TOOLSETS
from vault_agent.model.identifiers import identify

DEVLOG = "[impl]    2026-05-01  The lamp is wired.\n[problem] 2026-05-02  The lamp (fuse) blew.\n"


class Toolsets(Agent):
    """A server with an agent for each toolset."""

    def call_as(self, agent: str, name: str, **arguments: Any) -> Any:
        """Return the structured content of a tool's reply, or its text."""
        result = self.ask(agent, "tools/call", name=name, arguments=arguments)["result"]
        text = result["content"][0]["text"]
        assert result["isError"] is False, text
        if "structuredContent" in result:
            assert json.loads(text) == result["structuredContent"]
            return result["structuredContent"]
        return text


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolsets]:
    with Toolsets(tmp_path_factory.mktemp("toolsets")) as made:
        made.write("Garden/Late frost.md", FROST)
        made.write("Garden/Seedlings.md", "# Seedlings\n\nWater seedlings early. #garden\n")
        made.write("Long.md", "# Long\n\n" + "A line about lamps.\n" * 3_000)
        made.write(
            "claude/shop/devlog/lamp.md", f"---\ntitle: Lamp\n---\n{DEVLOG}- [ ] Buy a fuse\n"
        )
        made.write("claude/other/devlog/lamp.md", "[impl]    2026-05-01  Another lamp.\n")
        config = made.home / "config.toml"
        made.variables = {"VAULT_AGENT_CONFIG": str(config)}
        config.write_text(
            "[mcp]\nenabled = true\ntoolset = 'co-cli'\n"
            "[agents.iso]\nfolder = '.'\ntoolset = 'agentiso'\n"
            "[agents.third]\ntoolset = 'obsidian-vault-mcp'\nfolder = 'claude'\n"
            "[agents.own]\nfolder = '.'\ntoolset = 'vault-agent'\n"
            "[agents.synk]\nfolder = '.'\ntoolset = 'synk'\n"
        )
        made.start()
        made.finish_first()
        yield made


def test_each_agent_has_its_toolset(seeds):
    def names(agent: str) -> list[str]:
        return [tool["name"] for tool in seeds.ask(agent, "tools/list")["result"]["tools"]]

    assert names("") == ["search_notes", "list_notes", "read_note"]
    assert names("third") == ["note_read", "vault_search", "task_list"]
    assert names("iso")[:3] == ["vault_read", "vault_search", "vault_list"]
    assert names("own")[0] == "vault_search"
    assert set(get_args(Toolset)) == set(TOOLSETS)
    # They name tools that other toolsets lack.
    assert [each["name"] for each in seeds.ask("", "prompts/list")["result"]["prompts"]] == [
        "ask_vault"
    ]
    assert seeds.ask("", "resources/list")["result"]["resources"] == []
    assert len(seeds.ask("own", "prompts/list")["result"]["prompts"]) == 2


def test_read_note_of_co_cli_gives_a_long_note_in_parts_between_marks(seeds):
    """What stands between marks is no raw note: nobody can take a part for the whole."""
    whole, cursor = "", None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        reply = seeds.call_as("", "read_note", filename="Long.md", **more)
        assert len(reply.encode()) <= 24_000
        opening, _, rest = reply.partition("\n")
        digits = opening.removesuffix(">").rpartition("b=")[2]
        assert opening.startswith('<note path="Long.md" lines="')
        assert opening.partition("lines=")[2].split('"')[1].endswith(" of 3002")
        part, _, end = rest.partition(f"</note {digits}>")
        whole += part
        if not end:
            break
        cursor = end.removeprefix("\nnext: ")
    assert whole == "# Long\n\n" + "A line about lamps.\n" * 3_000


def test_the_tools_of_obsidian_vault_mcp_see_one_repository(seeds):
    def ask(name: str, **arguments: Any) -> Any:
        return seeds.call_as("third", name, repository_name="shop", **arguments)

    read = ask("note_read", path="devlog/lamp.md")
    assert (read["exists"], DEVLOG in read["content"]) == (True, True)
    for absent in ("devlog/none.md", "lamp", "other/devlog/lamp.md"):
        assert ask("note_read", path=absent) == {"content": "", "exists": False}
    lines = [
        {"path": "devlog/lamp.md", "line": 5, "text": "[problem] 2026-05-02  The lamp (fuse) blew."}
    ]
    assert ask("vault_search", query=r"^\[problem\]") == {"results": lines}
    assert ask("vault_search", query="fuse.*blew", path_filter="devlog/*.md") == {"results": lines}
    none = {"results": [], "warnings": ["The frontmatter is not searched."]}
    assert ask("vault_search", query="Another") == none
    for path in ({}, {"path": "/"}, {"path": "."}, {"path": "devlog"}):
        assert [each["text"] for each in ask("task_list", **path)["tasks"]] == ["Buy a fuse"]
    for name in ("..", "shop/devlog", ""):
        wrong = seeds.refuse("third", "note_read", repository_name=name, path="x.md")
        assert wrong.startswith("INVALID_REQUEST: ")
    wrong = seeds.refuse("third", "note_read", repository_name="shop", path="../other/x.md")
    assert wrong.startswith("PATH_OUTSIDE_VAULT: ")


def test_a_search_of_obsidian_vault_mcp_says_that_there_is_more(seeds):
    seeds.write("claude/many/lines.md", "A line about lamps.\n" * 1_800)
    made = seeds.run("index")
    assert made.returncode == 0, made.stderr
    found = seeds.call_as("third", "vault_search", repository_name="many", query="lamps")
    shown = len(found["results"])
    assert 0 < shown <= 200
    assert found["warnings"] == [
        f"There are more than these {shown} results. Find fewer by query or path_filter."
    ]


def test_each_toolset_says_what_in_a_note_is_not_as_in_its_file(seeds):
    (seeds.vault / "claude" / "old").mkdir(parents=True)
    (seeds.vault / "claude" / "old" / "latin.md").write_bytes("# Grün\n".encode("latin-1"))
    assert seeds.run("index").returncode == 0
    path = "claude/old/latin.md"
    warning = "FILE_NOT_UTF8: "
    read = json.loads(seeds.call_as("iso", "vault_read", path=path, format="json"))
    assert [each.startswith(warning) for each in read["warnings"]] == [True]
    third = seeds.call_as("third", "note_read", repository_name="old", path="latin.md")
    assert [each.startswith(warning) for each in third["warnings"]] == [True]
    text = seeds.call_as("", "read_note", filename=path)
    assert text.startswith('<note path="claude/old/latin.md"')
    assert f"\n! {warning}" in text
    synk = seeds.call_as("synk", "get_vault_note", noteId=path)
    assert [each.startswith(warning) for each in synk["warnings"]] == [True]


def test_empty_text_for_an_optional_argument_is_as_left_out(seeds):
    everything = seeds.call_as("iso", "vault_list")
    assert seeds.call_as("iso", "vault_list", path="", cursor="") == everything
    assert seeds.call_as("own", "vault_list", path="", kind="") == everything
    plain = seeds.call_as("", "search_notes", query="fleece")
    assert seeds.call_as("", "search_notes", query="fleece", folder="", tag="", limit="") == plain
    assert seeds.call_as("own", "vault_list", tags="", recursive="") == everything
    asked = {"queries": [{"kind": "", "query": "fleece"}]}
    assert "Late frost" in seeds.call_as("own", "vault_context", **asked)
    assert seeds.refuse("own", "vault_search", query="").startswith("INVALID_QUERY: ")


# --- files that the index does not have, and lists that do not fit ------------------------------


@pytest.fixture(scope="module")
def ahead(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolsets]:
    """Return a server with an agent of each toolset, whose index does not have all files."""
    with Toolsets(tmp_path_factory.mktemp("ahead")) as made:
        for number in range(628):
            made.write(f"many/A note with a name that is rather long {number:03}.md", "#many\n")
        made.write("shop/lamps.md", "- a lamp\n" * 67)
        made.write("shop/sub/new.md", "# Another\n")
        config = made.home / "config.toml"
        made.variables = {"VAULT_AGENT_CONFIG": str(config)}
        config.write_text(
            "[mcp]\nenabled = true\ntoolset = 'synk'\n"
            "[agents.shop]\ntoolset = 'agentiso'\nfolder = 'shop'\n"
            + "".join(
                f"[agents.{name}]\ntoolset = '{toolset}'\nfolder = '.'\n"
                for name, toolset in (
                    ("iso", "agentiso"),
                    ("third", "obsidian-vault-mcp"),
                    ("cli", "co-cli"),
                    ("own", "vault-agent"),
                )
            )
        )
        made.start()
        made.finish_first()
        head = "---\nkind: fresh\ncreated: {{date}}\ntags: [unread]\n---\n"
        made.write("shop/new.md", f"{head}Just saved #now\n")
        made.write("secret.md", "Not for the shop.\n")
        (made.vault / "shop/link.md").symlink_to("../secret.md")
        yield made


def test_a_tool_that_is_given_an_exact_path_reads_the_file(ahead):
    third = ahead.call_as("third", "note_read", repository_name="shop", path="new")
    assert (third["exists"], "Just saved" in third["content"]) == (True, True)
    assert "Just saved" in ahead.call_as("iso", "vault_read", path="shop/new.md")
    as_json = json.loads(ahead.call_as("iso", "vault_read", path="shop/new.md", format="json"))
    assert as_json["frontmatter"]["kind"] == "fresh"
    assert ahead.call_as("iso", "vault_frontmatter", path="shop/new.md", key="kind") == '"fresh"'
    assert "Just saved" in ahead.call_as("cli", "read_note", filename="shop/new.md")
    got = ahead.call_as("", "get_vault_note", noteId="shop/new.md")
    assert (got["filePath"], got["backlinks"]) == ("shop/new.md", [])
    assert "Just saved" in ahead.call_as("own", "vault_read", path="shop/new.md")
    outline = ahead.call_as("own", "vault_read", path="shop/new.md", view="properties")
    assert "kind: fresh" in outline


def test_a_file_is_read_by_path_alone_and_only_in_the_scope(ahead):
    assert "Just saved" in ahead.call_as("shop", "vault_read", path="new.md")
    for path in ("../secret.md", "secret.md", "link.md", "gone.md"):
        assert "Not for" not in ahead.refuse("shop", "vault_read", path=path)
    note = identify("shop/new.md")
    for more in ("", "?path=shop/lamps.md", "?path=../vault/shop/new.md"):
        assert ahead.call("GET", f"/notes/{note}{more}").code in ("NOTE_NOT_FOUND", "INVALID_PATH")
    reply = ahead.call("GET", f"/notes/{note}?path=shop/new.md")
    assert "Just saved" in reply.data["content"]
    assert [each["code"] for each in reply.body["warnings"]] == ["INDEX_STALE"]


def test_the_tags_of_a_note_are_those_of_its_file(ahead):
    assert ahead.call_as("iso", "vault_tags", path="shop/new.md") == "#unread\n#now"


def test_lines_of_a_note_that_are_left_out_are_told(ahead):
    found = ahead.call_as("third", "vault_search", repository_name="shop", query="^- ")
    assert len(found["results"]) == 20
    assert "lamps.md" in " ".join(found["warnings"])
    every = ahead.call_as(
        "third", "vault_search", repository_name="shop", query="^- ", path_filter="lamps.md"
    )
    assert len(every["results"]) == 67
    assert "lamps.md" not in " ".join(every.get("warnings", ()))


@pytest.mark.parametrize(
    ("agent", "tool", "sent"),
    [
        ("iso", "vault_read", {"path": "many/../shop/lamps.md"}),
        ("iso", "vault_list", {"path": "../"}),
        ("iso", "vault_search", {"query": "lamp", "path_prefix": "../x"}),
        ("cli", "read_note", {"filename": "many/../shop/lamps.md"}),
        ("third", "note_read", {"repository_name": "shop", "path": "sub/../lamps.md"}),
    ],
)
def test_a_path_with_two_dots_is_refused(ahead, agent: str, tool: str, sent: dict[str, str]):
    assert ahead.refuse(agent, tool, **sent).startswith("PATH_OUTSIDE_VAULT")


def test_a_repository_is_any_folder_of_the_vault(ahead):
    for name in ("Projects of mine", "日本"):
        found = ahead.call_as("third", "note_read", repository_name=name, path="a")
        assert found == {"content": "", "exists": False}
    for name in ("..", ".trash", "shop/sub", "a*"):
        assert "one folder" in ahead.refuse("third", "note_read", repository_name=name, path="a")


@pytest.mark.parametrize("glob", ["{sub,other}/*.md", "[st]*/*.md"])
def test_a_filter_that_would_find_nothing_is_refused(ahead, glob: str):
    sent = {"repository_name": "shop", "query": "x", "path_filter": glob}
    assert "neither braces nor brackets" in ahead.refuse("third", "vault_search", **sent)


def test_every_note_of_a_list_can_be_reached(ahead):
    seen, cursor = [], None
    while True:
        more = {"cursor": cursor} if cursor else {}
        part = ahead.call_as("cli", "list_notes", tag="many", **more)
        assert part["count"] == 628
        seen += part["display"].splitlines()
        if (cursor := part.get("next")) is None:
            break
    assert len(seen) == len(set(seen)) == 628
