"""The check of traces finds what changes a vault while writing is off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.faults.traced import check

if TYPE_CHECKING:
    from pathlib import Path

SERVER = 'execve("/bin/python", ["python", "-m", "vault_agent", "serve"], 0x7f /* 9 vars */) = 0\n'
READ = 'openat2(7</t/vault>, "A.md", {flags=O_RDONLY, resolve=0}, 24) = 8</t/vault/A.md>\n'
INDEX = 'openat(AT_FDCWD</t>, "/t/data/index.db", O_RDWR|O_CREAT, 0600) = 8</t/data/index.db>\n'
LOG = 'openat(AT_FDCWD</t>, "/t/data/writes.db", O_RDWR|O_CREAT, 0600) = 8</t/data/writes.db>\n'


@pytest.mark.fault(
    "Writing",
    "any process of the program changes a vault while writing is off",
    "found in a trace of all system calls",
)
@pytest.mark.parametrize(
    "change",
    [
        'openat(7</t/vault>, "A.md", O_WRONLY|O_CLOEXEC) = 8</t/vault/A.md>\n',
        'renameat2(7</t/vault>, ".va-1.tmp", 7</t/vault>, "A.md", RENAME_EXCHANGE) = 0\n',
        'unlinkat(7</t/vault/b>, "\\303\\244.md", 0) = 0\n',
        'mkdir("/t/vault/new", 0777) = 0\n',
        "ftruncate(8</t/vault/A.md>, 0) = 0\n",
    ],
)
def test_a_change_of_a_vault_is_found_unless_writing_is_on(tmp_path: Path, change: str):
    (tmp_path / "t.1").write_text(
        'execve("/bin/python", ["python", "-m", "pytest"], 0x7f /* 9 vars */) = 0\n'
        f"{change}clone3({{flags=CLONE_VFORK}}, 88) = 2<python>\n"
    )
    (tmp_path / "t.2").write_text(SERVER + READ + INDEX + "clone(child_stack=NULL) = 3\n")
    (tmp_path / "t.3").write_text(READ)
    assert check([tmp_path]) == 0
    (tmp_path / "t.3").write_text(change)
    assert check([tmp_path]) > 0
    (tmp_path / "t.2").write_text(SERVER + LOG + "clone(child_stack=NULL) = 3\n")
    assert check([tmp_path]) == 0
