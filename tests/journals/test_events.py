"""Events of sessions: one form for all agents, without secrets, from any input."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.journals import spool as spool_module
from vault_agent.journals.events import (
    MAX_TEXT,
    from_json,
    read_event,
    to_json,
    without_secrets,
)
from vault_agent.journals.kept_texts import MAX_TEXTS, events_of, keep_event
from vault_agent.model.sessions import SessionEvent
from vault_agent.store.sessions.store import open_sessions

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_" + "a1B2" * 9
EVENT = SessionEvent("codex", "prompt", "prompt", "one", "/work", 1.0, "v")
SENT = {"hook_event_name": "Stop", "session_id": "one", "cwd": "/work"}


def read(agent: str = "claude-code", **sent: Any) -> SessionEvent | None:
    return read_event(agent, {**SENT, **sent}, vault="v", at=1.0)


@pytest.mark.parametrize(
    ("agent", "name", "event"),
    [
        ("claude-code", "SessionStart", "start"),
        ("claude-code", "PostCompact", "compact"),
        ("codex", "SessionEnd", "end"),
        ("gemini", "AfterAgent", "stop"),
        ("opencode", "session.idle", "stop"),
        ("generic", "prompt", "prompt"),
    ],
)
def test_each_agent_has_its_own_names(agent: str, name: str, event: str):
    found = read(agent, hook_event_name=name)
    assert found is not None
    assert (found.event, found.name) == (event, name)


def test_a_prompt_that_no_person_wrote_is_no_event():
    for source, counts in ((None, True), ("user", True), ("sdk", True), ("task", False)):
        found = read(hook_event_name="UserPromptSubmit", prompt="x", source=source)
        assert (found is not None) is counts


def test_a_subagent_neither_starts_nor_ends_the_session_of_its_parent():
    for name in ("SessionStart", "UserPromptSubmit", "SessionEnd"):
        assert read(hook_event_name=name, agent_id="sub", prompt="x") is None
    found = read(agent_id="sub", last_assistant_message="not the parent's", transcript_path="/t")
    assert found is not None
    assert (found.last_message, found.transcript_path) == (None, None)


def test_a_secret_at_the_limit_of_a_text_is_not_cut_in_half():
    for before in range(MAX_TEXT - 60, MAX_TEXT + 60, 7):
        text = "a " * (before // 2) + SECRET + " b" * 20_000
        assert "ghp_" not in without_secrets(text)
    for before in range(MAX_TEXT + 1_900, MAX_TEXT + 2_060, 7):
        text = f"{SECRET} " * 100 + "a " * ((before - 4_100) // 2) + SECRET + " b" * 20_000
        shown = without_secrets(text)
        assert "ghp_" not in shown
        assert len(shown) <= MAX_TEXT


def test_an_event_is_read_as_it_was_written():
    event = SessionEvent("codex", "end", "SessionEnd", "a-1", "/w", 2.5, "v", reason="日本")
    assert from_json(to_json(event)) == event
    assert json.loads(to_json(event))["sessionId"] == "a-1"


@given(
    st.binary(max_size=300)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda each: st.lists(each) | st.dictionaries(st.text(), each),
        max_leaves=10,
    ).map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass"))
)
def test_what_is_no_event_is_none(data: bytes):
    assert from_json(data) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"version": 2},
        {"at": True},
        {"at": 10**400},
        {"at": float("nan")},
        {"at": -1},
        {"sessionId": "../x"},
        {"event": "pause"},
        {"agent": "nobody"},
        {"cwd": None},
        {"vault": ""},
        {"prompt": ["x"]},
        {"prompt": "\ud800"},
        {"another": 1},
    ],
    ids=str,
)
def test_a_wrong_field_makes_it_none(changed: dict[str, Any]):
    event = SessionEvent("codex", "end", "SessionEnd", "a-1", "/w", 2.5, "v")
    assert from_json(json.dumps({**json.loads(to_json(event)), **changed}).encode()) is None


async def test_the_prompts_and_the_latest_messages_are_kept(tmp_path: Path):
    async with open_sessions(tmp_path / "sessions.db") as store:
        for number in (*range(2, MAX_TEXTS + 50), 1, 60):  # one comes late, one comes twice
            is_prompt = number in {1, 60}
            event = SessionEvent(
                "codex",
                "prompt" if is_prompt else "stop",
                "Stop",
                "a-1",
                "/w",
                float(number),
                "v",
                prompt=f"p{number}" if is_prompt else None,
                last_message=None if is_prompt else f"m{number}",
            )
            async with store.turn("a-1") as turn:
                await keep_event(turn, event)
        kept = await events_of(store, "a-1")
    assert [each.prompt for each in kept if each.prompt] == ["p1", "p60"]
    assert len(kept) == MAX_TEXTS + 2
    assert kept[-1].last_message == f"m{MAX_TEXTS + 49}"


@pytest.mark.parametrize(
    ("limit", "value", "kept"),
    [
        ("MAX_EVENTS", 3, ["7", "8", "9"]),
        ("MAX_BYTES", 30, ["7", "8", "9"]),
        ("MAX_SECONDS", 35.0, ["7", "8", "9"]),
    ],
)
def test_the_spool_keeps_the_latest_events_within_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: float, kept: list[str]
):
    monkeypatch.setattr(spool_module, limit, value)
    now = time.time()
    for number in range(10):
        at = round((now - 10 * (10 - number)) * 1e9)
        (tmp_path / f"{at:020d}-{number}.json").write_bytes(b"0123456789")
    spool_module.bound(tmp_path)
    left = sorted(each.stem.rpartition("-")[2] for each in tmp_path.iterdir())
    assert left == kept


def test_a_new_event_takes_the_place_of_the_oldest_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(spool_module, "MAX_EVENTS", 2)
    for number in range(5):
        spool_module.spool(tmp_path, EVENT._replace(prompt=f"prompt {number}"))
    assert [each.event.prompt for each in spool_module.waiting(tmp_path)] == [
        "prompt 3",
        "prompt 4",
    ]


def test_files_that_are_no_events_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(spool_module, "_MAX_DAMAGED", 2)
    for number in range(5):
        (tmp_path / f"{number:020d}-x.json").write_bytes(b"no event")
        assert list(spool_module.waiting(tmp_path)) == []
    assert spool_module.damaged(tmp_path) == 2
