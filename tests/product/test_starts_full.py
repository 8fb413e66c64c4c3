"""A memory starts full: the sessions that lie on the disk are answers after two commands."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.support.made_sessions import Writer
from tests.support.program import PROGRAM, Program
from tests.support.waiting import eventually

PAGE_SESSIONS = (
    (
        "Report slow jobs on the admin page.",
        "I will read the events table for the durations.",
        "never query events, it has 400M rows",
    ),
    ("Print the menu of the canteen.", "Shall soup come first?", "no, tea is at four"),
    ("hi", "Hello!", "thanks!"),
)


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with Program(tmp_path) as made:
        made.variables["VAULT_AGENT_INDEX_DIR"] = str(made.indexes)
        made.variables["VAULT_AGENT_MEMORY_HOOK_TIMEOUT_MS"] = "10000"
        made.variables["VAULT_AGENT_SERVER_PORT"] = "0"
        yield made


def test_an_agent_gets_the_answer_of_a_session_before_memory_was_on(program: Program):
    shop = program.home / "shop"
    shop.mkdir()
    for number, (goal, message, words) in enumerate(PAGE_SESSIONS):
        writer = Writer("claude-code", str(shop), session_id=f"old-{number}")
        writer.prompt(goal)
        writer.say(message)
        writer.prompt(words)
        if number < 2:
            writer.edit(f"admin/page{number}.py")
        name = "".join(each if each.isalnum() else "-" for each in os.path.realpath(shop))
        path = program.home / ".claude" / "projects" / name / f"old-{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(writer.end().data())
        os.utime(path, (1e9, 1e9))

    def run(*arguments: str, given: str = "", check: bool = True) -> str:
        ended = subprocess.run(
            [*PROGRAM, *arguments],
            cwd=shop,
            env=program.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ended.returncode == 0 or not check, ended.stderr
        return ended.stdout

    def ask(prompt: str) -> str:
        event = {"hook_event_name": "UserPromptSubmit", "session_id": "new", "cwd": str(shop)}
        given = json.dumps({**event, "prompt": prompt})
        return run("memory", "hook", "--agent", "claude-code", given=given)

    made = run("init", "--yes")
    assert "Took over 3 sessions" in made
    # A server starts on a computer without notes of one's own.
    shared = os.path.realpath(program.home / ".vault-agent" / "vault")
    assert f"Set vault.root to {shared}" in made
    assert "Started the server, which writes them" in made
    try:
        eventually(lambda: run("vaults", check=False), lambda told: "project:shop" in told)
        assert "Set vault.root" not in run("init", "--yes")
        journals = shop / ".vault-agent" / "vault" / "journals"
        eventually(lambda: len(list(journals.glob("*.md"))) == 2)
        listed = eventually(
            lambda: run("memory", "journal", "--all"), lambda told: "skipped (too short" in told
        )
        assert len(listed.splitlines()) == 3
        asked = (f"may the report of slow jobs query the events table? {n}" for n in range(999))
        text = eventually(lambda: ask(next(asked)), lambda told: "never query events" in told)
        assert "Agent proposed: I will read the events table for the durations. User: never" in text
        assert "tea is at four" not in text
        assert ask("bake a wedding cake with frosting") == ""
        again = json.loads(run("--json", "memory", "journal", "import"))["data"]
        assert (again["found"], again["added"]) == (3, [])
        assert len(list(journals.glob("*.md"))) == 2
    finally:
        run("serve", "--stop")
