"""A server whose disk fails, or whose vault or index disappears."""

from __future__ import annotations

import errno
import http.client
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.faults.disk import build, compiler
from tests.product.processes import indexers_of, processes_of, wait_until_gone
from tests.support.clocks import PATIENCE
from tests.support.program import PROGRAM, Program
from tests.support.waiting import eventually

from vault_agent.model.identifiers import identify

BREAD = identify("Bread.md")
NEEDS_COMPILER = pytest.mark.skipif(compiler() is None, reason="needs Linux and a C compiler")


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    made = Program(tmp_path)
    made.write("Bread.md", "# Bread\n\nFlour and water. ![[jar.png]]\n")
    made.write("Starter.md", "# Starter\n\nFeed the sourdough. [[Bread]]\n")
    made.write("jar.png", b"\x89PNG")
    yield made
    made.close()


def index_folder(program: Program) -> Path:
    [folder] = (program.indexes / "indexes").iterdir()
    return folder


def preload(program: Program, tmp_path: Path, error: int) -> Path:
    """Let the next server's disk fail while the returned file exists."""
    switch = tmp_path / "failing"
    program.variables |= {
        "LD_PRELOAD": str(build(tmp_path)),
        "FAULTS_BELOW": str(program.indexes),
        "FAULTS_SWITCH": str(switch),
        "FAULTS_ERROR": str(error),
    }
    return switch


# --- the disk ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errno.ENOSPC, "DISK_FULL"),
        pytest.param(errno.EROFS, "INDEX_IO_ERROR", marks=pytest.mark.long),
        pytest.param(errno.EIO, "INDEX_IO_ERROR", marks=pytest.mark.long),
    ],
)
@NEEDS_COMPILER
def test_a_failing_disk_refuses_jobs_with_a_code_and_search_works(
    program: Program, tmp_path: Path, error: int, code: str
):
    switch = preload(program, tmp_path, error)
    program.start()
    program.index()
    switch.touch()
    refused = program.call("POST", "/index", {})
    status = {"DISK_FULL": 507, "INDEX_IO_ERROR": 503}[code]
    assert (refused.status, refused.code) == (status, code)
    assert program.search("sourdough").data["results"]
    assert program.call("GET", f"/notes/{BREAD}").status == 200
    switch.unlink()
    program.index()


@NEEDS_COMPILER
def test_a_disk_that_fills_up_fails_the_job_with_a_code_and_blocks_nothing(
    program: Program, tmp_path: Path
):
    switch = preload(program, tmp_path, errno.ENOSPC)
    program.start()
    program.index()
    program.fill(300)
    job_id = program.submit()
    switch.touch()
    job = program.finish(job_id)
    assert job["state"] == "failed"
    # The threads of the engine lose the reason. The disk is asked then, and it has room here.
    assert job["error"]["code"] in ("DISK_FULL", "INDEX_IO_ERROR")
    assert program.search("sourdough").data["results"]
    assert program.call("GET", f"/jobs/{job_id}").data["job"]["state"] == "failed"
    switch.unlink()
    assert program.index()["summary"]["added"] == 300
    assert [job["state"] for job in program.call("GET", "/jobs").data["jobs"]][:2] == [
        "succeeded",
        "failed",
    ]


