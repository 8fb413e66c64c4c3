"""The index folder: its server and that server's address."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from vault_agent.errors import Busy, Failed
from vault_agent.store.directory import IndexDirectory
from vault_agent.system.address import record_address


def refusal(folder: Path) -> str:
    with pytest.raises(Busy) as refused, IndexDirectory(folder).serving():
        pass
    return refused.value.message


@pytest.mark.parametrize(
    ("noted", "says"),
    [
        ("http://127.0.0.1:8787\n12\n", "this index, at http://127.0.0.1:8787. Use"),
        ("http://[::1]:8787\n12\n", "this index, at http://[::1]:8787. Use"),
        ("http://127.0.0.1:8787", "this index. Use"),
        ("http://127.0.0.1:8787\n-1\n", "this index. Use"),
        (None, "this index. Use"),
        ("", "this index. Use"),
        ("http://a b\x1b[2J\n12\n", "this index. Use"),
        ("http://" + "a" * 300 + "\n12\n", "this index. Use"),
        ("\u00fc", "this index. Use"),
    ],
)
def test_a_second_server_gets_the_address_of_the_first(
    tmp_path: Path, noted: str | None, says: str
):
    with IndexDirectory(tmp_path).serving():
        if noted is not None:
            (tmp_path / "server.address").write_bytes(noted.encode())
        assert says in refusal(tmp_path)


def test_the_next_server_replaces_the_address_of_a_killed_one(tmp_path: Path):
    directory = IndexDirectory(tmp_path)
    record_address(directory.path, "http://127.0.0.1:1")
    with directory.serving():
        assert "127.0.0.1:1" not in refusal(tmp_path)
        record_address(directory.path, "http://127.0.0.1:2")
        assert "at http://127.0.0.1:2." in refusal(tmp_path)
    assert not (tmp_path / "server.address").exists()


@pytest.mark.fault(
    "The index",
    "the index is on a file system without locks",
    "`INDEX_IO_ERROR` says so",
)
@pytest.mark.skipif(sys.platform == "win32", reason="flock")
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP])
def test_a_file_system_without_locks_is_not_reported_as_another_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
):
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", fail)
    directory = IndexDirectory(tmp_path)
    for lock in (directory.serving(), directory.writing(), directory.embedding()):
        with pytest.raises(Failed, match=r"has no locks.* index\.dir") as failed, lock:
            pass
        assert failed.value.code == "INDEX_IO_ERROR"


def test_a_sweep_removes_unfinished_files(tmp_path: Path):
    directory = IndexDirectory(tmp_path)
    directory.generation(1).mkdir()
    for folder in (tmp_path, directory.generation(1)):
        (folder / ".vault-agent-abcdefgh.new").touch()
    (tmp_path / "jobs.db").touch()
    directory.sweep(keep=1)  # somebody may be writing them
    unfinished = list(tmp_path.rglob("*.new"))
    assert len(unfinished) == 2
    for each in unfinished:
        os.utime(each, (1.0, 1.0))
    directory.sweep(keep=1)
    left = {directory.generation(1), tmp_path / "jobs.db"}
    assert set(tmp_path.rglob("*")) == left


def test_a_server_starts_even_if_its_address_cannot_be_written(tmp_path: Path):
    record_address(tmp_path / "none", "http://127.0.0.1:1")
