"""Memory over MCP: the tool, the prompt and the resource exist only while it is on."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from tests.mcp.conftest import Agent
from tests.mcp.test_agents import Scoped

from vault_agent.config.settings import Config
from vault_agent.errors import Misconfigured
from vault_agent.mcp import memory
from vault_agent.model.writing import Right

JOURNAL = """\
---
id: {id}
type: journal
updated: 2026-02-13T10:00:00Z
files: [{file}]
---
# {title}

## Outcome

Streaming output parsing for the cost tracker of {title}.
"""
PROMPT = "streaming cost updates in the tracker"


@pytest.fixture(scope="module")
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scoped]:
    with Scoped(tmp_path_factory.mktemp("remembering")) as made:
        made.write(
            "desk/journals/Mine.md", JOURNAL.format(id="journal-1", file="src/a.py", title="Mine")
        )
        secret = JOURNAL.format(id="journal-2", file="vault/secret.py", title="Canary")
        made.write("desk/private/Canary.md", secret)
        made.write("other/Canary.md", secret.replace("journal-2", "journal-3"))
        made.variables["VAULT_AGENT_MEMORY_ENABLED"] = "true"
        config = made.home / "config.toml"
        config.write_text('[agents.desk]\nfolder = "desk"\ndeny = ["desk/private"]\n')
        made.start("--mcp", "--config", str(config))
        made.finish_first()
        yield made


def names(agent: Agent, method: str, key: str) -> set[str]:
    return {each["name"] for each in agent.rpc(method)["result"][key]}


def test_without_memory_nothing_of_it_is_listed_or_answers(agent: Agent):
    assert "get_agent_memory" not in names(agent, "tools/list", "tools")
    assert "recall" not in names(agent, "prompts/list", "prompts")
    templates = agent.rpc("resources/templates/list")["result"]["resourceTemplates"]
    assert [each["name"] for each in templates] == ["note"]
    called = agent.rpc("tools/call", {"name": "get_agent_memory", "arguments": {}})
    assert "No such tool" in called["error"]["message"]
    assert "error" in agent.rpc("resources/read", {"uri": "memory://default"})


async def test_without_memory_no_journal_is_made_to_supersede_a_note(
    monkeypatch: pytest.MonkeyPatch,
):
    async def named(_: object, path: str) -> tuple[SimpleNamespace, None]:
        return SimpleNamespace(note_id="0" * 32, path=path), None

    monkeypatch.setattr(memory, "named_note", named)
    view = SimpleNamespace(rights=frozenset(Right), vault=SimpleNamespace(config=Config()))
    with pytest.raises(Misconfigured, match=r"memory\.enabled"):
        await memory.TOOLS["generate_session_journal"](view, {"supersedes": ["a.md"]})


def test_the_tool_the_prompt_and_the_resource_recall(remembering: Scoped):
    assert "get_agent_memory" in names(remembering, "tools/list", "tools")
    text = remembering.tool("get_agent_memory", prompt=PROMPT)
    assert text.startswith("[Vault Memory] ")
    assert "Note: desk/journals/Mine.md" in text
    assert "Note: desk/journals/Mine.md" in remembering.tool("get_agent_memory", files=["src/a.py"])
    nothing = remembering.tool("get_agent_memory", prompt="a wedding cake with frosting")
    assert nothing == "Nothing is recalled: no note is about this."
    assert "maxTokens" in remembering.failing("get_agent_memory", prompt=PROMPT, maxTokens=50)
    prompt = {"name": "recall", "arguments": {"task": "the tracker"}}
    [message] = remembering.rpc("prompts/get", prompt)["result"]["messages"]
    assert "get_agent_memory" in message["content"]["text"]
    [content] = remembering.rpc("resources/read", {"uri": "memory://default"})["result"]["contents"]
    assert content["text"].startswith("[Vault Memory] ")


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "an agent that sees one folder asks for memory",
    "nothing outside its folder, also not the names of files",
)
def test_an_agent_recalls_only_what_it_sees(remembering: Scoped):
    failed, text = remembering.call_tool("get_agent_memory", prompt=f"{PROMPT} secret.py")
    assert not failed
    assert "Mine" in text
    assert "Canary" not in text
    assert "secret.py" not in text
    failed, text = remembering.call_tool("get_agent_memory", files=["vault/secret.py"])
    assert text == "Nothing is recalled: no note is about this."
