"""The files of sessions: `{data}/sessions/{agent}-{id}.jsonl`, a line for each thing that happens.

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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

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
