"""Files are replaced atomically and are private."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from vault_agent.system.files import (
    make_private_folder,
    remove_unfinished,
    replace_file,
    replacing,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes and signals")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@posix
def test_a_new_file_is_private_for_every_umask(tmp_path: Path, umask: int):
    replace_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert mode(tmp_path / "a") == 0o600


@posix
def test_a_replaced_file_becomes_private_unless_its_mode_is_kept(tmp_path: Path, umask: int):
    for keep, expected in ((True, 0o664), (False, 0o600)):
        (tmp_path / "a").write_bytes(b"old")
        (tmp_path / "a").chmod(0o664)
        replace_file(tmp_path / "a", b"new", keep_mode=keep)
        assert (tmp_path / "a").read_bytes() == b"new"
        assert mode(tmp_path / "a") == expected


@posix
def test_a_file_gets_its_mode_before_its_content(tmp_path: Path):
    with replacing(tmp_path / "a", mode=0o640) as file:
        assert os.fstat(file.fileno()).st_mode & 0o777 == 0o640


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.fault(
    "The index",
    "a process is killed, or fails, while it replaces a file",
    "the old file stays; leftovers are removed",
)
def test_a_failure_keeps_the_old_file_and_leaves_no_other(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_replacement_leaves_no_other_file(tmp_path: Path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError):  # noqa: PT011 - whatever the system calls it
        replace_file(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_very_long_file_names_work(tmp_path: Path):
    path = tmp_path / ("a" * 255)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"


@posix
def test_content_is_synced_before_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced = []

    def record(descriptor: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), (tmp_path / "a").exists()))

    monkeypatch.setattr(os, "fsync", record)
    replace_file(tmp_path / "a", b"new", durable=False)
    assert synced == []
    (tmp_path / "a").unlink()
    replace_file(tmp_path / "a", b"new")
    assert synced == [(False, False), (True, True)]


@posix
def test_leftovers_of_a_killed_process_are_found(tmp_path: Path):
    code = (
        "import os, pathlib, signal\n"
        "from vault_agent.system.files import replacing\n"
        f"with replacing(pathlib.Path({str(tmp_path / 'a')!r})) as file:\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    (tmp_path / "kept.new").touch()
    for each in (files := list(tmp_path.iterdir())):
        os.utime(each, (1.0, 1.0))
    assert len(files) == 2
    remove_unfinished(tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "kept.new"]


@pytest.mark.parametrize("durable", [False, True])
def test_a_sweep_beside_a_write_does_not_harm_it(tmp_path: Path, durable: bool):
    with replacing(tmp_path / "secret", durable=durable) as file:
        file.write(b"new")
        remove_unfinished(tmp_path)
    assert (tmp_path / "secret").read_bytes() == b"new"


@posix
def test_new_folders_are_private_and_existing_ones_unchanged(tmp_path: Path, umask: int):
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path / "a" / "b")
    assert [mode(tmp_path / at) for at in (".", "a", "a/b")] == [0o755, 0o700, 0o700]
