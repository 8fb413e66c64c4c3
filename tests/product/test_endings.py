"""After any end of a server, the next one serves the last complete index."""

from __future__ import annotations

import os
import signal
import socket
import time
from urllib.parse import SplitResult

import pytest
from tests.product.processes import indexers_of, processes_of, wait_until_gone
from tests.support.clocks import PATIENCE
from tests.support.folders import below
from tests.support.program import Program, is_served
from tests.support.waiting import eventually


@pytest.mark.fault(
    "The index",
    "the process is killed at any moment",
    "the next start serves the last complete index; no row or saved vector is lost",
)
@pytest.mark.parametrize("kind", ["index", pytest.param("reindex", marks=pytest.mark.long)])
def test_after_a_kill_the_old_index_serves_and_the_next_run_completes(program: Program, kind: str):
    program.fill(100)
    program.start()
    program.index()
    before = program.search("sourdough").data["results"]
    program.fill(600)
    job_id = program.submit(kind)
    eventually(lambda: program.call("GET", f"/jobs/{job_id}").data["job"]["phases"])
    running = processes_of(program)
    program.kill()
    assert wait_until_gone(running, PATIENCE) == []

    program.start()
    reply = program.search("sourdough")
    assert reply.data["results"] == before
    assert "INDEX_INCOMPLETE" in reply.warnings
    assert program.call("GET", "/jobs").data["jobs"][0]["state"] == "interrupted"
    assert program.index()["summary"]["added"] == 500
    assert program.search("word550").data["results"]


def test_sigterm_during_a_job_ends_all_processes(program: Program):
    program.fill(400)
    program.start()
    eventually(lambda: indexers_of(program))
    running = processes_of(program)
    code, seconds = program.stop()
    print(f"\n{len(running)} processes at work, gone {seconds:.1f} s after SIGTERM")
    assert (code, wait_until_gone(running, PATIENCE)) == (0, [])


def refuses(where: SplitResult) -> bool:
    """Whether nobody listens there."""
    try:
        socket.create_connection((where.hostname, where.port)).close()
    except ConnectionError:
        return True
    return False


def test_a_hanging_idle_process_does_not_delay_the_stop(program: Program):
    program.start()
    program.index()
    eventually(lambda: indexers_of(program))
    for idle in indexers_of(program):
        os.kill(idle, signal.SIGSTOP)
    assert program.search("sourdough").data["results"]  # this makes the server check the files
    running = processes_of(program)
    code, seconds = program.stop()
    print(f"\n{len(running)} processes at work, gone {seconds:.1f} s after SIGTERM")
    assert (code, wait_until_gone(running, PATIENCE)) == (0, [])


@pytest.mark.fault(
    "The index",
    "a damaged page or file of the index",
    "`INDEX_INCOMPATIBLE`; the server rebuilds the index",
)
def test_a_damaged_index_is_rebuilt_at_the_start(program: Program):
    program.fill(50)
    program.start()
    program.index()
    program.stop()
    [file] = below(program.indexes, "index.db")
    with file.open("r+b") as damaged:
        damaged.seek(100)  # the root of the schema
        damaged.write(b"\xa5" * (file.stat().st_size - 100))
    program.start()
    assert eventually(lambda: program.search("filler"), is_served).data["results"]
    [rebuild, *_] = program.call("GET", "/jobs").data["jobs"]
    assert (rebuild["kind"], rebuild["trigger"]) == ("reindex", "start")


@pytest.mark.fault(
    "The index",
    "`vault.exclude` changes",
    "409 with `details.jobId` until the index is rebuilt; what is excluded now is never shown",
)
def test_what_is_excluded_now_is_never_found(program: Program):
    for folder in ("Kept", "Left"):
        program.write(f"{folder}/Note.md", f"# {folder}\n\nMarmalade of {folder}.\n")
    program.start()
    program.index()
    assert len(program.search("marmalade").data["results"]) == 2
    program.stop()
    program.variables["VAULT_AGENT_VAULT_EXCLUDE"] = "Left/"
    program.start()
    while not is_served(reply := program.search("marmalade")):
        assert (reply.status, reply.code) == (409, "INDEX_INCOMPATIBLE")
        assert "jobId" in reply.body["error"]["details"]
        time.sleep(0.01)
    assert {hit["path"] for hit in reply.data["results"]} == {"Kept/Note.md"}
