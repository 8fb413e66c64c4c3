"""The processes of a running program on Linux."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.processes import children, command_line
from tests.support.program import Program
from tests.support.waiting import eventually


def processes_of(program: Program) -> list[int]:
    """Return the server's process and those that it and its children have started."""
    _skip_unless_linux()
    found, pending = [], [program.server.pid]
    while pending:
        parent = pending.pop()
        found.append(parent)
        pending += sorted(children(parent))
    return found


def alive(pid: int) -> bool:
    """Whether a process still runs. A zombie does not."""
    _skip_unless_linux()
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(pids: list[int], seconds: float) -> list[int]:
    """Wait for processes to end and return those that are left."""
    with suppress(AssertionError):
        eventually(lambda: any(map(alive, pids)), lambda left: not left, seconds=seconds)
    return [pid for pid in pids if alive(pid)]


def indexers_of(program: Program) -> list[int]:
    """Return the indexing processes of this server."""
    return [
        pid
        for pid in processes_of(program)[1:]
        if b"vault_agent.indexing.keeper" in command_line(pid)
    ]


def _skip_unless_linux() -> None:
    if sys.platform != "linux":
        pytest.skip("looks at processes as Linux has them")
