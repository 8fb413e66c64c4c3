"""Finds the sessions of a project that agents have left on this disk, and takes them over.

A session is taken over as two lines of a file of its own: its start, with its transcript, and its
end. Its journal is then due as that of any other.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.memory.events import FOLDER, append_line, name_of, to_line
from vault_agent.memory.transcripts.read import AGENTS, folders_of, read_transcript
from vault_agent.model.sessions import END, START, SessionEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_QUIET_SECONDS: Final = 600.0
"""A transcript that changed since is of a session that may go on."""
_HEAD_LINES: Final = 20
_MAX_LINE: Final = 1 << 20
_MAX_FILES: Final = 5_000


class PastSession(NamedTuple):
    """A transcript of an agent, and when it changed last."""

    agent: str
    path: Path
    changed_at: float


def past_sessions(project: Path, *, home: Path | None = None) -> list[PastSession]:
    """Return the sessions of a project whose transcripts are on this disk, the latest first."""
    project = Path(os.path.realpath(project))
    sessions = [
        PastSession(agent, path, path.stat().st_mtime)
        for agent in AGENTS
        for folder in folders_of(agent, home)
        for path in _transcripts(agent, folder, project)
    ]
    before = time.time() - _QUIET_SECONDS
    return sorted(
        (session for session in dict.fromkeys(sessions) if session.changed_at < before),
        key=lambda session: session.changed_at,
        reverse=True,
    )


def take_over_sessions(
    data: Path,
    vault: str,
    project: Path,
    sessions: Iterable[PastSession],
    *,
    home: Path | None = None,
) -> list[str]:
    """Make files of sessions for the vault of a project, and return the IDs of the new ones.

    A session that has a file is left as it is.

    Raises:
        OSError: if a file cannot be written.
    """
    made = []
    for agent, path, changed_at in sessions:
        told = read_transcript(agent, str(path), str, home=home)
        if told is None or not told.exchanges:
            continue
        session_id = _id_of(agent, path, told.session_id)
        if (data / FOLDER / name_of(agent, session_id)).exists():
            continue
        start = SessionEvent(
            agent=agent,
            event=START,
            name="import",
            session_id=session_id,
            cwd=told.cwd or str(project),
            at=told.started_at or changed_at,
            vault=vault,
            transcript_path=str(path),
            source="import",
        )
        ended = max(told.ended_at or changed_at, start.at)
        append_line(data, agent, session_id, to_line(start))
        append_line(data, agent, session_id, to_line(start._replace(event=END, at=ended)))
        made.append(session_id)
    return made


def _id_of(agent: str, path: Path, told: str | None) -> str:
    """Return the ID of a session as its hooks tell it."""
    return path.stem if agent == "claude-code" or told is None else told


def _transcripts(agent: str, folder: Path, project: Path) -> Iterator[Path]:
    """Yield the transcripts below a folder of an agent that are of a project."""
    if agent == "claude-code":
        name = re.sub(r"[^A-Za-z0-9]", "-", str(project))
        paths = (path for place in folder.glob(f"{name}*") for path in place.glob("*.jsonl"))
        yield from (path for path in paths if _is_of(path, project))
    elif agent == "codex":
        newest = sorted(folder.glob("**/rollout-*.jsonl"), reverse=True)[:_MAX_FILES]
        yield from (path for path in newest if _is_of(path, project))
    else:
        digest = hashlib.sha256(str(project).encode()).hexdigest()
        for chats in folder.glob("tmp/*/chats"):
            root = chats.parent / ".project_root"
            named = root.read_text("utf-8", "replace").strip() if root.is_file() else ""
            if chats.parent.name == digest or named == str(project):
                yield from chats.glob("session-*.json*")


def _is_of(path: Path, project: Path) -> bool:
    """Whether the first lines of a transcript name a folder in a project."""
    try:
        with path.open("rb") as file:
            for line in islice(iter(lambda: file.readline(_MAX_LINE), b""), _HEAD_LINES):
                try:
                    entry = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                about = entry.get("payload", entry) if isinstance(entry, dict) else {}
                cwd = about.get("cwd") if isinstance(about, dict) else None
                if isinstance(cwd, str) and "\0" not in cwd:
                    return Path(os.path.realpath(cwd)).is_relative_to(project)
    except OSError:
        pass
    return False
