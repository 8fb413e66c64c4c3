"""The progress of one run of a watch, for a job that may follow it and for its record."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from vault_agent.indexing.protocol import Phase

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.freshness.debounce import Batch
    from vault_agent.freshness.indexer import RunEvent
    from vault_agent.freshness.jobs import Progress
    from vault_agent.indexing.task import IndexRun
    from vault_agent.model.jobs import JobSummary


class Scan:
    """One run of a watch: its progress, for a job that may follow it."""

    def __init__(self, batch: Batch, on_served: Callable[[Batch], object]) -> None:
        self.found = asyncio.Event()  # the run reads files
        self._batch = batch
        self._on_served = on_served
        self._marks: list[tuple[str, float]] = [("queue", batch.began)]
        self._phases: dict[str, Phase] = {}
        self._progress: Progress | None = None

    def hear(self, event: RunEvent) -> None:
        """Note the progress of the run."""
        if isinstance(event, Phase):
            if event.name != self._marks[-1][0]:
                self._marks.append((event.name, time.monotonic()))
            self._phases[event.name] = event
            if event.name == "parse" and event.total:
                self.found.set()
            self._tell(event)

    def served(self) -> None:
        """Note that searches see the changes."""
        self._marks.append(("served", time.monotonic()))
        self._on_served(self._batch)

    async def found_or(self, work: asyncio.Future[IndexRun]) -> None:
        """Wait until the run reads a file or ends."""
        found = asyncio.create_task(self.found.wait())
        waited: set[asyncio.Future[Any]] = {work, found}
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            found.cancel()

    async def follow(self, progress: Progress, work: asyncio.Future[IndexRun]) -> JobSummary:
        """Report the rest of the run to a job, and return its summary."""
        self._progress = progress
        for phase in self._phases.values():
            self._tell(phase)
        run = await work
        progress.index_finished()
        return run.summary

    def milliseconds(self) -> dict[str, int]:
        """Return the time of each phase, that of the wait for it, and the whole time."""
        now = time.monotonic()
        ends = [*(at for _, at in self._marks[1:]), now]
        names = {"served": "finish"}
        found = {
            names.get(name, name): round(1000 * (end - at))
            for (name, at), end in zip(self._marks, ends, strict=True)
        }
        if self._batch.since is not None:
            found["wait"] = round(1000 * (self._batch.began - self._batch.since))
        return {**found, "total": round(1000 * (now - self._batch.began))}

    def _tell(self, event: Phase) -> None:
        if self._progress is not None:
            self._progress.phase(event.name, event.done, event.total, event.characters)


def has_changes(run: IndexRun) -> bool:
    """Whether a run has changed any note in the index."""
    summary = run.summary
    return bool(summary.added or summary.changed or summary.removed or summary.renamed)
