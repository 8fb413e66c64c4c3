"""The program's files are private for every umask."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.product.endpoint import running_endpoint
from tests.support.folders import below
from tests.support.program import Program
from tests.support.waiting import eventually


def open_to_others(folder: Path) -> dict[str, str]:
    """Return files and folders that other users can access, with their modes."""
    modes = {}
    for path in (folder, *below(folder, "*")):
        with suppress(FileNotFoundError):  # one that the server has just removed
            modes[str(path.relative_to(folder))] = path.stat().st_mode & 0o777
    return {path: oct(mode) for path, mode in modes.items() if mode & 0o077}


@pytest.mark.fault(
    "The index",
    "the server is started with umask 000",
    "every file and folder of the index is private",
)
@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_all_files_are_private_for_every_umask(program: Program):
    program.indexes = program.indexes / "made" / "by us"
    before = os.umask(0o000)
    try:
        with running_endpoint(program):
            program.start()
            program.index()
            program.write("New.md", "# New\n\nanother note\n")
            program.index()
            program.index("reindex")
            eventually(
                lambda: program.search("sourdough").data["usedMode"], lambda mode: mode == "hybrid"
            )
            assert open_to_others(program.indexes.parent) == {}
            program.stop()
        assert open_to_others(program.indexes.parent) == {}
        names = {path.name for path in below(program.indexes, "*")}
        assert {"jobs.db", "index.db", "current", "vectors.db", "1.rows"} <= names
    finally:
        os.umask(before)
