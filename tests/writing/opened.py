"""A vault on disk that is written, without a server and without an index."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async

from vault_agent.markdown.edit import append, overwrite
from vault_agent.model.identifiers import content_hash
from vault_agent.model.writing import (
    IndexState,
    LoggedWrite,
    Right,
    VaultChange,
    Write,
    WriteLimits,
    WriteTimes,
    Written,
)
from vault_agent.store.write_log import WriteLog
from vault_agent.system.crash import CrashReport
from vault_agent.system.workers import TextWorkers
from vault_agent.text.names import TEMP_FOLDER
from vault_agent.vault import folder
from vault_agent.vault.paths import Exclusions
from vault_agent.vault.root import VaultRoot
from vault_agent.writing.executor import WriteExecutor
from vault_agent.writing.vault_writer import VaultWriter

QUIET = WriteLimits(quiet_seconds=0, times=WriteTimes(closing=0.0, look_pause=0.02))


def lingering(seconds: float) -> WriteLimits:
    """Return limits with which displaced files stay for so long, or until the vault is closed."""
    return replace(QUIET, times=replace(QUIET.times, linger=seconds))


class Vault:
    """A folder of notes, and the writes of it."""

    def __init__(self, folder: Path, limits: WriteLimits = QUIET, *patterns: str) -> None:
        self.root = folder / "vault"
        self.root.mkdir(exist_ok=True)
        self.data = folder / "data"
        self.data.mkdir(exist_ok=True)
        self.limits = limits
        self.exclusions = Exclusions(patterns)
        self.followed: list[str] = []
        self.events: list[LoggedWrite] = []
        self.crashes: list[CrashReport] = []
        self.known: set[str] = set()  # the notes of its index
        self.sought: list[str] = []  # what its index was asked for
        self.writer: VaultWriter
        self.text_workers = TextWorkers()
        self.killed: list[VaultWriter] = []

    def executor(self) -> WriteExecutor:
        """Open the log."""
        log = WriteLog.open(self.data / "writes.db", self.data / "writes" / "before")
        return WriteExecutor(
            lambda: VaultRoot.open(self.root, self.exclusions),
            log,
            self.limits,
            self.exclusions,
        )

    async def knows(self, path: str) -> bool:
        self.sought.append(path)
        return path in self.known

    async def follow(self, paths: Sequence[str], wait_ms: int) -> IndexState:
        self.followed += paths
        return IndexState("indexed", 1, len(self.followed))

    @asynccontextmanager
    async def opened(self, *, close: bool = True) -> AsyncIterator[VaultWriter]:
        """Open the vault, recover, and run. Without `close` it ends as a killed process does."""
        self.writer = VaultWriter(
            self.executor(),
            self.follow,
            self.text_workers,
            knows=self.knows,
            on_written=self.events.append,
            on_crash=self.crashes.append,
        )
        running = asyncio.create_task(self.writer.run())
        try:
            await asyncio.wait_for(self.writer.ready(), PATIENCE)
            yield self.writer
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            await self.text_workers.__aexit__(None, None, None)
            if close:
                await self.writer.close()
            else:
                self.killed.append(self.writer)

    def bury(self) -> None:
        """Close what the system closes when it kills a process: logs and threads."""
        for writer in self.killed:
            writer._looking.close()
            writer._threads.close()
            writer._executor.log.close()

    # --- files ----------------------------------------------------------------------------------

    def put(self, path: str, data: bytes | str) -> Path:
        """Write a file as a person would."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file

    def bytes(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def tree(self) -> dict[str, bytes]:
        """Return all files with their bytes, also temporary ones."""
        ignored = self.root / TEMP_FOLDER / ".gitignore"
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file() and path != ignored
        }

    def temporaries(self) -> list[str]:
        """Return the paths of temporary files."""
        found = self.root.rglob(".va-*")
        return [path.relative_to(self.root).as_posix() for path in found]

    # --- writes ---------------------------------------------------------------------------------

    async def append(self, path: str, text: str, **more: Any) -> Written:
        made = write("append", Right.APPEND, may_replan=True, **more)
        return await self.writer.edit(path, made, lambda note: append(note, text))

    async def overwrite(self, path: str, text: str, **more: Any) -> Written:
        made = write("overwrite", Right.OVERWRITE, **more)
        return await self.writer.edit(path, made, lambda note: overwrite(note, text))

    async def create(self, path: str, text: str | bytes, **more: Any) -> Written:
        data = text.encode() if isinstance(text, str) else text
        return await self.writer.create(path, write("create", Right.CREATE, **more), data)

    async def remove(self, path: str, *, permanent: bool = False, **more: Any) -> Written:
        made = write("delete", Right.DELETE, **more)
        return await self.writer.remove(path, made, permanent=permanent)

    async def undo(
        self, write_id: str | None = None, *, copy: bool = False, **more: Any
    ) -> Written:
        made = write("undo", Right.EDIT, **more)
        return await self.writer.undo(write_id, made, copy_beside=copy)


async def settled(vault: Vault) -> None:
    """Look at displaced files until none is left."""

    def hurried() -> list[str]:
        vault.writer._executor.linger.hurry()
        return vault.temporaries()

    await eventually_async(hurried, lambda left: not left)


def write(operation: str, right: Right, **more: Any) -> Write:
    """Return what an operation passes."""
    return Write(operation=operation, right=right, **more)


def move(path: str, to: str, content: bytes) -> VaultChange:
    """Return the move of a file with some bytes."""
    return VaultChange.move(path, to, content_hash(content), len(content))


def save_by_rename(file: Path, data: bytes) -> None:
    """Save as many editors do: a new file is renamed over the old one."""
    new = file.with_name(f".{file.name}.saving")
    new.write_bytes(data)
    new.replace(file)


def separate_file_systems(monkeypatch: pytest.MonkeyPatch, mounted: Path) -> None:
    """Let a folder be on another file system than all others."""
    inode = mounted.stat().st_ino

    def refused(call: Any) -> Any:
        def checked(fd: int, name: str, other: int, to: str) -> None:
            inside = [os.fstat(each).st_ino == inode for each in (fd, other)]
            if inside[0] != inside[1]:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            call(fd, name, other, to)

        return checked

    for name in ("exchange", "rename_new"):
        monkeypatch.setattr(folder, name, refused(getattr(folder, name)))
