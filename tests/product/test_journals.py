"""A session that hooks report leaves a journal, by the real server, hooks and commands."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.mcp.conftest import Agent
from tests.support.made_sessions import Made, Writer
from tests.support.program import PROGRAM
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "k" * 40
PROMPT_CANARY, OUTPUT_CANARY = "canaryprompt4711", "canaryoutput4712"
SECRET = "sk-ant-" + "a1B2c3D4e5F6g7H8i9J0"


class Keyed(Agent):
    """A program whose requests over MCP have the key."""

    def post(self, body, headers=None, path="/mcp"):
        return super().post(body, {**(headers or {}), "Authorization": f"Bearer {KEY}"}, path)


class Shop:
    """A project below a home, and a server that writes journals."""

    def __init__(self, program: Keyed) -> None:
        self.program = program
        self.tool = program.tool
        for name, value in (
            ("VAULTS_ENABLED", "true"),
            ("JOURNAL_ENABLED", "true"),
            ("JOURNAL_ASK", "true"),
            ("MCP_ENABLED", "true"),
            ("SERVER_API_KEY", KEY),
        ):
            program.variables[f"VAULT_AGENT_{name}"] = value
        self.folder = program.home / "shop"
        (self.folder / ".git").mkdir(parents=True)
        assert self.run("init", "--yes").returncode == 0

    def run(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *arguments],
            cwd=self.folder,
            env=self.program.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def tell(self, made: Made, path: Path, event: str, **more: Any) -> None:
        given = {
            "hook_event_name": event, "session_id": made.session_id, "cwd": str(self.folder),
            "transcript_path": str(path), **more,
        }  # fmt: skip
        done = self.run("memory", "hook", "--agent", "claude-code", given=json.dumps(given))
        assert done.returncode == 0

    def journal(self, session_id: str, *states: str) -> dict[str, Any]:
        def listed() -> dict[str, Any]:
            listing = self.run("journal", "list", "--all", "--json")
            journals = json.loads(listing.stdout)["data"]["journals"]
            return next((each for each in journals if each["sessionId"] == session_id), {})

        return eventually(listed, lambda journal: journal.get("state") in states)

    def notes(self) -> list[Path]:
        return list((self.folder / ".vault-agent/vault/journals").glob("[!.]*.md"))


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    program = Keyed(tmp_path)
    made = Shop(program)
    program.start()
    yield made
    program.close()


def listed(shop: Shop) -> set[str]:
    return {each["name"] for each in shop.program.rpc("tools/list")["result"]["tools"]}


def session(shop: Shop) -> tuple[Made, Path]:
    writer = Writer("claude-code", str(shop.folder))
    writer.prompt(f"Add retries to the queue {PROMPT_CANARY} {SECRET}")
    writer.edit("src/queue.py")
    writer.run("make", f"src/a.py: error: {OUTPUT_CANARY}", fails=True)
    writer.say("I chose a table because it is short.")
    made = writer.end()
    path = shop.program.home / ".claude/projects/shop" / f"{made.session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.data())
    return made, path


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "canaries in prompts, output and keys",
    "not in `sessions.db` and not in the log; secrets nowhere",
)
def test_a_session_leaves_a_draft_that_is_reviewed_and_nothing_else_of_its_text(shop: Shop):
    made, path = session(shop)
    shop.tell(made, path, "SessionStart", source="startup")
    shop.tell(made, path, "UserPromptSubmit", prompt=made.prompts[0])
    logged = shop.run("journal", "log", "The", "clock", "drifts", "--session", made.session_id)
    assert "when the session ends" in logged.stderr
    shop.tell(made, path, "SessionEnd", reason="other")
    assert shop.journal(made.session_id, "draft")["noteId"] is None
    assert shop.notes() == []
    refused = shop.run("journal", "review")
    assert "# Add retries to the queue" in refused.stdout
    assert "--accept or --reject" in refused.stderr
    taken = shop.run("journal", "review", made.session_id, "--accept")
    assert taken.returncode == 0, taken.stderr
    assert "complete" in taken.stdout
    (note,) = shop.notes()
    text = note.read_text()
    assert "src/queue.py" in text
    assert "The clock drifts" in text
    assert SECRET not in text
    again = shop.run("journal", "make", made.session_id[:-4])
    assert again.returncode == 0, again.stderr
    assert shop.run("journal", "complete").returncode == 0
    shop.journal(made.session_id, "complete")
    assert len(shop.notes()) == 1
    # An agent over MCP, in a session of its own.
    other = Made("claude-code", "other-session-1", str(shop.folder))
    shop.tell(other, path.with_name("none.jsonl"), "SessionStart", source="startup")
    sections = {"Goal": f"Own words {SECRET}", "Outcome": "Done."}
    assert "generate_session_journal" in listed(shop)
    said = shop.tool("generate_session_journal", title="Mine", sections=sections)
    assert said.startswith("The journal of session other-session-1 is being written")
    shop.journal("other-session-1", "draft")
    assert "Own words [redacted: anthropic]" in shop.run("journal", "review").stdout
    assert shop.run("journal", "review", "nobody", "--accept").returncode != 0
    # Nothing of the texts is where it does not belong.
    data = shop.program.home
    for name in ("sessions.db", "server.log"):
        for file in data.rglob(f"{name}*"):
            content = file.read_bytes()
            for canary in (PROMPT_CANARY, OUTPUT_CANARY, SECRET, KEY):
                assert canary.encode() not in content, (file, canary)
    for file in data.rglob("*"):
        if file.is_file() and ".claude" not in file.parts:
            assert SECRET.encode() not in file.read_bytes(), file
