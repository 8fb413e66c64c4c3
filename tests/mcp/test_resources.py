"""Resources, completion of their paths, and prompts."""

from __future__ import annotations

import re

import pytest
from mcp.client import Client

from vault_agent.mcp.prompts import PROMPTS
from vault_agent.mcp.resources import GUIDE
from vault_agent.mcp.toolsets import TOOLSETS

NOTE = "vault://note/Garden/Beds/Late%20frost.md"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_reads_resources_and_prompts(agent, mode):
    async with Client(agent.url, mode=mode) as client:
        resources = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        guide = await client.read_resource("vault://guide")
        note = await client.read_resource(NOTE)
        tags = await client.read_resource("vault://tags")
        prompts = (await client.list_prompts()).prompts
        prompt = await client.get_prompt("ask_vault", {"question": "When is frost?"})
    assert [str(each.uri) for each in resources] == ["vault://guide", "vault://tags"]
    assert templates[0].uri_template == "vault://note/{+path}"
    assert guide.contents[0].text == GUIDE
    assert len(GUIDE.encode()) <= 1024
    assert "#garden · 2" in tags.contents[0].text
    assert note.contents[0].text.startswith('<note path="Garden/Beds/Late frost.md"')
    assert [each.name for each in prompts] == ["ask_vault", "task_context"]
    assert "When is frost?" in prompt.messages[0].content.text


@pytest.mark.parametrize("uri", ["vault://note/Nothing.md", "vault://other", "file:///etc/passwd"])
def test_an_unknown_resource_has_the_code_of_its_era(agent, uri):
    modern = agent.rpc("resources/read", {"uri": uri})
    assert modern["error"]["code"] == -32602
    body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
    _, legacy, _ = agent.post(body)
    assert legacy["error"]["code"] == -32002
    assert legacy["error"]["message"].startswith("NOTE_NOT_FOUND: ")


def test_paths_are_completed_by_name_or_beginning(agent):
    def completed(value: str) -> list[str]:
        params = {
            "ref": {"type": "ref/resource", "uri": "vault://note/{+path}"},
            "argument": {"name": "path", "value": value},
        }
        return agent.rpc("completion/complete", params)["result"]["completion"]["values"]

    assert completed("late") == ["Garden/Beds/Late%20frost.md"]
    assert completed("Garden/Be") == ["Garden/Beds/Late%20frost.md"]
    assert completed("garden/seed") == ["Garden/Seedlings.md"]
    assert completed("no such note") == []
    assert len(completed("")) >= 5


def test_an_unknown_prompt_names_those_that_are(agent):
    for params in ({"name": "nothing"}, {"name": "ask_vault", "arguments": {}}):
        error = agent.rpc("prompts/get", params)["error"]
        assert error["code"] == -32602
        assert "ask_vault(question), task_context(task)" in error["message"]


@pytest.mark.parametrize(
    ("name", "toolset"),
    [(name, toolset) for name, prompt in PROMPTS.items() for toolset in prompt.toolsets],
)
def test_a_prompt_names_tools_of_its_toolset_only(name: str, toolset: str):
    text = PROMPTS[name].text_for(toolset, "this")
    known = set(TOOLSETS[toolset])
    named = set(re.findall(r"[a-z]+(?:_[a-z]+)+", text))
    assert named
    assert named <= known


def test_a_devlog_is_kept_by_every_toolset_that_can_append():
    can_append = {
        name for name, tools in TOOLSETS.items() if tools.keys() & {"vault_write", "note_upsert"}
    }
    assert PROMPTS["devlog"].toolsets.keys() == can_append
