"""Reads the transcript of a session, by its agent, and takes over the sessions of a project.

A path comes from an event, so anybody on this computer can name one. It is opened folder by folder
from a known one, and what is opened is what was checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

import orjson

from vault_agent.errors import VaultAgentError
from vault_agent.memory.events import FOLDER, append_line, name_of, to_line
from vault_agent.memory.transcripts import gemini
from vault_agent.memory.transcripts.claude import ClaudeCode
from vault_agent.memory.transcripts.codex import Codex
from vault_agent.memory.transcripts.gemini import Gemini
from vault_agent.memory.transcripts.recorder import Recorder
from vault_agent.model.sessions import END, START, SessionEvent
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from vault_agent.memory.transcripts.recorder import Transcript


_ADAPTERS: Final[Mapping[str, type[ClaudeCode | Codex | Gemini]]] = {
    "claude-code": ClaudeCode,
    "codex": Codex,
    "gemini": Gemini,
}
AGENTS: Final = tuple(_ADAPTERS)
"""The agents whose transcripts are read."""


def read_transcript(
    agent: str,
    path: str,
    clean: Callable[[str], str],
    *,
    home: Path | None = None,
) -> Transcript | None:
    """Return what a transcript says, or None if it may not be opened, or nothing is understood.

    `clean` removes secrets from a text.
    """
    file = open_transcript(agent, path, home=home)
    if file is None:
        return None
    with file:
        try:
            return transcript_of(agent, transcript_lines(file), clean)
        except OSError:
            return None


def transcript_of(
    agent: str, lines: Iterable[bytes], clean: Callable[[str], str]
) -> Transcript | None:
    """Return what the lines of a transcript say, or None if none is understood."""
    recorder = Recorder()
    adapter = _ADAPTERS[agent](recorder)
    understood = False
    for line in gemini.objects(lines) if agent == "gemini" else lines:
        if not line.strip():
            continue
        try:
            entry = orjson.loads(line)
        except orjson.JSONDecodeError:  # also one that is nested too deep
            continue
        understood |= isinstance(entry, dict) and adapter.take(entry)
    if not understood:
        return None
    if isinstance(adapter, Codex):
        adapter.end()
    return recorder.finish(clean)


# --- opening --------------------------------------------------------------------------------------


MAX_BYTES: Final = 64 << 20
HEAD_BYTES: Final = 1 << 20
"""What is read of the beginning of a larger file. The rest is its end."""
MAX_LINE: Final = 8 << 20
_PART: Final = 1 << 20


def transcript_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of an open transcript; of a large one, those of its beginning and its end.

    A line that is too long, or cut at a bound, comes in parts, which nobody understands.
    """
    size = os.fstat(file.fileno()).st_size
    bounds = [(0, size)]
    if size > MAX_BYTES:
        bounds = [(0, HEAD_BYTES), (size - MAX_BYTES + HEAD_BYTES, size)]
    for start, end in bounds:
        at = file.seek(start)
        while at < end and (line := file.readline(min(MAX_LINE, end - at))):
            at += len(line)
            yield line


_FOLDERS: Final[Mapping[str, tuple[str, str, tuple[str, ...]]]] = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude", ("projects",)),
    "codex": ("CODEX_HOME", ".codex", ("sessions", "archived_sessions")),
    "gemini": ("", ".gemini", ("",)),
}
"""The variable that names the folder of an agent, its usual name, and the folders in it."""


def folders_of(agent: str, home: Path | None = None) -> list[Path]:
    """Return the folders that have the transcripts of an agent."""
    variable, usual, names = _FOLDERS[agent]
    own = os.environ.get(variable)
    folders = [*([Path(own)] if own else []), (home or Path.home()) / usual]
    return [folder / name for folder in folders for name in names]


def open_transcript(agent: str, path: str, *, home: Path | None = None) -> BinaryIO | None:
    """Open a transcript, or return None if it is none of this agent, or cannot be opened."""
    place = Path(os.path.normpath(path))
    if "\0" in path or not place.is_absolute():
        return None
    for folder in folders_of(agent, home):
        real = Path(os.path.realpath(folder))
        for spelling in (folder, real):
            if place != spelling and place.is_relative_to(spelling):
                return _opened(real, place.relative_to(spelling).parts)
    return None


def _opened(folder: Path, parts: tuple[str, ...]) -> BinaryIO | None:
    """Open a file as one of a vault. No part of its path below the folder may be a link."""
    *above, name = parts
    try:
        with VaultRoot.open(folder) as root, root.open_folder("/".join(above)) as place:
            return os.fdopen(place.open_to_read(name), "rb", buffering=_PART)
    except (VaultAgentError, CannotOpen, OSError, ValueError):
        return None


# --- past sessions --------------------------------------------------------------------------------

# A session that an agent has left on this disk is taken over as two lines of a file of its own: its
# start, with its transcript, and its end. Its journal is then due as that of any other.


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
        session_id = told.session_id
        if agent == "claude-code" or session_id is None:  # as its hooks tell it
            session_id = path.stem
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
