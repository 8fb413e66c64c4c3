"""An agent's session leaves a journal, and the next one gets it back.

The real server, the real commands, and the hooks as an agent runs them: by a shell, with the
command that stands in the agent's settings. The transcript is made up.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.support.clocks import PATIENCE
from tests.support.folders import below
from tests.support.program import Program
from tests.support.waiting import eventually

KEY = "k" * 40
SESSION = "3f2a9c1e-0b7d-4c55-9a61-5d8e7f001122"
NEXT = "8d1b6e47-2c3f-4a90-b8d2-6f4e5a113344"
SECRET = "ghp_" + "z9Y8" * 9
GOAL = f"Make the cost tracker stream its updates in src/cost.py. My token is {SECRET}"
OUTCOME = "The tracker streams its updates now, and the panel shows them without a reload."
MODULE = """\
---
id: module-2026-02-01-abcdef
type: module
title: Cost tracker
files: [src/cost.py]
---
# Cost tracker

## Purpose

Adds up what a run costs.
"""


class Work:
    """A project in git, an agent's home, and a server."""

    def __init__(self, program: Program) -> None:
        self.program = program
        for name, value in (
            ("SERVER_API_KEY", KEY),
            ("INDEX_DIR", str(program.indexes)),
            ("MEMORY_HOOK_TIMEOUT_MS", "10000"),  # this machine may be busy
        ):
            program.variables[f"VAULT_AGENT_{name}"] = value
        program.variables["CLAUDE_CONFIG_DIR"] = str(program.home / ".claude")
        self.shop, self.other = (program.home / name for name in ("shop", "other"))
        self.vault = self.shop / ".vault-agent" / "vault"
        self.settings = program.home / ".claude" / "settings.json"
        self.transcript = program.home / ".claude" / "projects" / "shop" / f"{SESSION}.jsonl"

    def run(self, *arguments: str, at: Path | None = None) -> subprocess.CompletedProcess[str]:
        done = self.program.run(*arguments, at=at or self.shop)
        assert done.returncode == 0, done.stderr
        return done

    def indexed(self, project: Path) -> None:
        """Wait until the vault of a project has an index."""
        eventually(  # its first use may have begun a job
            lambda: self.program.run("index", "--vault", f"project:{project.name}"),
            lambda ended: ended.returncode == 0,
        )

    def git(self, *arguments: str) -> str:
        person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        return subprocess.run(
            ["git", *person, *arguments],
            cwd=self.shop,
            env=self.program.environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def event(self, name: str, session: str = SESSION, **more: Any) -> dict[str, Any] | None:
        """Call the hooks of an event, as the agent does, and return what they print."""
        given = {
            "hook_event_name": name,
            "session_id": session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.shop),
            "permission_mode": "default",
            **more,
        }
        printed = b""
        for group in json.loads(self.settings.read_text())["hooks"].get(name, []):
            for hook in group["hooks"]:
                done = subprocess.run(
                    hook["command"],
                    shell=True,
                    cwd=self.shop,
                    env=self.program.environment,
                    input=json.dumps(given).encode(),
                    capture_output=True,
                    timeout=PATIENCE,
                    check=False,
                )
                assert (done.returncode, done.stderr) == (0, b"")
                printed += done.stdout
        return json.loads(printed) if printed else None

    def context(self, name: str, session: str, **more: Any) -> str:
        """Return what an event brings to the agent."""
        printed = self.event(name, session, **more)
        if printed is None:
            return ""
        output = printed["hookSpecificOutput"]
        assert output.keys() == {"hookEventName", "additionalContext"}
        assert output["hookEventName"] == name
        return str(output["additionalContext"])

    def record(self, *entries: tuple[str, Any]) -> None:
        """Write the transcript."""
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        lines = []
        for number, (role, content) in enumerate(entries):
            lines.append(
                {
                    "type": role,
                    "uuid": f"u{number}",
                    "requestId": f"r{number}",
                    "sessionId": SESSION,
                    "cwd": str(self.shop),
                    "timestamp": f"2026-02-13T10:00:{number:02d}.000Z",
                    "message": {
                        "role": role,
                        "model": "a-model",
                        "content": content,
                        "usage": {"input_tokens": 100, "output_tokens": 10},
                    },
                }
            )
        self.transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def journals(self) -> list[Path]:
        return sorted((self.vault / "journals").glob("*.md"))

    def session(self) -> None:
        """Let an agent work in a session."""
        self.event("SessionStart", source="startup", model="a-model")
        self.event("UserPromptSubmit", prompt=GOAL, source="user")
        source = self.shop / "src" / "cost.py"
        source.write_text("def stream():\n    yield 1\n")
        self.git("add", "src/cost.py")
        self.git("commit", "-q", "-m", "Stream the updates of the cost tracker")
        self.record(
            ("user", GOAL),
            (
                "assistant",
                [
                    {
                        "type": "text",
                        "text": "I decided to stream with a generator instead of a callback,"
                        " because the panel can pull from it.",
                    },
                    {
                        "type": "tool_use",
                        "id": "t1",
                        "name": "Edit",
                        "input": {"file_path": str(source), "old_string": "a", "new_string": "b"},
                    },
                ],
            ),
            ("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]),
            ("user", "and commit it"),
            ("assistant", [{"type": "text", "text": OUTCOME}]),
        )
        self.event("Stop", stop_hook_active=False, last_assistant_message="Streaming works.")
        self.event("UserPromptSubmit", prompt="and commit it", source="user")
        self.event("Stop", stop_hook_active=False, last_assistant_message=OUTCOME)
        self.event("SessionEnd", reason="prompt_input_exit")


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    program = Program(tmp_path)
    made = Work(program)
    for folder in (made.shop, made.other):
        (folder / "src").mkdir(parents=True)
    made.git("init", "-q", "-b", "main")
    (made.shop / "src" / "cost.py").write_text("def total():\n    return 1\n")
    made.git("add", ".")
    made.git("commit", "-q", "-m", "Begin")
    (made.other / ".git").mkdir()
    made.run("init", "--yes")
    made.run("init", "--yes", at=made.other)
    connected = program.run("agent", "connect", "claude-code", at=made.shop)
    assert "The hooks are in " in connected.stdout, connected.stderr  # its own program is not here
    (made.vault / "modules").mkdir()
    (made.vault / "modules" / "cost.md").write_text(MODULE)
    yield made
    program.close()


def tokens(text: str) -> int:
    letters = sum(character.isascii() for character in text)
    return math.ceil(letters / 3.5 + 1.25 * (len(text) - letters))


def test_a_session_leaves_a_journal_and_the_next_one_gets_it_back(work: Work):
    work.program.start()
    work.indexed(work.shop)  # what it links to
    work.session()
    [path] = eventually(work.journals)
    eventually(lambda: "## Outcome" in path.read_text())
    text = path.read_text()
    assert path.name.endswith(f"-session-{SESSION[:8]}.md")
    head = text.partition("\n---\n")[0]
    assert "type: journal" in head
    assert "files: [src/cost.py]" in head
    assert f"session: {SESSION}" in head
    assert "agent: claude-code" in head
    assert "Stream the updates of the cost tracker" in text  # the commit
    assert "`src/cost.py`" in text
    assert "with a generator instead of a callback" in text  # the decision
    assert OUTCOME in text
    assert "[[modules/cost|Cost tracker]]" in text  # the backlink
    assert SECRET not in text
    assert not work.git("diff", "--cached", "--name-only")  # nothing is added to git

    eventually(lambda: path.name in work.run("search", "generator callback").stdout)

    # The next session gets it, at its start or with its first prompt, in little room.
    got = work.context("SessionStart", NEXT, source="startup")
    got += work.context(
        "UserPromptSubmit", NEXT, prompt="let the cost tracker stream its totals in src/cost.py"
    )
    assert "[Vault Memory" in got
    assert f"journals/{path.name}" in got
    assert tokens(got) < 1_000
    assert f"session {NEXT[:8]}" not in got  # no agent can call tools here
    resumed = work.context("SessionStart", NEXT, source="resume")
    assert resumed == ""

    # The log says what it got, and why.
    log = work.run("memory", "log", NEXT[:-3]).stdout
    assert f"journals/{path.name}" in log
    assert "file:src/cost.py" in log
    assert NEXT in work.run("memory", "log").stdout

    # Another project knows nothing of it, until it is promoted.
    work.indexed(work.other)
    asked = ("memory", "show", "stream the updates of the cost tracker")
    assert OUTCOME not in work.run(*asked, at=work.other).stdout
    work.run("memory", "promote", f"journals/{path.name}")
    shared = work.program.home / ".vault-agent" / "vault"
    assert [each.parent.name for each in below(shared, "*.md")] == ["patterns"]
    found = work.run("search", "stream the updates of the cost tracker", at=work.other).stdout
    assert "patterns/" in found

    # What was said is nowhere but in the session's own file and in the journal.
    [session] = (work.program.indexes / "sessions").glob(f"*{SESSION}.jsonl")
    assert os.name == "nt" or session.stat().st_mode & 0o777 == 0o600
    for file in below(work.program.indexes, "*"):
        if file.is_file() and file != session:
            with suppress(FileNotFoundError):  # one that the server has just removed
                assert SECRET.encode() not in file.read_bytes(), file


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "the server is away for a whole session",
    "its journal is written by the next server",
)
def test_a_session_without_a_server_has_its_journal_from_the_next_one(work: Work):
    work.program.variables["VAULT_AGENT_MCP_ENABLED"] = "false"  # so that no hook starts one
    work.session()
    [session] = (work.program.indexes / "sessions").glob("*.jsonl")
    assert len(session.read_text().splitlines()) == 6
    work.program.start()
    [path] = eventually(work.journals)
    eventually(lambda: "## Outcome" in path.read_text())
    assert "Stream the updates of the cost tracker" in path.read_text()
    assert "files: [src/cost.py]" in path.read_text()
