"""Only a regular file is read, and nothing makes the reader wait."""

import os
from pathlib import Path

from tests.systems import posix

from vault_agent.system.regular import read_regular


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
