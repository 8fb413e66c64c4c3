"""Loaded by every Python process with this folder on its path: records uses of database files.

Writes a line to the file that WATCH_REPORT names for every database that SQLite opens, and for
every one that anything else in Python opens, moves or replaces while SQLite may have it open: the
first descriptor of a file that a process closes takes all its POSIX locks away.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

_DATABASE = (".db", ".db-wal", ".db-shm", ".db-journal")


def _is_open(path: str) -> bool:
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if descriptor.readlink() == Path(path).resolve():
                return True
    return False


def _report(what: str, path: str) -> None:
    descriptor = os.open(os.environ["WATCH_REPORT"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, f"{what} {Path(path).name}\n".encode())
    os.close(descriptor)


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "sqlite3.connect":
        _report("SQLite opened", os.fsdecode(arguments[0]).partition("?")[0])
    elif event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        path, flags = os.fsdecode(arguments[0]), arguments[2]
        # Exclusive creation of a new file for SQLite is allowed.
        if path.endswith(_DATABASE) and not flags & os.O_EXCL:
            if flags & os.O_CREAT:
                _report("Python made", path)
            elif _is_open(path):
                _report("Python opened", path)
    elif event == "os.rename":
        source, target = os.fsdecode(arguments[0]), os.fsdecode(arguments[1])
        if source.endswith(_DATABASE) and _is_open(source):
            _report("Python moved", source)
        if target.endswith(_DATABASE):
            _report("Python put a file in the place of", target)


sys.addaudithook(_watch)
