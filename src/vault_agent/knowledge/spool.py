"""Events that wait for a server: one file each, so that nothing is ever appended to a shared file.

A file is written under another name and renamed, so a reader sees it whole or not at all. Its name
begins with its time, so the order of names is that of the events. Standard library only.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.knowledge.events import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vault_agent.model.sessions import SessionEvent

MAX_FILE_BYTES: Final = 1 << 20
_ASIDE = "damaged"
_HALF = ".tmp"


class Waiting(NamedTuple):
    """An event that waits, and its file. `done` is called once it is stored elsewhere."""

    path: Path
    event: SessionEvent

    def done(self) -> None:
        """Remove the file."""
        with suppress(FileNotFoundError):
            self.path.unlink()


def spool(folder: Path, event: SessionEvent) -> None:
    """Store an event until a server takes it. It survives a crash of the machine.

    Raises:
        OSError: if it cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{time.time_ns():020d}-{os.urandom(4).hex()}"
    half = folder / f"{name}{_HALF}"
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(to_json(event))
            file.flush()
            os.fsync(file.fileno())
        half.rename(folder / f"{name}.json")
    except BaseException:
        with suppress(OSError):
            half.unlink()
        raise


def waiting(folder: Path) -> Iterator[Waiting]:
    """Yield the events that wait, the oldest first. A file that is no event is put aside."""
    try:
        paths = sorted(each for each in folder.iterdir() if each.suffix == ".json")
    except FileNotFoundError:
        return
    for path in paths:
        event = _read(path)
        if event is not None:
            yield Waiting(path, event)
        elif path.exists():
            aside = folder / _ASIDE
            aside.mkdir(mode=0o700, exist_ok=True)
            with suppress(FileNotFoundError):
                path.rename(aside / path.name)


def damaged(folder: Path) -> int:
    """Return how many files were put aside."""
    try:
        return sum(1 for _ in (folder / _ASIDE).iterdir())
    except FileNotFoundError:
        return 0


def _read(path: Path) -> SessionEvent | None:
    """Return the event in a file, None if it has none. A link or a pipe is never opened."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            return from_json(file.read(MAX_FILE_BYTES))
    except OSError:
        return None
