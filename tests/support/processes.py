"""The processes of the machine: whether one runs, and how Linux lists them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

LISTED = sys.platform == "linux"
"""Whether this system lists processes so."""


def children(pid: int | str = "self") -> set[int]:
    """Return the child processes of a process; none if it has ended."""
    found: set[int] = set()
    with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - twice a test
            listed = Path(f"/proc/{pid}/task/{thread}/children")
            with suppress(FileNotFoundError, ProcessLookupError):
                found.update(map(int, listed.read_bytes().split()))
    return found


def command_line(pid: int) -> bytes:
    """Return the arguments of a process, each followed by a NUL; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def is_gone(pid: int) -> bool:
    """Whether a process has ended, and its parent knows."""
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return False
    return True
