"""Events that wait for a server: one file each, so that nothing is ever appended to a shared file.

A file is written under another name and renamed, so a reader sees it whole or not at all. Its name
begins with its time, so the order of names is that of the events. Without a server the spool does
not grow for ever: the oldest events beyond its limits are dropped. Standard library only.
"""

from __future__ import annotations

import math
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.journals.events import from_json, to_json
from vault_agent.system.regular import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vault_agent.model.sessions import SessionEvent

MAX_FILE_BYTES: Final = 1 << 20
MAX_EVENTS: Final = 20_000
MAX_BYTES: Final = 64 << 20
MAX_SECONDS: Final = 30 * 86_400.0
_MAX_DAMAGED = 100
_ASIDE = "damaged"
UNKNOWN: Final = "unknown"
"""The folder in the spool of events whose vault is not in the list."""
_HALF = ".tmp"


class Waiting(NamedTuple):
    """An event that waits, and its file. `done` is called once it is stored elsewhere."""

    path: Path
    event: SessionEvent

    def done(self) -> None:
        """Remove the file."""
        with suppress(FileNotFoundError):
            self.path.unlink()

    def put_aside(self) -> None:
        """Keep the file for `take_back`: its vault is not in the list now."""
        _move(self.path, self.path.parent / UNKNOWN)


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
    with suppress(OSError):  # the event is safe
        bound(folder)


def waiting(folder: Path) -> Iterator[Waiting]:
    """Yield the events that wait, the oldest first. A file that is no event is put aside."""
    for path in _files(folder):
        event = _read(path)
        if event is not None:
            yield Waiting(path, event)
        elif path.exists():
            _move(path, folder / _ASIDE)
            _bound(folder / _ASIDE, _MAX_DAMAGED, math.inf)


def take_back(folder: Path) -> None:
    """Let the events that were put aside wait again."""
    for path in _files(folder / UNKNOWN):
        _move(path, folder)


def bound(folder: Path) -> None:
    """Remove the oldest events of a folder beyond the limits of the spool.

    Raises:
        OSError: if it cannot be read.
    """
    _bound(folder, MAX_EVENTS, MAX_SECONDS)


def _bound(folder: Path, most: int, seconds: float) -> None:
    if not folder.is_dir():
        return
    oldest = time.time() - seconds
    count = size = 0
    with os.scandir(folder) as found:
        files = sorted((each for each in found if each.is_file()), key=lambda each: each.name)
    for each in reversed(files):
        with suppress(FileNotFoundError):
            size += each.stat(follow_symlinks=False).st_size
            count += 1
            if count > most or size > MAX_BYTES or _time_of(each.name) < oldest:
                os.unlink(each.path)  # noqa: PTH108 - of a folder with many entries


def _time_of(name: str) -> float:
    """Return the time in the name of a file, in seconds since 1970. Others count as new."""
    digits = name.partition("-")[0]
    return int(digits) / 1e9 if len(digits) == 20 and digits.isdecimal() else math.inf


def _move(path: Path, folder: Path) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    with suppress(FileNotFoundError):
        path.replace(folder / path.name)


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if each.suffix == ".json")
    except FileNotFoundError:
        return []


def damaged(folder: Path) -> int:
    """Return how many files were put aside."""
    try:
        return sum(1 for _ in (folder / _ASIDE).iterdir())
    except FileNotFoundError:
        return 0


def _read(path: Path) -> SessionEvent | None:
    """Return the event in a file, None if it has none. A link or a pipe is never opened."""
    data = read_regular(path, MAX_FILE_BYTES)
    return from_json(data) if data is not None else None