def test_an_index_folder_that_cannot_be_created_ends_the_server_with_a_code(program: Program):
    program.indexes.write_text("a file where the folder should be")
    ended = program.run(
        *("serve", "--vault-root", str(program.vault), "--port", "0"),
        *("--index-dir", str(program.indexes)),
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("INDEX_IO_ERROR: The folder of the index cannot be made")
    assert str(program.indexes) not in ended.stderr
    assert "config set index.dir" in ended.stderr


@pytest.mark.fault(
    "The index",
    "the index folder disappears, or cannot be created",
    "reported with a code; the next start creates it again",
)
def test_a_deleted_index_folder_is_reported_and_recreated_at_the_next_start(program: Program):
    program.start()
    program.index()
    shutil.rmtree(index_folder(program))
    assert program.wait() == 1  # no command could find it any more
    assert "SERVER_FAILED" in program.log.read_text()
    program.start()
    program.index()
    assert program.search("sourdough").data["results"]


def test_a_damaged_job_database_is_set_aside_at_the_start(program: Program):
    program.start()
    program.index()
    program.stop()
    jobs = index_folder(program) / "jobs.db"
    with closing(sqlite3.connect(jobs)) as connection, connection:
        connection.execute("UPDATE job SET document = '{\"id\": 7'")
    connection.close()
    program.start()
    assert program.search("sourdough").status == 200
    assert program.call("GET", "/jobs").data["jobs"] == []
    assert jobs.with_suffix(".damaged").exists()
    program.index()


# --- the vault --------------------------------------------------------------------------------


def test_a_missing_vault_is_reported_and_served_again_once_it_is_back(
    program: Program,
):
    program.start()
    program.index()
    away = program.vault.with_name("unmounted")
    program.vault.rename(away)
    for path in (f"/notes/{BREAD}", "/attachments/jar.png", "/attachments/jar.png?download=true"):
        refused = program.call("GET", path)
        assert (refused.status, refused.code) == (503, "VAULT_NOT_FOUND"), path
    assert program.search("sourdough").data["results"]
    eventually(lambda: "VAULT_NOT_FOUND" in program.search("sourdough").warnings)
    job = program.finish(program.submit())
    assert (job["state"], job["error"]["code"]) == ("failed", "VAULT_NOT_FOUND")
    away.rename(program.vault)
    assert program.call("GET", f"/notes/{BREAD}").status == 200
    program.index()
    assert program.search("sourdough").warnings == []


def test_notes_are_read_from_a_replaced_vault_folder(program: Program):
    program.start()
    program.index()
    program.vault.rename(program.vault.with_name("old"))
    program.write("Bread.md", "# Bread\n\nanother vault, another bread\n")
    program.write("jar.png", b"new")
    assert "another bread" in program.call("GET", f"/notes/{BREAD}").data["content"]
    assert program.call("GET", "/attachments/jar.png").data["size"] == 3
    elsewhere = program.vault.with_name("elsewhere")
    program.vault.rename(elsewhere)
    program.vault.symlink_to(elsewhere)  # another vault, which has another index
    refused = program.call("GET", f"/notes/{BREAD}")
    assert (refused.status, refused.code) == (503, "VAULT_NOT_FOUND")


def test_a_clock_set_back_hides_no_change(program: Program):
    program.start()
    program.index()
    file = program.write("Bread.md", "# Bread\n\nquinces of old\n")
    os.utime(file, (1_000_000, 1_000_000))
    assert program.index()["summary"]["changed"] == 1
    status = file.stat()
    file.write_text("# Bread\n\nquinces of new\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))  # of the same size and time
    assert program.index()["summary"]["changed"] == 1


# --- locks and processes ----------------------------------------------------------------------


def test_a_job_waits_briefly_for_another_writer(program: Program):
    """A paused indexer holds the lock, and the next server's job waits for it."""
    program.start()
    program.index()
    program.fill(400)
    job_id = program.submit()
    eventually(lambda: program.call("GET", f"/jobs/{job_id}").data["job"]["phases"])
    holders = indexers_of(program)
    for each in holders:
        os.kill(each, signal.SIGSTOP)  # so that it does not notice the end of its server
    program.kill()
    program.start()
    job_id = program.submit()
    time.sleep(0.7)
    for each in holders:
        with suppress(ProcessLookupError):  # one that was ending when it was paused
            os.kill(each, signal.SIGCONT)
    assert program.finish(job_id)["state"] == "succeeded"
    assert wait_until_gone(holders, PATIENCE) == []


def test_of_concurrent_submissions_one_is_accepted_and_the_others_name_it(program: Program):
    program.fill(400)
    program.start()
    program.index()
    program.fill(800)
    with ThreadPoolExecutor(6) as threads:
        replies = list(threads.map(lambda _: program.call("POST", "/index", {}), range(6)))
    [taken] = [reply for reply in replies if reply.status == 202]
    refused = [reply for reply in replies if reply.status != 202]
    assert {(reply.status, reply.code) for reply in refused} == {(409, "INDEX_BUSY")}
    job_id = taken.data["job"]["id"]
    assert {reply.body["error"]["details"]["jobId"] for reply in refused} == {job_id}
    assert program.finish(job_id)["state"] == "succeeded"


def test_a_job_cancelled_at_any_moment_ends_and_releases_its_lock(program: Program):
    program.fill(400)
    program.start()
    program.index()
    for turn, moment in enumerate((0.0, 0.1, 0.3)):
        job_id = program.submit("reindex")
        time.sleep(moment)
        job = program.call("DELETE", f"/jobs/{job_id}").data["job"]
        assert job["state"] in ("cancelled", "succeeded"), turn
        assert turn or job["state"] == "cancelled"
        assert program.search("filler").data["results"]
    program.index()


def test_disconnected_clients_and_open_streams_block_nothing(program: Program):
    program.fill(800)
    program.start()
    address = urlsplit(program.endpoint)
    job_id = program.call("GET", "/health").data["runningJob"]
    leaving = http.client.HTTPConnection(address.hostname or "", address.port)
    leaving.request("GET", f"/jobs/{job_id}/events")
    leaving.getresponse().read(20)
    leaving.close()
    assert program.finish(job_id)["state"] == "succeeded"
    job_id = program.submit("reindex")
    following = http.client.HTTPConnection(address.hostname or "", address.port)
    following.request("GET", f"/jobs/{job_id}/events")
    stream = following.getresponse()
    everything = processes_of(program)
    ended: list[bytes] = []
    reader = threading.Thread(target=lambda: ended.append(stream.read()))
    reader.start()
    code, _ = program.stop()
    reader.join(PATIENCE)
    assert (code, wait_until_gone(everything, PATIENCE)) == (0, [])
    assert ended  # it ended normally
    following.close()


# --- constant readers -------------------------------------------------------------------------


LOG_PAGES, PAGE_BYTES = 1000, 8192
"""SQLite folds its log into the database once it has so many pages, which are of this size."""


def search_while_indexing(program: Program, runs: int) -> int:
    """Index repeatedly during constant searches. Return the largest log size in bytes."""
    program.fill(100)
    program.start()
    program.index()
    stop = threading.Event()

    def search() -> None:
        while not stop.is_set():
            assert program.search("filler shared text").status == 200

    largest = 0
    with ThreadPoolExecutor(2) as threads:
        searching = [threads.submit(search) for _ in range(2)]
        try:
            for run in range(runs):
                for number in range(40):
                    text = f"# {run}\n\n" + f"filler {run} " * 1000
                    program.write(f"many/{number % 20}/Note {number}.md", text)
                program.index()
                logs = index_folder(program).glob("generation-*/index.db-wal")
                largest = max([largest, *(log.stat().st_size for log in logs)])
        finally:
            stop.set()
        for each in searching:
            each.result()
    return largest


@pytest.mark.long
def test_the_write_ahead_log_stays_bounded_during_constant_searches(program: Program):
    assert search_while_indexing(program, 3) < 2 * LOG_PAGES * PAGE_BYTES


@pytest.mark.long
def test_the_write_ahead_log_stays_bounded_over_many_runs(program: Program):
    largest = search_while_indexing(program, 80)
    print(f"\n80 runs under searches: the write-ahead log was {largest / 1e6:.1f} MB at most")
    assert largest < 2 * LOG_PAGES * PAGE_BYTES  # all runs together write several times as much


@pytest.mark.fault(
    "The index",
    "two servers, or two writers, on one index",
    "the second exits at once and says why",
)
def test_of_two_servers_started_at_once_one_starts(program: Program):
    command = (
        *(*PROGRAM, "--json", "serve", "--vault-root", str(program.vault), "--port", "0"),
        *("--index-dir", str(program.indexes)),
    )
    both = [
        subprocess.Popen(
            command, env=program.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    try:
        [loser] = eventually(lambda: [each for each in both if each.poll() is not None])
        assert loser.returncode == 5
        assert b"INDEX_LOCKED" in loser.communicate()[1]
    finally:
        for server in both:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=PATIENCE)
