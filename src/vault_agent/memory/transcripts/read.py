"""Reads the transcript of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from vault_agent.memory.transcripts import gemini
from vault_agent.memory.transcripts.claude import ClaudeCode
from vault_agent.memory.transcripts.codex import Codex
from vault_agent.memory.transcripts.gemini import Gemini
from vault_agent.memory.transcripts.opening import Lines, open_transcript
from vault_agent.memory.transcripts.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

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
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> Transcript | None:
    """Return what a transcript says, or None if it may not be opened, or nothing is understood.

    `clean` removes secrets from a text.
    """
    file = open_transcript(agent, path, environ=environ, home=home)
    if file is None:
        return None
    with file:
        try:
            return transcript_of(agent, Lines(file), clean)
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
