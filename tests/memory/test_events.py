"""Events of sessions: one form for all agents, without secrets, from any input."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.memory.events import from_line, read_event, to_line
from vault_agent.model.sessions import SessionEvent

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
    assert (found.event, found.name) == (event, name)


def test_a_prompt_that_no_person_wrote_is_no_event():
    for source, counts in ((None, True), ("user", True), ("sdk", True), ("task", False)):
        found = read(hook_event_name="UserPromptSubmit", prompt="x", source=source)
        assert (found is not None) is counts


def test_a_subagent_neither_starts_nor_ends_the_session_of_its_parent():
    for name in ("SessionStart", "UserPromptSubmit", "SessionEnd"):
        assert read(hook_event_name=name, agent_id="sub", prompt="x") is None
    found = read(agent_id="sub", last_assistant_message="not the parent's", transcript_path="/t")
    assert (found.last_message, found.transcript_path) == (None, None)


def test_an_event_is_read_as_it_was_written():
    event = SessionEvent("codex", "end", "SessionEnd", "a-1", "/w", 2.5, "v", reason="日本")
    assert from_line(to_line(event)) == event
    assert to_line(event)["sessionId"] == "a-1"


@given(
    st.dictionaries(
        st.sampled_from(["version", "agent", "event", "sessionId", "at", "cwd"]) | st.text(),
        st.none() | st.booleans() | st.floats() | st.text() | st.lists(st.text()),
    )
)
def test_what_is_no_event_is_none(line: dict[str, Any]):
    assert from_line(line) is None


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
    ],
    ids=str,
)
def test_a_wrong_field_makes_it_none(changed: dict[str, Any]):
    event = SessionEvent("codex", "end", "SessionEnd", "a-1", "/w", 2.5, "v")
    assert from_line({**to_line(event), **changed}) is None


def test_a_field_of_a_newer_version_is_ignored():
    event = SessionEvent("codex", "end", "SessionEnd", "a-1", "/w", 2.5, "v")
    assert from_line({**to_line(event), "another": 1}) == event
