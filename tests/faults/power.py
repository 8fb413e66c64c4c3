"""What a power cut would lose: every call of a run that changes the disk, in order.

As a program (`python -m tests.faults.power SCENARIO FOLDER TRACE`, with the library of
`failing.c` preloaded) it writes them down while one run of a scenario goes well.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.faults.disk import Embedding, FailingDisk, Scenario, run_module
from tests.faults.failing_writes import OPERATIONS, notes_of

from vault_agent.system.files import is_unfinished

_WRITING = {"write", "pwrite", "pwrite64", "ftruncate", "ftruncate64", "sendfile", "sendfile64"}
_NAMING = {"open", "mkdir", "mkdirat", "link", "linkat", "rename", "renameat", "renameat2"}
_LEAVING = {"unlink", "unlinkat", "rmdir"}


class Volatile:
    """What a power cut would lose now: content and names that are not synced."""

    def __init__(self) -> None:
        self.content: set[str] = set()
        self.names: set[str] = set()

    def take(self, call: str, path: str) -> None:
        """Process the next call."""
        if call in _WRITING:
            # A truncated log has been copied into its database, which was synced first.
            if not (call.startswith("ftruncate") and path.endswith("-wal")):
                self.content.add(path)
        elif call in _NAMING:
            self.names.add(path)
            if call.startswith("rename"):  # the old name is gone, and the new one has its content
                gone = self.unfinished(path)
                if self.content & gone:
                    self.content = self.content - gone | {path}
                self.names -= gone
        elif call in _LEAVING:
            self.content.discard(path)
            self.names.discard(path)
        elif call in ("fsync", "fdatasync"):  # syncs a file's content or a folder's names
            self.content.discard(path)
            self.names = {name for name in self.names if name.rpartition("/")[0] != path}

    def unfinished(self, path: str) -> set[str]:
        """Return what would be lost of a file that is about to replace `path`."""
        folder = path.rpartition("/")[0]
        return {
            lost
            for lost in self.content | self.names
            if lost.rpartition("/")[0] == folder and is_unfinished(lost.rpartition("/")[2])
        }

    def below(self, *beginnings: str) -> set[str]:
        """Return what would be lost below a path prefix."""
        return {
            path
            for path in self.content | self.names
            if path.startswith(beginnings) and not path.endswith((".lock", "-shm"))
        }


def calls_of(library: Path, folder: Path, scenario: str) -> Iterator[tuple[str, str]]:
    """Run a scenario in a separate process, and yield its calls: (name, path).

    The full-text engine renames without the C library; that it has made a file in the folder shows.
    """
    trace = folder / "trace"
    watched = folder / "watched"
    watched.mkdir()
    run_module("power", scenario, watched, trace, library=library)
    for line in trace.read_text().splitlines():
        call, path = line.split("\t")
        yield call, path


def main(scenario: str, folder: str, trace: str) -> None:
    """Record the calls of one run, or of one write."""
    if scenario in OPERATIONS:
        asyncio.run(_write(scenario, Path(folder), trace))
        return
    run = (Embedding if scenario == "embed" else Scenario)(scenario, Path(folder))
    asyncio.run(run.prepare())
    run.reset()
    if scenario == "embed":  # for the first time
        shutil.rmtree(run.vault.directory.vectors.with_suffix(""))
        for file in run.vault.directory.path.glob("vectors.db*"):
            file.unlink()
    disk = FailingDisk()
    assert ctypes.CDLL(None).faults_trace(os.fsencode(trace)) >= 0
    disk.arm(Path(folder), 0, 0, lasting=False)
    asyncio.run(run.run())
    disk.disarm()


async def _write(operation: str, folder: Path, trace: str) -> None:
    vault = notes_of(folder)
    async with vault.opened(close=False):
        if operation == "undo":
            await OPERATIONS["append"](vault)
        disk = FailingDisk()
        assert ctypes.CDLL(None).faults_trace(os.fsencode(trace)) >= 0
        disk.arm(folder, 0, 0, lasting=False)
        await OPERATIONS[operation](vault)
        disk.disarm()


if __name__ == "__main__":
    main(*sys.argv[1:])
