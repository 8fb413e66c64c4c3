"""Distributes files over worker processes, and isolates a note that crashes its worker.

The workers are kept between runs. They hold no file of a vault open between two batches, so it can
be unmounted at any time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.errors import Failed
from vault_agent.indexing.changes import vault_moved
from vault_agent.indexing.parse import Batch, FileTask, ParsedFile, unparsed
from vault_agent.store.layout import IndexDirectory
from vault_agent.system.workers import WorkerCrashed, WorkerNotReady, WorkerPool, WorkerTimedOut
from vault_agent.text.names import is_note
from vault_agent.vault.platform import folder_at

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        Awaitable,
        Callable,
        Iterable,
        Iterator,
        Sequence,
    )

    from vault_agent.indexing.protocol import IndexTask
    from vault_agent.system.crash import CrashReport

    Parse = Callable[[list[FileTask], frozenset[str] | None], Awaitable[list[ParsedFile]]]

BATCH_BYTES = 256 << 10
BATCH_FILES = 128
BATCH_ATTACHMENTS = 4
"""Attachments of one batch. A small file may have a long text."""
SECONDS_PER_BATCH = 30.0
SECONDS_PER_NOTE = 5.0
SECONDS_PER_MEGABYTE = 2.0
"""Processor time that a worker may use. The slowest hostile notes take 0.8 s a megabyte."""
WORKERS_TRIED = 3
"""Attempts for one batch if workers end before they receive it."""


Pool = WorkerPool[Batch, list[ParsedFile] | None]


class Parser:
    """Parses the batches of one run in the workers of a pool.

    `on_crash` gets a report of every error that a note raised.
    """

    def __init__(
        self, pool: Pool, task: IndexTask, *, on_crash: Callable[[CrashReport], object]
    ) -> None:
        self._pool = pool
        self._task = replace(task, paths=None)  # which may be many
        self._folder = folder_at(task.root)
        self._texts = str(IndexDirectory(Path(task.directory)).texts)
        self._on_crash = on_crash

    async def parse(
        self, tasks: list[FileTask], repeated: frozenset[str] | None = frozenset()
    ) -> list[ParsedFile]:
        """Parse a batch, in order. See `Batch` for `repeated`.

        Raises:
            Misconfigured: `VAULT_NOT_FOUND` if the vault was moved or unmounted.
            Failed: `INDEXER_FAILED` if no worker starts.
        """
        return await self._settle(tasks, repeated, SECONDS_PER_BATCH)

    async def _settle(
        self, tasks: list[FileTask], repeated: frozenset[str] | None, seconds: float
    ) -> list[ParsedFile]:
        try:
            return await self._run(tasks, repeated, seconds)
        except WorkerCrashed as crash:
            if len(tasks) == 1 and (isinstance(crash, WorkerTimedOut) or crash.report):
                return [self._skipped(tasks[0], crash, repeated)]
        if len(tasks) == 1:
            try:
                # The worker may have been killed from outside, so the note gets a second attempt.
                return await self._run(tasks, repeated, seconds)
            except WorkerCrashed as crash:
                return [self._skipped(tasks[0], crash, repeated)]
        # Halving finds the note in a few steps and keeps the others together.
        middle, seconds = len(tasks) // 2, max(seconds / 2, SECONDS_PER_NOTE)
        return [
            *await self._settle(tasks[:middle], repeated, seconds),
            *await self._settle(tasks[middle:], repeated, seconds),
        ]

    def _skipped(
        self, task: FileTask, crash: WorkerCrashed, repeated: frozenset[str] | None
    ) -> ParsedFile:
        # A note of the sample in which repeated lines are looked for is read once more.
        if crash.report is not None and repeated is not None:
            self._on_crash(crash.report)
        return unparsed(task)

    async def _run(
        self, tasks: list[FileTask], repeated: frozenset[str] | None, seconds: float
    ) -> list[ParsedFile]:
        size = sum(task.entry.size for task in tasks)
        batch = Batch(self._task, self._folder, tasks, self._texts, repeated)
        report: CrashReport | None = None
        for _ in range(WORKERS_TRIED):
            try:
                parsed = await self._pool.run(
                    batch, cpu_seconds=seconds + SECONDS_PER_MEGABYTE * size / 1e6
                )
            except WorkerNotReady as failure:
                report = failure.report
                continue
            if parsed is None:
                raise vault_moved()
            return parsed
        if report is not None:
            self._on_crash(report)
        raise Failed(
            "INDEXER_FAILED",
            "The processes that read notes do not start. An index that was complete"
            " before still serves.",
        )


async def parsed(
    tasks: Sequence[FileTask], parse: Parse, parallel: int, repeated: frozenset[str] | None
) -> AsyncGenerator[list[ParsedFile]]:
    """Yield parsed batches in the order of the tasks, so that equal runs write equal rows.

    `parallel` is the number of batches that are parsed at once. See `Batch` for `repeated`.
    """
    window: deque[asyncio.Task[list[ParsedFile]]] = deque()
    try:
        for batch in _batches(tasks):
            window.append(asyncio.create_task(_awaited(parse(batch, repeated))))
            if len(window) > 2 * parallel:
                yield await window.popleft()
        while window:
            yield await window.popleft()
    finally:
        for waiting in window:
            waiting.cancel()
        if window:  # a worker must be free again before the next run
            await asyncio.wait(window)


def _batches(tasks: Iterable[FileTask]) -> Iterator[list[FileTask]]:
    batch: list[FileTask] = []
    size = 0
    for task in tasks:
        most = BATCH_FILES if is_note(task.entry.path) else BATCH_ATTACHMENTS
        begins = batch and is_note(batch[-1].entry.path) != is_note(task.entry.path)
        if batch and (begins or size + task.entry.size > BATCH_BYTES or len(batch) == most):
            yield batch
            batch, size = [], 0
        batch.append(task)
        size += task.entry.size
    if batch:
        yield batch


async def _awaited(batch: Awaitable[list[ParsedFile]]) -> list[ParsedFile]:
    return await batch
