"""Hooks are added to agents' own files and taken out again, and all else in them stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.cli.fake import Run
from tests.support.node import node
from tests.support.systems import posix

from vault_agent.cli.agent_hooks import hook_command, install, remove, state
from vault_agent.cli.agent_programs import CLIENTS
from vault_agent.errors import Misconfigured

PROGRAM = ["/opt/with space/bin/vault-agent"]
EVENTS = {name: list(hooks.events) for name, client in CLIENTS.items() if (hooks := client.hooks)}
JSON_AGENTS = [name for name, events in EVENTS.items() if events]

FILES = {
    "empty": "",
    "an object": "{}",
    "an object on lines": "{\n}\n",
    "others": '{\n  "model": "m",\n  "env": {"A": "1"}\n}\n',
    "tabs": '{\n\t"model": "m"\n}\n',
    "hooks of others": """\
{
  "hooks": {
    "SessionStart": [
      {
        "matcher": "startup",
        "hooks": [
          {"type": "command", "command": "echo vault-agent is fine", "timeout": 5}
        ]
      }
    ],
    "PreToolUse": []
  },
  "theme": "dark"
}
""",
    "hooks of others last": '{"theme": "dark", "hooks": {"Stop": [{"hooks": []}]}}',
}


def command(name: str) -> list[str]:
    return hook_command(name, PROGRAM, None)


def entries(path: Path) -> list[tuple[str, dict[str, Any]]]:
    known = json.loads(path.read_text())
    return [
        (event, entry)
        for event, groups in known["hooks"].items()
        for group in groups
        for entry in group["hooks"]
        if "memory hook" in entry["command"]
    ]


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "an agent's settings have other settings or hooks, or are a link",
    "they stay; the text before is in `.bak`; the link is followed",
)
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
@pytest.mark.parametrize("name", JSON_AGENTS)
def test_hooks_go_in_and_out_and_all_else_stays(tmp_path: Path, name: str, text: str):
    path = tmp_path / "folder" / "settings.json"
    if text:
        path.parent.mkdir()
        path.write_text(text)
    assert state(name, path, command(name)) == "missing"
    assert install(name, path, command(name))
    assert state(name, path, command(name)) == "installed"
    found = entries(path)
    assert [event for event, _ in found] != []
    assert {event for event, _ in found} == set(EVENTS[name])
    assert all(entry["timeout"] in (10, 10_000) for _, entry in found)
    once = path.read_bytes()
    assert not install(name, path, command(name))
    assert path.read_bytes() == once
    before = json.loads(text) if text else {}
    after = json.loads(path.read_text())
    assert {**after, "hooks": None} == {**before, "hooks": None}
    for event, groups in before.get("hooks", {}).items():
        assert all(group in after["hooks"][event] for group in groups)
    assert remove(name, path)
    assert not remove(name, path)
    if text:
        assert (path.parent / "settings.json.bak").read_text() == text
    left = json.loads(path.read_text()) if path.exists() else {}
    assert {k: v for k, v in left.items() if v} == {k: v for k, v in before.items() if v} or left[
        "hooks"
    ] == {e: g for e, g in before["hooks"].items() if g}
    assert state(name, path, command(name)) == "missing"


@pytest.mark.parametrize("name", JSON_AGENTS)
def test_the_events_stand_in_the_order_of_a_session(tmp_path: Path, name: str):
    path = tmp_path / "settings.json"
    install(name, path, command(name))
    assert [event for event, _ in entries(path)] == EVENTS[name]


def test_what_others_change_meanwhile_stays(tmp_path: Path):
    path = tmp_path / "settings.json"
    path.write_text('{"theme": "dark"}')
    install("claude-code", path, command("claude-code"))
    path.write_text(path.read_text().replace("{", '{"mine": 1, ', 1))
    assert remove("claude-code", path)
    assert json.loads(path.read_text()) == {"mine": 1, "theme": "dark"}


@posix("modes of POSIX")
def test_the_first_original_is_kept_beside_the_file(tmp_path: Path):
    path = tmp_path / "settings.json"
    path.write_text('{"a": 1}')
    path.chmod(0o640)
    install("claude-code", path, command("claude-code"))
    assert path.with_name("settings.json.bak").read_text() == '{"a": 1}'
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_program_that_was_moved_is_replaced(tmp_path: Path):
    path = tmp_path / "settings.json"
    install("codex", path, hook_command("codex", ["/old/vault-agent"], None))
    assert state("codex", path, command("codex")) == "outdated"
    assert install("codex", path, command("codex"))
    assert "/old/" not in path.read_text()
    assert len(entries(path)) == len(EVENTS["codex"])
    assert state("codex", path, command("codex")) == "installed"


def test_an_entry_among_others_of_its_group_goes_alone(tmp_path: Path):
    path = tmp_path / "settings.json"
    ours = {"type": "command", "command": "vault-agent memory hook --agent gemini"}
    other = {"type": "command", "command": "mine"}
    path.write_text(json.dumps({"hooks": {"AfterAgent": [{"hooks": [other, ours]}]}}))
    assert remove("gemini", path)
    assert json.loads(path.read_text()) == {"hooks": {"AfterAgent": [{"hooks": [other]}]}}


def test_agents_of_one_file_do_not_touch_each_other(tmp_path: Path):
    path = tmp_path / "settings.json"
    install("claude-code", path, command("claude-code"))
    install("codex", path, command("codex"))
    remove("codex", path)
    assert state("claude-code", path, command("claude-code")) == "installed"


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "an agent's settings file is damaged or of another form",
    "unchanged, with an error",
)
@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"a": 1} // mine',
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        '{"hooks": {"Stop": 1}}',
        "nope",
    ],
)
@pytest.mark.parametrize("name", JSON_AGENTS[:2])
def test_a_file_that_is_not_understood_stays(tmp_path: Path, name: str, text: str):
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(Misconfigured):
        install(name, path, command(name))
    assert path.read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]


def test_a_link_to_a_file_is_followed(tmp_path: Path):
    target = tmp_path / "dotfiles.json"
    target.write_text("{}")
    path = tmp_path / "settings.json"
    path.symlink_to(target)
    install("claude-code", path, command("claude-code"))
    assert path.is_symlink()
    assert "memory hook" in target.read_text()


def test_opencode_gets_a_plugin(tmp_path: Path):
    path = tmp_path / "plugins" / "vault-agent.js"
    assert install("opencode", path, command("opencode"))
    assert not install("opencode", path, command("opencode"))
    assert state("opencode", path, command("opencode")) == "installed"
    assert state("opencode", path, ["another"]) == "outdated"
    assert remove("opencode", path)
    assert state("opencode", path, command("opencode")) == "missing"
    path.write_text("export const Mine = 1")
    with pytest.raises(Misconfigured):
        install("opencode", path, command("opencode"))
    assert not remove("opencode", path)


def test_the_plugin_calls_the_hook_and_gives_what_it_prints(tmp_path: Path):
    told = tmp_path / "told.jsonl"
    hook = tmp_path / "hook.py"
    hook.write_text(
        "import json, sys\n"
        "given = sys.stdin.read()\n"
        f"open({str(told)!r}, 'a').write(given + '\\n')\n"
        "name = json.loads(given)['hook_event_name']\n"
        "text = {'additionalContext': 'from ' + name}\n"
        "if name in ('session.created', 'chat.message'):\n"
        "    print(json.dumps({'hookSpecificOutput': text}))\n"
    )
    path = tmp_path / "vault-agent.js"
    install("opencode", path, [sys.executable, str(hook)])
    path.rename(path.with_suffix(".mjs"))
    drive = tmp_path / "drive.mjs"
    drive.write_text(
        """
        import { VaultAgent } from "./vault-agent.mjs"
        const message = { info: { role: "assistant" }, parts: [{ type: "text", text: "Done." }] }
        const client = { session: { messages: async () => ({ data: [message] }) } }
        const plugin = await VaultAgent({ client, directory: "/project" })
        const event = (type, properties) => plugin.event({ event: { type, properties } })
        await event("session.created", { info: { id: "s1" } })
        await event("session.created", { info: { id: "s2", parentID: "s1" } })
        const parts = [{ type: "text", text: "make it faster" }, { type: "file" }]
        const output = { message: {}, parts }
        await plugin["chat.message"]({ sessionID: "s1", model: { modelID: "m" } }, output)
        await plugin["chat.message"]({ sessionID: "s2" }, output)
        const first = { system: ["base"] }
        await plugin["experimental.chat.system.transform"]({ sessionID: "s1" }, first)
        const other = { system: ["base"] }
        await plugin["experimental.chat.system.transform"]({ sessionID: "s2" }, other)
        await event("session.idle", { sessionID: "s1" })
        await event("session.deleted", { info: { id: "s1", title: "Costs" } })
        await event("file.edited", { file: "x" })
        console.log(JSON.stringify([first.system, other.system]))
        """
    )
    done = subprocess.run(
        [node(), str(drive)], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout) == [
        ["base", "from session.created", "from chat.message"],
        ["base"],
    ]
    events = [json.loads(line) for line in told.read_text().splitlines()]
    assert [each["hook_event_name"] for each in events] == [
        "session.created",
        "chat.message",
        "session.idle",
        "session.deleted",
    ]
    assert {each["session_id"] for each in events} == {"s1"}
    assert {each["cwd"] for each in events} == {"/project"}
    assert events[1]["prompt"] == "make it faster"
    assert events[2]["last_assistant_message"] == "Done."
    assert events[3]["session_title"] == "Costs"


@pytest.mark.parametrize("name", ["claude-code", "opencode"])
async def test_print_shows_the_hooks_that_connect_would_add_while_memory_is_on(
    run: Run, environment: dict[str, str], name: str
):
    assert "memory" not in (await run("agent", "connect", name, "--print")).out
    await run("enable", "memory")
    printed = await run("agent", "connect", name, "--print")
    before = await run("agent", "connect", name, "--print", "--no-hooks")
    hooks = CLIENTS[name].hooks
    with patch.dict(os.environ, environment):
        path = hooks.user()
    assert not path.exists()
    await run("agent", "connect", name, "--yes")
    assert printed.out == before.out + path.read_text()
    assert f"Into ~/{path.relative_to(environment['HOME'])}:" in printed.err
