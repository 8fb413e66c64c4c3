"""Opens the writing of a vault: its log, its limits, and what follows a write.

Small moves and their undo are carried out at once. Large ones are jobs.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from vault_agent.errors import Forbidden, Unavailable, switched_off
from vault_agent.model.jobs import JobKind, JobSummary
from vault_agent.model.warning import Warning
from vault_agent.model.writing import WriteHealth, WriteLimits
from vault_agent.store.write_log import WriteLog
from vault_agent.writing.executor import WriteExecutor
from vault_agent.writing.files import AT_ONCE, Files
from vault_agent.writing.move import MoveControl, MoveStopped
from vault_agent.writing.plan import NeedsJob
from vault_agent.writing.vault_writer import VaultWriter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from vault_agent.config.sections import WriteSettings
    from vault_agent.model.jobs import Job
    from vault_agent.model.writing import Write, Written
    from vault_agent.system.workers import TextWorkers
    from vault_agent.vaults.index_queue import IndexQueue
    from vault_agent.vaults.jobs import ActiveJob, Jobs
    from vault_agent.vaults.runs import VaultCore
    from vault_agent.writing.files import IndexForWrites


class WriteAccess:
    """The writes of one vault, and their indexing.

    Callers may write while `write.enabled` is on. Whether the server may write by itself, as it
    does for journals and promoted notes, is said to `accepting`.
    """

    def __init__(
        self,
        core: VaultCore,
        queue: IndexQueue,
        index: IndexForWrites,
        text_workers: TextWorkers,
        settings: WriteSettings,
    ) -> None:
        """Make it of its parts. `text_workers` limits work on large notes."""
        self._core = core
        self._queue = queue
        self._index = index
        self._text_workers = text_workers
        self._settings = settings
        self._writer: VaultWriter | None = None
        self._refusal: Unavailable | None = None  # while the log cannot be used
        self._by_server = False

    @property
    def files(self) -> Files:
        """Moves, deletes and adds whole files. Raises as `writer`."""
        return Files(self.writer, self._index, self._core.open_root)

    @property
    def writer(self) -> VaultWriter:
        """Carries out the writes that callers ask for.

        Raises:
            Misconfigured: `FEATURE_DISABLED`.
            Unavailable: `WRITE_LOG_DAMAGED`, `STATE_TOO_NEW`.
        """
        if self._refusal is not None and self._settings.enabled:
            raise self._refusal.again()
        if self._writer is None or not self._settings.enabled:
            raise switched_off("write.enabled")
        return self._writer

    @property
    def server_writer(self) -> VaultWriter:
        """Carries out the writes that the server makes by itself, such as promoted notes.

        They need no `write.enabled`. Each has `Write.by_server` set.

        Raises:
            Forbidden: `VAULT_READ_ONLY` if it may not write in this vault by itself.
            Unavailable: as `writer`.
        """
        if self._refusal is not None and self._by_server:
            raise self._refusal.again()
        if self._writer is None or not self._by_server:
            raise Forbidden("VAULT_READ_ONLY", "The notes of this vault are never changed.")
        return self._writer

    @asynccontextmanager
    async def accepting(self, *, by_server: bool = False) -> AsyncIterator[None]:
        """Accept writes, if that is enabled, once what a crash has interrupted is finished.

        With `by_server` the server's own writes are accepted, also while all others are off.

        Raises:
            Busy: `INDEX_LOCKED` if another process may change notes of this vault.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        self._by_server = by_server
        if not (self._settings.enabled or by_server):
            yield
            return
        with self._core.directory.changing_notes():
            try:
                self._writer = await asyncio.to_thread(self._open)
            except Unavailable as error:
                self._refusal = error
                yield
                return
            running = asyncio.create_task(self._writer.run())
            try:
                yield
            finally:
                running.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([running])
                    await self._writer.close()
                self._writer = None

    def health(self) -> WriteHealth:
        """Return how the vault is written."""
        if not self._settings.enabled:
            return WriteHealth()
        if self._refusal is not None:
            return WriteHealth(enabled=True, state="unsupported")
        return WriteHealth() if self._writer is None else self._writer.health()

    def warnings(self) -> tuple[Warning, ...]:
        """Return the warnings for the server's state."""
        if self._refusal is not None:
            return (Warning(self._refusal.code, *self._refusal.over_http()),)
        return () if self._writer is None else self._writer.warnings()

    def _open(self) -> VaultWriter:
        log = WriteLog.open(self._core.directory.writes, self._core.directory.bytes_before)
        settings = self._settings
        limits = WriteLimits(
            folders=tuple("" if folder == "." else folder for folder in settings.folders),
            quiet_seconds=settings.quiet_seconds,
            max_per_minute=settings.max_per_minute,
            undo_days=settings.undo_days,
            sets_updated=self._core.spec.has_note_types,  # in vaults of projects, and in global
        )
        executor = WriteExecutor(self._core.open_root, log, limits, self._core.spec.exclusions)
        return VaultWriter(
            executor,
            self._queue.index,
            self._text_workers,
            knows=self._index.knows,
            on_written=self._core.events.add,
            on_crash=partial(self._core.on_crash, "server"),
        )


