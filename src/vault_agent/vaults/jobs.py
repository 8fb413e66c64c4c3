"""Jobs: one at a time, with recorded states, progress and cancellation.

The work of a job is a coroutine function that the caller passes. It reports its progress.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio

from vault_agent.errors import Busy, IndexUnavailable, NotFound, VaultAgentError
from vault_agent.model.jobs import (
    Job,
    JobKind,
    JobState,
    JobSummary,
    PhaseProgress,
    Trigger,
    Waiting,
)
from vault_agent.model.warning import MAX_WARNINGS, Warning
from vault_agent.system.crash import describe_crash
from vault_agent.vaults.event_stream import Signal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from vault_agent.store.jobs import JobStore
    from vault_agent.system.crash import CrashReport

    Work = Callable[["ActiveJob"], Coroutine[Any, Any, JobSummary]]

WATCH_INTERVAL_SECONDS = 0.2
_RATE_WINDOW_SECONDS = 5.0
STALL_SECONDS = 15.0
"""After this time without progress, a job is shown without a rate and without the time left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBody:
    """How notes are indexed."""

    require_embeddings: bool = False
    """Fail the job if embeddings cannot be made."""
    fresh_embeddings: bool = False
    """Embed every text again and reuse no vectors."""


class Jobs:
    """Submits, watches and cancels jobs. At most one is active."""

    def __init__(
        self,
        store: JobStore,
        on_crash: Callable[[CrashReport], object] = lambda _: None,
        on_change: Callable[[Job], object] = lambda _: None,
        turn: asyncio.Lock | None = None,
    ) -> None:
        """Record jobs in `store`. A job is queued until it has the `turn`, which vaults share."""
        self._store = store
        self._turn = turn or asyncio.Lock()
        self._on_change = on_change  # called when a job starts, and when it ends
        self._on_crash = on_crash  # called when an unexpected error ends a job
        self._active: ActiveJob | None = None
        self._submitting: set[asyncio.Task[Job]] = set()
        self._unrecorded: dict[str, Job] = {}  # jobs whose end could not be recorded

    @property
    def running(self) -> Job | None:
        """The current state of the active job, or None."""
        return self._active.shown if self._active else None

    @property
    def is_indexing(self) -> bool:
        """Whether a job of the index is active."""
        return self.indexing is not None

    @property
    def indexing(self) -> Job | None:
        """The active job if it is one of the index, or None."""
        running = self.running
        return running if running is not None and running.kind.indexes else None

    async def submit(self, kind: JobKind, work: Work, trigger: Trigger = Trigger.USER) -> Job:
        """Start a job that does `work`, and return it.

        Raises:
            Busy: `INDEX_BUSY` with `details.jobId` while another one is active.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR` if it cannot be recorded.
        """
        # Shielded: a caller that is cancelled between the insert and the start of the work must
        # not leave a row that stays "queued".
        submitting = asyncio.create_task(self._submit(kind, work, trigger))
        self._submitting.add(submitting)
        submitting.add_done_callback(self._submitting.discard)
        return await asyncio.shield(submitting)

    async def _submit(self, kind: JobKind, work: Work, trigger: Trigger) -> Job:
        if (running := self.running) is not None:
            details = {"jobId": running.id}
            raise Busy("INDEX_BUSY", "An index job is already running.", details)
        job = Job(
            id=f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(4)}",
            kind=kind,
            state=JobState.QUEUED,
            created_at=timestamp(),
            trigger=trigger,
        )
        active = self._active = ActiveJob(job)
        try:
            with suppress(IndexUnavailable):  # the record is damaged: the next start replaces it
                await self._store.insert(job)
        except BaseException:
            self._active = None
            active.end()
            raise
        active.work = asyncio.ensure_future(self._in_turn(work, active))
        self._on_change(job)
        active.recorder = asyncio.create_task(self._run_to_end(active, active.work))
        return job

    async def _in_turn(self, work: Work, active: ActiveJob) -> JobSummary:
        async with self._turn:
            active.begun.set()
            return await work(active)

    async def get(self, job_id: str) -> Job:
        """Return the current state of one job.

        Raises:
            NotFound: `JOB_NOT_FOUND`.
        """
        if self._active and self._active.job.id == job_id:
            return self._active.shown
        job = await self._store.get(job_id)
        if job is None:
            raise NotFound("JOB_NOT_FOUND", "There is no such job.")
        return self._ended(job)

    async def list(self) -> tuple[Job, ...]:
        """Return the last hundred jobs, newest first."""
        jobs = await self._store.list()
        running = self.running
        return tuple(
            running if running is not None and job.id == running.id else self._ended(job)
            for job in jobs
        )

    async def list_finished(self) -> tuple[Job, ...]:
        """Return the jobs of the index that have ended, newest first."""
        jobs = await self.list()
        return tuple(job for job in jobs if job.kind.indexes and job.state.final)

    async def cancel(self, job_id: str) -> Job:
        """Cancel a job, wait for its end, and return it. A job that has ended stays as it is."""
        active = self._active
        if active is not None and active.job.id == job_id:
            active.cancel()
            await active.ended.wait()
            return active.job
        return await self.get(job_id)

    async def watch(self, job_id: str) -> AsyncIterator[Job]:
        """Yield a job now, at each change (at most five times a second), and at its end."""
        active = self._active
        if active is None or active.job.id != job_id:
            yield await self.get(job_id)
            return
        while True:
            job, display = active.job, active.shown
            yield display
            if job.state.final:
                return
            if active.job is job:
                with anyio.move_on_after(STALL_SECONDS if active.can_stall else math.inf):
                    await active.change.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(active.ended.wait(), WATCH_INTERVAL_SECONDS)

    async def close(self) -> None:
        """End the active job as interrupted: the server is stopping."""
        await asyncio.gather(*self._submitting, return_exceptions=True)
        if self._active is not None:
            self._active.cancel(JobState.INTERRUPTED)
            await self._active.ended.wait()

    async def _run_to_end(self, active: ActiveJob, work: asyncio.Future[JobSummary]) -> None:
        """Run a job and record its end. Cancellation stops the work, not the record."""
        try:
            if await _first(active.begun, work):
                active.update(state=JobState.RUNNING, started_at=timestamp())
                await self._record(active.job)
            await _first(active.index_complete, work)
            if not work.done():
                # Recorded now, in case the server is killed while it embeds.
                await self._record(active.job)
                await asyncio.wait({work})
            final = replace(
                active.job,
                finished_at=timestamp(),
                rate=None,
                character_rate=None,
                eta_seconds=None,
                **self._outcome(work, active.cancelled_as),
            )
            # Recorded before watchers see it: they may then submit the next job.
            await self._record(final)
            active.job = final
            self._on_change(final)
        finally:
            if self._active is active:
                self._active = None
            active.end()

    def _outcome(
        self, work: asyncio.Future[JobSummary], cancelled_as: JobState | None
    ) -> dict[str, Any]:
        """Return the outcome of the work as fields of its job."""
        if work.cancelled():
            return {"state": cancelled_as or JobState.INTERRUPTED}
        error = work.exception()
        if error is None:
            return {"state": JobState.SUCCEEDED, "summary": work.result()}
        if isinstance(error, VaultAgentError):
            warning = Warning(error.code, *error.over_http())
        else:
            crash = describe_crash(error)
            self._on_crash(crash)
            warning = Warning(
                "INTERNAL_ERROR",
                f"The job failed unexpectedly ({crash}). An index that was complete"
                " before still serves. "
                "Start the job again.",
            )
        return {"state": JobState.FAILED, "error": warning}

    async def _record(self, job: Job) -> None:
        """Record a job's state, and go on if that fails, as on a full disk."""
        try:
            await self._store.update(job)
        except VaultAgentError:
            if job.state.final:
                self._unrecorded[job.id] = job

    def _ended(self, job: Job) -> Job:
        """Return a recorded job that is not active. One whose end is missing was interrupted."""
        if job.state.final:
            return job
        return self._unrecorded.get(job.id) or replace(job, state=JobState.INTERRUPTED, rate=None)


