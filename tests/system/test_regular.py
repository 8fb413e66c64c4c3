"""Only a regular file is read, and nothing makes the reader wait."""

import os
from pathlib import Path

import pytest
from tests.support.systems import posix

from vault_agent.errors import Failed
from vault_agent.system.files import (
    NotRegular,
    is_locked,
    locked,
    open_regular,
    read_regular,
    read_state,
)


def test_only_a_regular_file_is_read(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"abcdef")
    (tmp_path / "folder").mkdir()
    assert read_regular(tmp_path / "file", 4) == b"abcd"
    assert read_regular(tmp_path / "folder", 4) is None
    assert read_regular(tmp_path / "none", 4) is None
    assert read_regular(tmp_path / "nul\0", 4) is None


@posix("Windows has no pipes with a path")
def test_links_and_pipes_are_not_read(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"abcdef")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    assert read_regular(tmp_path / "link", 9) is None
    assert read_regular(tmp_path / "link", 9, follow=True) == b"abcdef"
    assert read_regular(tmp_path / "pipe", 9, follow=True) is None
    with pytest.raises(Failed, match="there is a pipe in the folder"):
        read_state(tmp_path / "pipe")
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
        with pytest.raises(NotRegular):
            open_regular(tmp_path / "pipe", flags)


def test_a_folder_is_no_file_and_no_lock(tmp_path: Path):
    folder = tmp_path / "server.lock"
    folder.mkdir()
    for flags in (os.O_RDONLY, os.O_RDWR | os.O_CREAT):
        with pytest.raises(NotRegular):
            open_regular(folder, flags)
    for work in (is_locked, read_state, lambda path: locked(path).__enter__()):
        with pytest.raises(Failed) as caught:
            work(folder)
        assert caught.value.what == (
            f"Instead of the file server.lock, there is a folder in the folder {tmp_path.name}."
        )
    with pytest.raises(FileNotFoundError):
        read_state(tmp_path / "missing")