async def move(
    files: Files, jobs: Jobs, path: str, to: str, write: Write, *, rewrite_links: bool, waits: bool
) -> Written | Job:
    """Move a file or folder. If this changes many links, start a job and return it.

    There are many over 5,000, or in over 50 notes. Without a job if `waits`, and for a dry run.

    Raises:
        Busy: `INDEX_BUSY` with `details.jobId` while another job is active.
        VaultAgentError: as `Files.move`.
    """
    control = MoveControl(at_once=None if waits or write.dry_run else AT_ONCE)
    try:
        return await files.move(path, to, write, rewrite_links=rewrite_links, control=control)
    except NeedsJob:
        pass

    async def work(progress: ActiveJob) -> JobSummary:
        return await _as_job(files, path, to, write, progress, rewrite_links=rewrite_links)

    return await jobs.submit(JobKind.MOVE, work)


async def undo(
    writer: VaultWriter,
    jobs: Jobs,
    write_id: str | None,
    write: Write,
    *,
    copy_beside: bool,
    waits: bool,
) -> Written | Job:
    """Take back a write. If it has changed over 50 files, start a job and return it.

    Without a job if `waits`, and for a dry run.

    Raises:
        Busy: `INDEX_BUSY` with `details.jobId` while another job is active.
        VaultAgentError: as `VaultWriter.undo`.
    """
    at_once = None if waits or write.dry_run else AT_ONCE
    try:
        return await writer.undo(write_id, write, copy_beside=copy_beside, at_once=at_once)
    except NeedsJob:
        pass

    async def work(progress: ActiveJob) -> JobSummary:
        progress.phase("write", 0, None)
        outcome = await _finish(writer.undo(write_id, write, copy_beside=copy_beside))
        return _summary(outcome, progress)

    return await jobs.submit(JobKind.UNDO, work)


async def _as_job(
    files: Files, path: str, to: str, write: Write, progress: ActiveJob, *, rewrite_links: bool
) -> JobSummary:
    """Move, and report the progress. A cancellation stops the plan, but never the move itself."""
    loop = asyncio.get_running_loop()
    stop = threading.Event()

    def planned(done: int, notes: int) -> None:
        loop.call_soon_threadsafe(progress.phase, "plan", done, notes)
        if done == notes:
            loop.call_soon_threadsafe(progress.phase, "write", 0, notes)

    progress.phase("plan", 0, None)
    control = MoveControl(stopped=stop.is_set, on_plan=planned)
    moving = files.move(path, to, write, rewrite_links=rewrite_links, control=control)
    try:
        outcome = await _finish(moving, stop.set)
    except MoveStopped:
        raise asyncio.CancelledError from None
    return _summary(outcome, progress)


async def _finish(
    writing: Coroutine[Any, Any, Written], on_cancel: Callable[[], object] = lambda: None
) -> Written:
    """Return what a write returns, also if its job is cancelled meanwhile."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        on_cancel()
        await asyncio.wait([task])
        return task.result()


def _summary(outcome: Written, progress: ActiveJob) -> JobSummary:
    notes = outcome.file_count
    progress.phase("write", notes, notes)
    for warning in outcome.warnings:
        progress.warn(warning)
    return JobSummary(changed=notes, links=outcome.spans, write_id=outcome.write_id)
