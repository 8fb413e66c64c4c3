"""What happens in a session of an agent, in one form for all agents.

Each agent calls its hooks with one JSON object. `read_event` knows their names and fields; what is
unknown is ignored, because agents add to both.

A session is a file, `{data}/sessions/{agent}-{id}.jsonl`, with a line for each thing that happens.
A line is appended by one write, by the hook itself, with or without a server. A line that was cut
by a crash is passed over. Only the user can read the files. Standard library only, since the hook
imports this.
"""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from vault_agent.model.camel import camel
from vault_agent.model.sessions import (
    COMPACT,
    END,
    EVENTS,
    PROMPT,
    SESSION_ID,
    START,
    STOP,
    SessionEvent,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path


VERSION: Final = 1
MAX_TEXT: Final = 20_000
"""Characters of a prompt or a message that are kept."""

_LATEST = 1e11  # seconds since 1970: some thousand years

AGENTS: Final = ("claude-code", "codex", "gemini", "opencode", "generic")

_USUAL = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "Stop": STOP,
    "PostCompact": COMPACT,
    "SessionEnd": END,
}
_EVENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "claude-code": _USUAL,
    "codex": _USUAL,
    "gemini": {
        "SessionStart": START,
        "BeforeAgent": PROMPT,
        "AfterAgent": STOP,
        "SessionEnd": END,
    },
    "opencode": {
        "session.created": START,
        "chat.message": PROMPT,
        "session.idle": STOP,
        "session.compacted": COMPACT,
        "session.deleted": END,
    },
    "generic": {event: event for event in EVENTS},
}
_CAMEL: Final = {name: camel(name) for name in SessionEvent._fields}
_SNAKE: Final = {camel: name for name, camel in _CAMEL.items()}
_SESSION = re.compile(SESSION_ID)
_BY_A_PERSON = {None, "user", "sdk"}
"""Sources of prompts that a person wrote. Other prompts are made by the agent itself."""


def read_event(
    agent: str,
    data: Mapping[str, Any],
    *,
    vault: str,
    at: float,
    commit: str | None = None,
) -> SessionEvent | None:
    """Return the event of a hook's input, or None if it is none that matters.

    A subagent's events belong to the session of its parent, which they neither start nor end.
    """
    name = _text(data, "hook_event_name", 100)
    session = _text(data, "session_id", 200)
    folder = _text(data, "cwd", 4_000)
    event = _EVENTS.get(agent, {}).get(name or "")
    if event is None or name is None or folder is None:
        return None
    if session is None or not _SESSION.fullmatch(session):
        return None
    source = _text(data, "source", 100)
    if event == PROMPT and source not in _BY_A_PERSON:
        return None
    of_subagent = _text(data, "agent_id", 200) is not None
    if of_subagent and event not in {STOP, COMPACT}:
        return None

    def first(*keys: str) -> str | None:
        return next((value for key in keys if (value := _text(data, key, MAX_TEXT))), None)

    return SessionEvent(
        agent=agent,
        event=event,
        name=name,
        session_id=session,
        cwd=folder,
        at=at,
        vault=vault,
        transcript_path=None if of_subagent else _text(data, "transcript_path", 4_000),
        model=_text(data, "model", 200),
        source=source,
        reason=_text(data, "reason", 100),
        title=first("session_title"),
        prompt=first("prompt") if event == PROMPT else None,
        last_message=first("last_assistant_message", "prompt_response")
        if event in {STOP, END} and not of_subagent
        else None,
        commit=commit,
    )


def to_line(event: SessionEvent) -> dict[str, Any]:
    """Return an event as its session's file and the server have it, with the names of HTTP."""
    fields = {_CAMEL[name]: value for name, value in event._asdict().items() if value is not None}
    return {"version": VERSION, **fields}


def from_line(line: Mapping[str, Any]) -> SessionEvent | None:
    """Return the event that `to_line` wrote, or None if this is none, or of a newer version."""
    try:
        version = line["version"]
        event = SessionEvent(
            **{_SNAKE[name]: value for name, value in line.items() if name in _SNAKE}
        )
    except (TypeError, KeyError):
        return None
    texts = [value for name, value in event._asdict().items() if name != "at"]
    needed = (event.name, event.cwd, event.vault)
    is_ours = event.agent in AGENTS and event.event in EVENTS
    if version != VERSION or not is_ours or not _SESSION.fullmatch(str(event.session_id)):
        return None
    if type(event.at) not in {int, float} or not 0 <= event.at < _LATEST:
        return None
    if not (all(needed) and all(text is None or _is_text(text) for text in texts)):
        return None
    return event


def _text(data: Mapping[str, Any], key: str, most: int) -> str | None:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        return None
    return value[:most].encode("utf-8", "replace").decode()  # half a surrogate pair is no text


def _is_text(value: object) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


# --- the files of sessions ------------------------------------------------------------------------


FOLDER: Final = "sessions"
_MAX_FILE: Final = 64 << 20
_NOT_IN_NAMES = re.compile(r"[^0-9A-Za-z._-]")


def name_of(agent: str, session_id: str) -> str:
    """Return the name of a session's file. Colons, which Windows refuses, become underscores."""
    return f"{agent}-{_NOT_IN_NAMES.sub('_', session_id)}.jsonl"


def append_line(data: Path, agent: str, session_id: str, line: Mapping[str, Any]) -> None:
    """Append a line to the file of a session, which is made if it is not there.

    A line after one without an end begins a new one.

    Raises:
        OSError: if it cannot be written.
    """
    folder = data / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name_of(agent, session_id)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0), 0o600)
    try:
        size = os.fstat(descriptor).st_size
        start = b""
        if size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            start = b"" if os.read(descriptor, 1) == b"\n" else b"\n"
        os.write(descriptor, start + json.dumps(line).encode() + b"\n")
    finally:
        os.close(descriptor)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file that are objects with a kind. What is no such line is passed over.

    Raises:
        OSError: if it cannot be read.
    """
    with path.open("rb") as file:
        for line in file.read(_MAX_FILE).split(b"\n"):
            with suppress(ValueError, RecursionError):
                value = json.loads(line)
                if isinstance(value, dict) and isinstance(value.get("event"), str):
                    yield value


def session_paths(data: Path) -> list[Path]:
    """Return the files of all sessions."""
    with suppress(OSError):
        return sorted((data / FOLDER).glob("*.jsonl"))
    return []


def remove_files(paths: Iterable[Path]) -> int:
    """Remove files of sessions, and return how many there were."""
    removed = 0
    for path in paths:
        with suppress(OSError):
            path.unlink()
            removed += 1
    return removed


def remove_old(data: Path, days: float) -> int:
    """Remove the files that nothing was added to for so many days."""
    before = time.time() - days * 86_400.0
    old = []
    for path in session_paths(data):
        with suppress(OSError):
            if path.stat().st_mtime < before:
                old.append(path)
    return remove_files(old)
