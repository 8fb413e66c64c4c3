"""A lock has one holder and is released when its holder ends."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.system import files
from vault_agent.system.files import AlreadyLocked, LocksUnsupported, folder_locked, locked

posix = pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")

HOLD = """
import pathlib, sys
from vault_agent.system.files import locked
with locked(pathlib.Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def is_locked(path: Path, wait_seconds: float = 0.0) -> bool:
    try:
        with locked(path, wait_seconds=wait_seconds):
            return False
    except AlreadyLocked:
        return True


def test_a_lock_has_one_holder_at_a_time(tmp_path: Path):
    path = tmp_path / "a.lock"
    with locked(path):
        assert is_locked(path)
        assert not is_locked(tmp_path / "b.lock")
    assert not is_locked(path)


def test_a_lock_file_keeps_its_content(tmp_path: Path):
    path = tmp_path / "a.lock"
    path.write_bytes(b"kept")
    with locked(path), pytest.raises(AlreadyLocked), locked(path):
        pass
    assert path.read_bytes() == b"kept"


def test_a_killed_process_releases_its_lock(tmp_path: Path):
    path = tmp_path / "a.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout.readline().strip() == b"locked"
        assert is_locked(path)
        holder.kill()
        holder.wait()
        assert not is_locked(path)


def test_a_waiting_process_gets_the_released_lock(tmp_path: Path):
    path = tmp_path / "a.lock"
    with locked(path):
        results: list[bool] = []
        waiting = threading.Thread(target=lambda: results.append(is_locked(path, PATIENCE)))
        waiting.start()
        time.sleep(0.1)
        assert results == []
    waiting.join(PATIENCE)
    assert results == [False]


@posix
def test_locking_a_folder_creates_no_file(tmp_path: Path):
    with folder_locked(tmp_path):
        assert is_locked_folder(tmp_path)
        assert list(tmp_path.iterdir()) == []
    assert not is_locked_folder(tmp_path)


def is_locked_folder(folder: Path) -> bool:
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


class NoLocks:
    """A fake file system whose locks fail."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, *_: object) -> None:
        raise OSError(self.number, os.strerror(self.number))


@posix
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_is_not_reported_as_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
):
    monkeypatch.setattr("fcntl.flock", NoLocks(number))
    before = open_descriptors()
    for lock in (locked(tmp_path / "a.lock"), folder_locked(tmp_path)):
        with pytest.raises(LocksUnsupported), lock:
            pass
    assert open_descriptors() == before


@posix
def test_other_lock_errors_are_raised_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fcntl.flock", NoLocks(errno.EIO))
    with pytest.raises(OSError, match=os.strerror(errno.EIO)), locked(tmp_path / "a.lock"):
        pass


def test_a_look_at_a_lock_neither_takes_nor_creates_it(tmp_path: Path):
    path = tmp_path / "lock"
    assert not files.is_locked(path)
    assert not path.exists()
    with locked(path):
        assert files.is_locked(path)
    assert not files.is_locked(path)
    with locked(path):
        pass
