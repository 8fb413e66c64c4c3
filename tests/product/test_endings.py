"""However a server ends, the next one serves the last complete index."""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

import pytest

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
    """Tell whether a process still runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pids: list[int], seconds: float) -> list[int]:
    """Return the processes that are left after waiting."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


@pytest.mark.parametrize("kind", ["index", "reindex"])
def test_after_a_kill_in_the_middle_the_old_index_serves_and_index_completes(
    program: Program, kind: str
):
    program.fill(400)
    program.start()
    program.index()
    before = program.search("sourdough").data["results"]
    program.fill(1200)
    program.submit(kind)
    time.sleep(random.Random(kind).uniform(0.2, 0.5))
    running = processes_of(program)
    program.kill()
    assert wait_until_gone(running, 5) == []

    began = time.monotonic()
    program.start()
    reply = program.search("sourdough")
    assert time.monotonic() - began < 5  # two seconds of which are the interpreter's start
    assert reply.data["results"] == before
    assert "INDEX_INCOMPLETE" in reply.warnings
    assert program.call("GET", "/jobs").data["jobs"][0]["state"] == "interrupted"
    assert program.index()["summary"]["added"] == 800
    assert program.search("word1100").data["results"]


def test_sigterm_in_the_middle_of_a_job_ends_everything_in_time(program: Program):
    program.fill(1200)
    program.start()
    time.sleep(0.3)
    running = processes_of(program)
    assert len(running) > 1
    code, seconds = program.stop()
    assert (code, wait_until_gone(running, 1)) == (0, [])
    assert seconds < 5


def test_a_second_server_on_the_same_index_ends_at_once_and_says_why(program: Program):
    program.start()
    second = program.run(
        *("serve", "--vault-root", str(program.vault), "--port", "0"),
        *("--index-dir", str(program.indexes)),
    )
    assert second.returncode == 5
    assert second.stderr.startswith("INDEX_LOCKED: ")
    assert program.call("GET", "/health").status == 200


@pytest.mark.parametrize("victim", ["index.db", "*.term", "*.store"])
def test_a_damaged_index_is_refused_put_aside_and_rebuilt(program: Program, victim: str):
    program.fill(300)
    program.start()
    program.index()
    program.stop()
    [file, *_] = sorted(program.indexes.rglob(victim))
    with file.open("r+b") as damaged:
        damaged.seek(file.stat().st_size // 2)
        damaged.write(b"\xa5" * 2048)

    program.start()
    deadline = time.monotonic() + 10
    while (reply := program.search("filler")).status == 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert (reply.status, reply.code) == (409, "INDEX_INCOMPATIBLE")
    assert "reindex" in reply.body["error"]["message"]
    program.stop()
    program.start()
    assert program.search("filler").code == "INDEX_INCOMPATIBLE"
    program.index("reindex")
    assert program.search("filler").data["results"]
