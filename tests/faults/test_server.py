"""A server whose disk fails, or whose vault or index disappears."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.disk import build, compiler
from tests.product.processes import indexers_of
from tests.support.clocks import PATIENCE
from tests.support.program import PROGRAM, Program
from tests.support.waiting import eventually

from vault_agent.model.identifiers import identify

BREAD = identify("Bread.md")
NEEDS_COMPILER = pytest.mark.skipif(compiler() is None, reason="needs Linux and a C compiler")


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with Program(tmp_path) as made:
        made.write("Bread.md", "# Bread\n\nFlour and water. ![[jar.png]]\n")
        made.write("Starter.md", "# Starter\n\nFeed the sourdough. [[Bread]]\n")
        made.write("jar.png", b"\x89PNG")
        yield made


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


def send(processes: list[int], number: signal.Signals) -> None:
    """Send a signal to processes that have not ended."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


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
    indexers = indexers_of(program)
    send(indexers, signal.SIGSTOP)  # so that the job does not end before the disk is full
    job_id = program.submit()
    switch.touch()
    send(indexers, signal.SIGCONT)
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
    assert "config unset index.dir" in ended.stderr


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


# --- locks and processes ----------------------------------------------------------------------


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
