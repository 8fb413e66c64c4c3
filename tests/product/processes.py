"""The processes of a running program on Linux."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.product.program import Program


def processes_of(program: Program) -> list[int]:
    """Return the processes whose command line or parent names this server's."""
    assert program.server is not None
    found, pending = [], [program.server.pid]
    while pending:
        parent = pending.pop()
        found.append(parent)
        path = f"/proc/{parent}/task/{parent}/children"
        if os.path.exists(path):  # noqa: PTH110 - /proc is no place for a Path per process
            with open(path) as children:  # noqa: PTH123
                pending += [int(child) for child in children.read().split()]
    return found


def alive(pid: int) -> bool:
    """Whether a process still runs. A zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pids: list[int], seconds: float) -> list[int]:
    """Wait for processes to end and return those that are left."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def indexers_of(program: Program) -> list[int]:
    """Return the indexing processes of this server."""
    assert program.server is not None
    found = []
    for pid in processes_of(program)[1:]:
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:  # noqa: PTH123
                if b"vault_agent.indexing.keeper" in line.read():
                    found.append(pid)
        except FileNotFoundError:  # it has just ended
            continue
    return found