async def _first(event: asyncio.Event, work: asyncio.Future[Any]) -> bool:
    """Wait for an event or for the end of the work. Return whether the event has happened."""
    waiting = asyncio.create_task(event.wait())
    waited: set[asyncio.Future[Any]] = {work, waiting}
    try:
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    return event.is_set()


class ActiveJob:
    """The active job: its state, which its work reports, and events for tasks that wait for it."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.work: asyncio.Future[JobSummary] | None = None
        self.recorder: asyncio.Task[None] | None = None  # a reference, so that it is not collected
        self.change = Signal()
        self.ended = asyncio.Event()
        self.begun = asyncio.Event()
        self.index_complete = asyncio.Event()
        self.cancelled_as: JobState | None = None
        self._phases: dict[str, PhaseProgress] = {}
        self._advanced_at = time.monotonic()
        self._asked: str | None = None
        self._rate, self._character_rate = _Rate(), _Rate()

    @property
    def shown(self) -> Job:
        """The job as it is shown: without a rate and the time left if it does not advance."""
        still = time.monotonic() - self._advanced_at
        if not self.can_stall or still < STALL_SECONDS:
            return self.job
        waiting = None if self._asked is None else Waiting(self._asked, still)
        return replace(self.job, rate=None, character_rate=None, eta_seconds=None, waiting=waiting)

    @property
    def can_stall(self) -> bool:
        """Whether `shown` is another after `STALL_SECONDS` without progress."""
        return not self.job.state.final and (self.job.rate is not None or self._asked is not None)

    def phase(
        self,
        name: str,
        done: int,
        total: int | None,
        characters: int = 0,
        endpoint: str | None = None,
    ) -> None:
        """Report the progress of a phase, which becomes the current one.

        `characters` is the amount of text processed, for phases whose time depends on it.
        `endpoint` is the address that the phase cannot advance without.
        """
        now = time.monotonic()
        if self.job.phase != name:
            self._rate, self._character_rate = _Rate(), _Rate()
        if self._phases.get(name) != (progress := PhaseProgress(name, done, total)):
            self._advanced_at = now
        self._phases[name] = progress
        self._asked = endpoint
        rate = self._rate.observe(now, done)
        remaining = None if total is None or not rate else max(total - done, 0) / rate
        self.update(
            phase=name,
            phases=tuple(self._phases.values()),
            rate=rate,
            character_rate=self._character_rate.observe(now, characters) or None,
            eta_seconds=remaining,
        )

    def warn(self, warning: Warning) -> None:
        """Add a warning."""
        count = self.job.warning_count + 1
        kept = self.job.warnings
        self.update(
            warnings=(*kept, warning) if count <= MAX_WARNINGS else kept, warning_count=count
        )

    def index_finished(self) -> None:
        """Report that the index is complete. A later failure does not make it incomplete."""
        self.update(index_finished=True)
        self.index_complete.set()

    def update(self, **changes: Any) -> None:
        """Change fields of the job's state."""
        self.job = replace(self.job, **changes)
        self.change.announce()

    def cancel(self, state: JobState = JobState.CANCELLED) -> None:
        """Cancel the work; the job then ends with this state."""
        # Only once: a second cancellation would interrupt the cleanup of the work.
        if self.work is not None and not self.work.done() and self.cancelled_as is None:
            self.cancelled_as = state
            self.work.cancel()

    def end(self) -> None:
        """Wake the tasks that wait for the end of the job."""
        self.ended.set()
        self.change.announce()


class _Rate:
    """Items a second over the last few seconds, to estimate the time left."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, int]] = []

    def observe(self, now: float, done: int) -> float | None:
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[0][0] > _RATE_WINDOW_SECONDS:
            self._seen.pop(0)
        began, first = self._seen[0]
        return (done - first) / (now - began) if now - began > 0.2 else None


def timestamp() -> str:
    """Return the present time: ISO 8601, UTC, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
