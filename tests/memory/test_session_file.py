"""A session is a fold of its lines: what follows from them, and when its journal is due."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from vault_agent.memory.events import (
    FOLDER,
    append_line,
    name_of,
    read_lines,
    remove_old,
    session_paths,
    to_line,
)
from vault_agent.memory.session_file import (
    JournalState,
    Session,
    fold,
    given_line,
    is_due,
    journal_line,
)
from vault_agent.model.memory import Delivery, RecalledNote, RecallSignals
from vault_agent.model.sessions import SessionEvent

NOTE = RecalledNote(
    "project:shop", "a" * 32, None, "journals/a.md", "A", "journal", "2026-01-01", 0.5, "tag",
    0.5, 0.0, 0.1, ("file:a.py",),
)  # fmt: skip


def event(kind: str, at: float, **more: Any) -> dict[str, Any]:
    told = SessionEvent("claude-code", kind, kind, "s1", "/work", at, "0" * 32, **more)
    return to_line(told)


def folded(*lines: dict[str, Any]) -> Session:
    session = fold(lines)
    assert session is not None
    return session


def given(at: float, kind: str = "prompt") -> dict[str, Any]:
    signals = RecallSignals(("a.py",), ("x",), prompt=True)
    return given_line(Delivery(at, kind, "text", 40, 300, signals, (NOTE,), (NOTE,)))


START, PROMPT, STOP, END = (
    event("start", 10, commit="a" * 40, model="m"),
    event("prompt", 20, prompt="Hello."),
    event("stop", 30, last_message="Done."),
    event("end", 40, reason="exit"),
)


@pytest.mark.parametrize(
    ("lines", "ended_at", "prompts"),
    [
        ((START,), None, 0),
        ((START, PROMPT, STOP, END), 40, 1),
        ((START, PROMPT, END, STOP), 40, 1),  # told in another order
        ((START, END, event("prompt", 50, prompt="Go on.")), None, 1),  # it goes on
        ((START, END, event("stop", 41)), 40, 0),
        ((START, PROMPT, event("prompt", 21, prompt="Hello.")), None, 1),  # told by two hooks
        ((START, PROMPT, event("prompt", 25, prompt="Hello.")), None, 2),  # said again
        ((START, {"event": "unknown", "x": 1}, {**PROMPT, "version": 9}), None, 0),
        (({"event": "wanted", "at": 1}, START), None, 0),
    ],
)
def test_the_lines_say_what_became_of_a_session(
    lines: tuple[dict[str, Any], ...], ended_at: float | None, prompts: int
):
    session = folded(*lines)
    assert (session.ended_at, session.prompts) == (ended_at, prompts)


def test_a_session_has_its_start_and_what_was_said():
    session = folded(START, PROMPT, STOP, END)
    assert (session.started_at, session.last_event_at) == (10, 40)
    assert (session.start_commit, session.model) == ("a" * 40, "m")
    assert [(said.text, said.by_person) for said in session.words] == [
        ("Hello.", True),
        ("Done.", False),
    ]
    assert fold([]) is None


@pytest.mark.parametrize(
    ("lines", "has_it"),
    [
        ((START, given(21)), True),
        ((START, given(21), event("compact", 30)), False),
        ((START, given(21), event("start", 30)), False),
        ((START, given(21), event("start", 30, source="resume")), True),
    ],
)
def test_an_agent_has_what_it_was_given_until_its_context_is_new(
    lines: tuple[dict[str, Any], ...], *, has_it: bool
):
    session = folded(*lines)
    assert session.deliveries[0].notes == (NOTE,)
    assert session.deliveries[0].signals == RecallSignals(("a.py",), ("x",), prompt=True)
    assert (NOTE.address in session.had) is has_it
    assert session.tokens_unasked == (40 if has_it else 0)


def test_a_note_that_a_person_adds_comes_first_until_it_was_given():
    added = {"event": "added", "at": 20, "title": "A", "path": "a.md"}
    added |= {"vault": NOTE.vault, "note_id": NOTE.note_id}
    assert folded(START, added).pinned == (NOTE.address,)
    assert folded(START, added, given(21)).pinned == ()
    assert folded(START, given(19), added).pinned == (NOTE.address,)


def journal(at: float, through: float, state: str = "complete", **more: Any) -> dict[str, Any]:
    hashes = frozenset({"h"})
    return journal_line(JournalState(at, state, path="journals/x.md", hashes=hashes,
                                     through=through, **more))  # fmt: skip


WANTED = {"event": "wanted", "at": 60.0}


@pytest.mark.parametrize(
    ("lines", "now", "due"),
    [
        ((START, PROMPT), 50, False),  # it goes on
        ((START, PROMPT), 5_000, True),  # it said nothing for long
        ((START, PROMPT, END), 41, True),
        ((START, END, journal(45, 40)), 50, False),
        ((START, END, journal(45, 40), event("prompt", 50, prompt="More.")), 60, False),
        ((START, END, journal(45, 40), event("end", 70)), 71, True),  # it went on
        ((START, PROMPT, WANTED), 61, True),
        ((START, END, WANTED, journal(61, 40)), 62, False),
        ((START, END, journal(45, 40, reason="edited"), WANTED), 62, False),
        ((START, END, journal(45, 40, "failed", attempts=1)), 50, False),
        ((START, END, journal(45, 40, "failed", attempts=1)), 200, True),
        ((START, END, journal(45, 40, "failed", attempts=1)), 8e6, False),
        ((START, END, journal(45, 40, "incomplete", reason="crash")), 5_000, False),
        ((START, END, journal(45, 40, "incomplete", reason="transcript_missing")), 5_000, True),
    ],
)
def test_a_journal_is_due(lines: tuple[dict[str, Any], ...], now: float, *, due: bool):
    session = folded(*lines)
    seen = session.last_event_at
    assert is_due(session, now, quiet_since=seen, idle_seconds=1_800) is due


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "the disk is full, or the computer stops, while a line is appended to a session's file",
    "that line is passed over; those before and after it count",
)
def test_a_torn_line_is_passed_over(tmp_path: Path):
    append_line(tmp_path, "codex", "a:b/c", START)
    [path] = session_paths(tmp_path)
    assert path.name == name_of("codex", "a:b/c") == "codex-a_b_c.jsonl"
    with path.open("ab") as file:
        file.write(b'{"event": "prompt", "at": 1')
    append_line(tmp_path, "codex", "a:b/c", PROMPT)
    with path.open("ab") as file:
        file.write(b"\xff\n[1]\n{}\n")
    assert [line["event"] for line in read_lines(path)] == ["start", "prompt"]
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


def test_files_of_long_ago_are_removed(tmp_path: Path):
    for name in ("a", "b"):
        append_line(tmp_path, "codex", name, START)
    os.utime(tmp_path / FOLDER / name_of("codex", "a"), (1, 1))
    assert remove_old(tmp_path, 90) == 1
    assert [path.name for path in session_paths(tmp_path)] == ["codex-b.jsonl"]
