"""Ranking that learns, end to end: the real program, its commands, its routes and its tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.mcp.conftest import META, MODERN, Agent
from tests.product.conftest import small_vault

from vault_agent.model.identifiers import identify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOTES = ["a.md", "b.md", "c.md"]
LEARN = {"VAULT_AGENT_SEARCH_LEARN": "true"}


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Agent]:
    made = Agent(tmp_path)
    small_vault(made)
    for name in NOTES:
        made.write(name, "quinces in the jam pot\n")
    made.variables = {**LEARN, "EDITOR": "true", "VISUAL": ""}
    yield made
    made.close()


def started(program: Agent) -> None:
    program.start("--mcp")
    program.finish_first()


def paths(program: Agent, **body: Any) -> list[str]:
    found = program.call("POST", "/search", {"query": "quinces jam", **body}).data["results"]
    return [each["path"] for each in found]


def run(program: Agent, *arguments: str) -> str:
    program.variables |= {
        "VAULT_AGENT_VAULT_ROOT": str(program.vault),
        "VAULT_AGENT_INDEX_DIR": str(program.indexes),
    }
    done = program.run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_note_that_the_command_opens_is_raised_and_forgotten(program: Agent):
    started(program)
    assert paths(program) == NOTES
    run(program, "search", "quinces", "jam")
    run(program, "open", "c.md", "--in", "editor")
    shown = run(program, "search", "jam of quinces", "--explain")
    assert shown.index("c.md") < shown.index("a.md")
    assert "learned: opened 1, factor 1.25, placeBefore 3" in shown
    assert paths(program)[0] == "c.md"  # who sees the same learns the same
    assert run(program, "memory", "forget", "--searches") == "1 opened note forgotten.\n"
    assert paths(program) == NOTES


def test_a_client_of_routes_says_what_was_opened(program: Agent):
    started(program)
    opened = f"/notes/{identify('b.md')}/opened"
    assert program.call("POST", opened, {}).data == {"learned": False}
    assert paths(program) == NOTES
    assert program.call("POST", opened, {}).data == {"learned": True}
    assert paths(program) == ["b.md", "a.md", "c.md"]
    program.stop()
    program.start("--mcp")
    assert paths(program) == ["b.md", "a.md", "c.md"]
    pages = [program.call("POST", "/search", {"query": "quinces jam", "limit": 1}).data]
    while pages[-1]["nextCursor"]:
        body = {"query": "quinces jam", "limit": 1, "cursor": pages[-1]["nextCursor"]}
        pages.append(program.call("POST", "/search", body).data)
    assert [each["path"] for page in pages for each in page["results"]] == [
        "b.md",
        "a.md",
        "c.md",
    ]
    assert program.call("POST", "/search/forget", {"olderThanDays": 1}).data == {"forgotten": 0}
    assert program.call("POST", "/search/forget", {}).data == {"forgotten": 1}


def test_what_an_agent_reads_after_a_search_is_raised(program: Agent):
    started(program)
    assert program.tool("vault_search", query="quinces jam").index("a.md") > 0
    program.tool("vault_read", path="c.md")
    program.tool("vault_read", path="Bread.md")  # no search has shown it
    text = program.tool("vault_search", query="quinces jam")
    assert text.index("c.md") < text.index("a.md")
    assert program.call("POST", "/search/forget", {}).data == {"forgotten": 1}


def test_an_agent_with_a_folder_does_not_teach_its_owner(program: Agent):
    for name in NOTES:
        program.write(f"team/{name}", "quinces in the jam pot\n")
    config = program.home / "config.toml"
    config.write_text('[agents.helper]\nfolder = "team"\n')
    program.start("--mcp", "--config", str(config))
    program.finish_first()

    def ask(tool: str, **arguments: Any) -> str:
        sent = {"name": tool, "arguments": arguments, "_meta": META}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": tool}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": sent}
        _, reply, _ = program.post(body, headers, "/mcp/helper")
        return json.dumps(reply)

    before = paths(program, limit=50)
    ask("vault_search", query="quinces jam")
    ask("vault_read", path="c.md")
    text = ask("vault_search", query="quinces jam")
    assert -1 < text.index("c.md") < text.index("a.md")
    assert paths(program, limit=50) == before


def test_nothing_is_stored_while_it_is_off(program: Agent):
    program.variables = {"EDITOR": "true"}
    started(program)
    assert paths(program) == NOTES
    refused = program.call("POST", f"/notes/{identify('b.md')}/opened", {})
    assert (refused.status, refused.code) == (403, "FEATURE_DISABLED")
    run(program, "search", "quinces", "jam")
    run(program, "open", "c.md", "--in", "editor")
    program.tool("vault_search", query="quinces jam")
    program.tool("vault_read", path="c.md")
    assert paths(program) == NOTES
    assert list(program.indexes.rglob("openings*")) == []
