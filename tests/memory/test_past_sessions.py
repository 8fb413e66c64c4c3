"""Sessions that lie on this disk are found for their own project, and taken over once."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from tests.support.made_sessions import AGENTS, START, Writer
from tests.support.session_desk import Desk

from vault_agent.memory.past_sessions import past_sessions, take_over_sessions


def left(home: Path, agent: str, project: Path, number: int, *, age: float = 10_000.0) -> None:
    """Leave the transcript of a session as its agent does."""
    writer = Writer(agent, str(project), session_id=f"{agent}-{number}", began=START + number)
    writer.prompt(f"Limit the retries of queue number {number} in src/queue.py.")
    writer.say("Shall I give up after 5 tries?")
    writer.prompt("no, after 3, support asked for that")
    writer.edit("src/queue.py")
    writer.say("The queue gives up after 3 tries.")
    data = writer.end().data()
    named = "".join(each if each.isalnum() else "-" for each in str(project))
    digest = hashlib.sha256(str(project).encode()).hexdigest()
    place = {
        "claude-code": home / ".claude" / "projects" / named / f"{agent}-{number}.jsonl",
        "codex": home / ".codex" / "sessions" / "2026" / f"rollout-{number}.jsonl",
        "gemini": home / ".gemini" / "tmp" / digest / "chats" / f"session-{number}.json",
    }[agent]
    if agent == "codex":
        place = place.with_name(f"rollout-{digest[:8]}-{number}.jsonl")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    changed = place.stat().st_mtime - age
    os.utime(place, (changed, changed))


def test_only_sessions_of_this_project_that_have_ended_are_found(tmp_path: Path):
    home, shop, other = (tmp_path / name for name in ("home", "shop", "shop-two"))
    for project in (home, shop, other):
        project.mkdir()
    for agent in AGENTS:
        left(home, agent, shop, 1)
        left(home, agent, other, 2)
        left(home, agent, shop, 3, age=0)
    found = past_sessions(shop, home=home)
    assert sorted(each.agent for each in found) == sorted(AGENTS)
    data = tmp_path / "data"
    made = take_over_sessions(data, "v" * 32, shop, found, home=home)
    assert sorted(made) == sorted(f"{agent}-1" for agent in AGENTS)
    assert take_over_sessions(data, "v" * 32, shop, found, home=home) == []
    (home / ".claude" / "projects" / "broken").mkdir()
    assert past_sessions(tmp_path / "none", home=home) == []


@pytest.mark.parametrize("agent", AGENTS)
async def test_they_become_journals_of_their_own_day(desk: Desk, agent: str):
    left(desk.home, agent, desk.project, 1)
    async with desk.app() as app:
        found = past_sessions(desk.project, home=desk.home)
        made = take_over_sessions(desk.world.data, desk.vault, desk.project, found, home=desk.home)
        assert made == [f"{agent}-1"]
        await app.journals.write_due()
    text = desk.note()
    assert "no, after 3, support asked for that" in text
    assert "/2026-02-02-" in str(desk.notes()[0])
    assert json.dumps(text)
