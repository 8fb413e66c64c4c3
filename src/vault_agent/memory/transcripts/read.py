"""Reads the transcript of a session, by its agent.

A path comes from an event, so anybody on this computer can name one. It is opened folder by folder
from a known one, and what is opened is what was checked.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol

import orjson

from vault_agent.memory.transcripts import gemini
from vault_agent.memory.transcripts.claude import ClaudeCode
from vault_agent.memory.transcripts.codex import Codex
from vault_agent.memory.transcripts.gemini import Gemini
from vault_agent.memory.transcripts.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from vault_agent.memory.transcripts.recorder import Transcript


class Adapter(Protocol):
    """Reports what the objects of a transcript say to a recorder."""

    def take(self, entry: dict[str, Any], /) -> bool:
        """Report an object. Return False if it is not understood."""

    def end(self) -> None:
        """Report what is left."""


_ADAPTERS: Final[Mapping[str, Callable[[Recorder], Adapter]]] = {
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
            return transcript_of(agent, TranscriptLines(file), clean)
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
    adapter.end()
    return recorder.finish(clean)


# --- opening --------------------------------------------------------------------------------------


MAX_BYTES: Final = 64 << 20
HEAD_BYTES: Final = 1 << 20
"""What is read of the beginning of a larger file. The rest is its end."""
MAX_LINE: Final = 8 << 20
_PART: Final = 1 << 20
_LINK_FREE: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class TranscriptLines:
    """The lines of an open transcript, but those that are too long."""

    def __init__(self, file: BinaryIO) -> None:
        """Take a file at its start. At most `MAX_BYTES` of its present size are read."""
        self._file = file
        self._size = os.fstat(file.fileno()).st_size

    def __iter__(self) -> Iterator[bytes]:
        """Yield each line without its end. A line that is cut at a bound is left out."""
        if self._size <= MAX_BYTES:
            yield from self._some(self._size)
            return
        yield from self._some(HEAD_BYTES)
        self._file.seek(self._size - (MAX_BYTES - HEAD_BYTES) - 1)
        rest = MAX_BYTES - HEAD_BYTES + 1
        rest -= self._pass(rest)
        yield from self._some(rest)

    def _some(self, left: int) -> Iterator[bytes]:
        """Yield the lines within so many bytes, and the last one even without an end."""
        whole = left >= self._size
        while left > 0:
            line = self._file.readline(min(MAX_LINE, left))
            left -= len(line)
            if line.endswith(b"\n"):
                yield line[:-1]
            elif not line:
                return
            elif len(line) == MAX_LINE:
                left -= self._pass(left)
            elif whole:
                yield line

    def _pass(self, left: int) -> int:
        """Read to the end of a line, keeping nothing. Return the number of bytes."""
        passed = 0
        while passed < left:
            part = self._file.readline(min(_PART, left - passed))
            passed += len(part)
            if not part or part.endswith(b"\n"):
                break
        return passed


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
    try:
        descriptor = _walked(folder, parts)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb", buffering=_PART)


def _walked(folder: Path, parts: tuple[str, ...]) -> int:
    """Return a descriptor of a file. No part of its path below the folder may be a link."""
    flags = os.O_RDONLY | _LINK_FREE | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if os.open not in os.supports_dir_fd:
        path = folder.joinpath(*parts)
        if os.path.realpath(path) != str(path):
            raise OSError
        return os.open(path, flags)
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _LINK_FREE, dir_fd=at)
            os.close(at)
            at = below
        return os.open(parts[-1], flags, dir_fd=at)
    finally:
        os.close(at)
