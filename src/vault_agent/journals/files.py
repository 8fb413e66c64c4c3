"""What is kept of a session for its journal besides its texts: lines, sections, a draft.

Each session has a folder of its own, named by a hash, with files that only their owner reads.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from vault_agent.journals.collected import Line
from vault_agent.system.files import make_private_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_LINES: Final = 500
_DRAFT, _SECTIONS, _LINES = "draft.md", "sections.json", "lines.json"


class Given(NamedTuple):
    """What an agent has written of its own session. Texts are without secrets."""

    title: str | None
    sections: Mapping[str, str]


class JournalFiles:
    """The files of sessions below one folder. Every method may raise `OSError`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add_line(self, session_id: str, line: Line) -> None:
        """Add a line of the devlog. The same line again changes nothing."""
        known = self.lines(session_id)
        if line not in known:
            kept = [each._asdict() for each in (*known, line)][-MAX_LINES:]
            self._write(session_id, _LINES, json.dumps(kept).encode())

    def lines(self, session_id: str) -> tuple[Line, ...]:
        """Return the lines of the devlog of a session, in order."""
        found = self._read(session_id, _LINES)
        try:
            return tuple(Line(each["kind"], each["text"]) for each in orjson.loads(found or b"[]"))
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return ()

    def give(self, session_id: str, given: Given) -> None:
        """Keep what an agent has written. It replaces what it wrote before."""
        data = {"title": given.title, "sections": dict(given.sections)}
        self._write(session_id, _SECTIONS, orjson.dumps(data))

    def given(self, session_id: str) -> Given | None:
        """Return what an agent has written, or None."""
        found = self._read(session_id, _SECTIONS)
        try:
            data = orjson.loads(found or b"null")
            return Given(data["title"], data["sections"]) if data else None
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return None

    def keep_draft(self, session_id: str, note: bytes) -> None:
        """Keep a journal that waits for its review."""
        self._write(session_id, _DRAFT, note)

    def draft(self, session_id: str) -> bytes | None:
        """Return the journal that waits for its review, or None."""
        return self._read(session_id, _DRAFT)

    def drop_draft(self, session_id: str) -> None:
        """Remove the journal that waited for its review."""
        (self._place(session_id) / _DRAFT).unlink(missing_ok=True)

    def forget(self, session_id: str) -> None:
        """Remove all files of a session."""
        shutil.rmtree(self._place(session_id), ignore_errors=True)

    def forget_before(self, moment: float) -> None:
        """Remove the files of sessions that nothing was added to since a moment. Drafts stay."""
        with suppress(FileNotFoundError):
            for place in self._folder.iterdir():
                with suppress(OSError):
                    if place.stat().st_mtime < moment and not (place / _DRAFT).exists():
                        shutil.rmtree(place, ignore_errors=True)

    def _place(self, session_id: str) -> Path:
        return self._folder / hashlib.sha256(session_id.encode()).hexdigest()[:32]

    def _write(self, session_id: str, name: str, data: bytes) -> None:
        place = self._place(session_id)
        make_private_folder(place)
        replace_file(place / name, data)

    def _read(self, session_id: str, name: str) -> bytes | None:
        try:
            return (self._place(session_id) / name).read_bytes()
        except FileNotFoundError:
            return None
