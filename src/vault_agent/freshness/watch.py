"""Watching a vault: listens to the watcher process, and looks at what has changed.

Over 300 lines: the state of a watch is reported, warned about and acted upon in one place. What is
looked at and when is decided in `debounce`.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from vault_agent.errors import VaultAgentError
from vault_agent.freshness.debounce import Debounce, Hearing, poll_pause
from vault_agent.freshness.jobs import timestamp
from vault_agent.freshness.process import IndexingProcess, pause_seconds
from vault_agent.freshness.scan import Scan, has_changes
from vault_agent.indexing.protocol import (
    Away,
    Beat,
    Crashed,
    Seen,
    SeenMuch,
    WatchEvent,
    Watching,
)
from vault_agent.indexing.protocol import Watch as WatchRequest
from vault_agent.model.jobs import JobKind, JobState, JobSummary, Trigger
from vault_agent.model.warning import Warning
from vault_agent.model.watch import SaveToHit, WatchBatch, WatchState, WatchStatus
from vault_agent.system.cancelling import to_its_end
from vault_agent.system.crash import describe_crash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.config.sections import WatchSettings
    from vault_agent.freshness.debounce import Batch
    from vault_agent.freshness.jobs import Jobs
    from vault_agent.freshness.own_writes import OwnWrites
    from vault_agent.freshness.runs import IndexedVault, Runs
    from vault_agent.indexing.task import IndexRun

COMMAND = (sys.executable, "-P", "-c", "from vault_agent.indexing.watcher import main; main()")
SILENCE_SECONDS = 15.0
"""A watcher that is silent for longer is taken for dead."""
START_SECONDS = 300.0
"""How long a watcher may take until it watches a large vault."""
BEHIND_SECONDS = 3.0
OLD_SECONDS = 30.0
"""A change of this age should have been named by an event."""
RETRY_SECONDS = 3_600.0
"""After this time in polling, the system's events are tried again."""
SECONDS_UNTIL_JOB = 2.0
PATHS_OF_A_JOB = 500
BATCHES = 100
_SAMPLES = 1_000
_EMBED_RETRIES = (60.0, 600.0)  # the first and the longest pause while the endpoint fails
_LONGEST_EMBED_DELAY = 10  # times the delay: someone who never stops typing
_OTHER_FOLDER_SECONDS = 60.0
_REASONS = {
    "WATCH_LIMIT": "This vault has {folders:,} folders{limit}, and not all of them can be watched.",
    "WATCH_DEAF": "The system does not report all changes of this vault.",
}


class Watch:
    """The watch of one vault. Without `start` it is off."""

    def __init__(
        self,
        vault: IndexedVault,
        runs: Runs,
        jobs: Jobs,
        own: OwnWrites,
        settings: WatchSettings,
    ) -> None:
        self._vault = vault
        self._runs = runs
        self._jobs = jobs
        self._own = own
        self._settings = settings
        self._background = vault.background
        self._debounce = Debounce(
            quiet=settings.quiet_ms / 1000,
            longest=settings.max_delay_ms / 1000,
            grace=settings.removal_grace_ms / 1000,
        )
        self._hearing = Hearing()
        self._wake = anyio.Event()
        self._state = WatchState.OFF
        self._told: tuple[object, ...] = ()
        self._settled = anyio.Event()
        self._watching: Watching | None = None  # the last of the running watcher
        self._folder: tuple[int, ...] | None = None
        self._other: tuple[int, ...] | None = None
        self._other_check_at = 0.0
        self._reason: str | None = None
        self._events_again_at: float | None = None
        self._restart_wanted = False
        self._restarts = self._deaths = 0
        self._beat = 0.0
        self._scan_at: float | None = None
        self._scan_took = 0.0
        self._embed_at: float | None = None
        self._embed_latest: float | None = None
        self._embed_failures = 0
        self._times: dict[str, str] = {}
        self._samples: deque[float] = deque(maxlen=_SAMPLES)
        self._batches: deque[WatchBatch] = deque(maxlen=BATCHES)

    # --- what is told ---------------------------------------------------------------------------

    @property
    def state(self) -> WatchState:
        """The state at this moment."""
        if self._state in (WatchState.WATCHING, WatchState.POLLING, WatchState.AWAY) and (
            time.monotonic() - self._beat > SILENCE_SECONDS
        ):
            return WatchState.STOPPED
        return self._state

    @property
    def is_live(self) -> bool:
        """Whether changes are noticed."""
        return self.state in (WatchState.WATCHING, WatchState.POLLING)

    @property
    def batches(self) -> tuple[WatchBatch, ...]:
        """The last hundred runs, newest first."""
        return tuple(reversed(self._batches))

    def status(self) -> WatchStatus:
        """Return the whole state."""
        samples = sorted(self._samples)
        hits = None
        if samples:
            middle, late = samples[len(samples) // 2], samples[-(len(samples) // 100) - 1]
            hits = SaveToHit(round(middle * 1000), round(late * 1000), len(samples))
        return WatchStatus(
            enabled=self._settings.enabled,
            state=self.state,
            mode=self._watching.mode if self._watching is not None else None,
            reason=self._reason,
            folders=self._watching.folders if self._watching is not None else 0,
            beat_at=self._times.get("beat"),
            last_event_at=self._times.get("event"),
            last_run_at=self._times.get("run"),
            last_scan_at=self._times.get("scan"),
            pending=self._debounce.pending + self._own.pending,
            lag_seconds=round(self._debounce.lag(time.monotonic()), 1),
            save_to_hit_ms=hits,
            missed=self._hearing.missed,
            everything={"overflow": 0, "gap": 0, "scan": 0, **self._debounce.wholes},
            restarts=self._restarts,
        )

    def warnings(self) -> tuple[Warning, ...]:
        """Return the warnings for a reply from the index."""
        state = self.state
        if state is WatchState.STOPPED:
            what = "The watcher does not answer, so changes are not noticed. It is started again."
            return (Warning.of("WATCH_STOPPED", what),)
        if state is WatchState.AWAY:
            what = "another folder" if self._other is not None else "nothing"
            return (
                Warning.of(
                    "VAULT_NOT_FOUND",
                    f"The vault's folder is missing: its path leads to {what}. The index still "
                    "serves, and nothing is removed from it.",
                ),
            )
        lag = self._debounce.lag(time.monotonic())
        if self.is_live and lag > BEHIND_SECONDS:
            pending = self._debounce.pending
            what = f"Changes of the last {lag:.0f} seconds are not searched yet."
            details = {"pending": pending, "seconds": round(lag, 1)}
            return (Warning.of("INDEX_BEHIND", what, details),)
        return ()

    def notices(self) -> tuple[Warning, ...]:
        """Return the warnings that only the server's state has: why changes are polled."""
        if self._reason is None or self._watching is None:
            return ()
        allowed = _allowed_watches()
        limit = f", the system allows {allowed:,} watches for all programs" if allowed else ""
        what = _REASONS[self._reason].format(folders=self._watching.folders, limit=limit)
        seconds = self._settings.poll_seconds
        details = {"folders": self._watching.folders, "seconds": seconds}
        if allowed and self._reason == "WATCH_LIMIT":
            what = f"{what} Raise fs.inotify.max_user_watches."
        message = f"{what} Changes are found every {seconds} s."
        return (Warning(self._reason, message, details),)

    async def settled(self, seconds: float) -> None:
        """Wait until the vault is watched, at most so many seconds."""
        if self._state is not WatchState.OFF:
            with anyio.move_on_after(seconds):
                await self._settled.wait()

    # --- what is asked --------------------------------------------------------------------------

    def start(self, *, embeddings: bool) -> None:
        """Start to watch in the background."""
        self._state = WatchState.STARTING
        self._background.spawn(self._listen)
        self._background.spawn(self._work)
        if embeddings:
            self._background.spawn(self._embed)

    def look_at(self, paths: Sequence[str]) -> None:
        """Look at these paths as if the system had reported changes there."""
        if self.is_live:
            self._debounce.add(paths, time.monotonic())
            self._wake.set()

    def accept_folder(self) -> None:
        """Take the folder at the vault's path for the vault: someone has indexed it."""
        self._debounce.retry_now()
        if self._state is WatchState.AWAY and self._other is not None:
            self._folder = self._other
            self._restart_wanted = True
        self._wake.set()

    # --- listening ------------------------------------------------------------------------------

    async def _listen(self) -> None:
        while True:
            with suppress(VaultAgentError):  # it could not be started
                await self._listen_to_one()
            if self._restart_wanted:
                self._restart_wanted = False
                continue
            self._restarts += 1
            self._deaths += 1
            self._change(WatchState.STOPPED if self._deaths > 1 else WatchState.STARTING)
            await anyio.sleep(pause_seconds(self._deaths))

    async def _listen_to_one(self) -> None:
        """Start a watcher, and listen until it ends or is silent."""
        polls = self._settings.mode == "poll" or self._events_again_at is not None
        request = WatchRequest(
            self._vault.task.root,
            self._vault.task.exclude,
            "poll" if polls else self._settings.mode,
            self._folder,
            self._vault.task.attachments,
        )
        process = await IndexingProcess[WatchEvent].start(COMMAND)
        self._watching = None
        heard = False
        try:
            await process.send(request)
            while not self._restart_wanted:
                with anyio.move_on_after(SILENCE_SECONDS if heard else START_SECONDS) as patience:
                    event = await process.receive()
                if patience.cancelled_caught or event is None:
                    return
                self._hear(event)
                heard = heard or isinstance(event, Watching | Away)
        finally:
            await to_its_end(process.end())

    def _hear(self, event: WatchEvent) -> None:
        now = time.monotonic()
        if isinstance(event, Beat):
            self._beat = now
            self._times["beat"] = timestamp()
            self._retry(now)
        elif isinstance(event, Seen):
            self._times["event"] = timestamp()
            self._debounce.add(event.paths, now)
        elif isinstance(event, SeenMuch):
            self._debounce.demand(event.reason, now, settle=event.reason == "overflow")
        elif isinstance(event, Watching):
            self._begin(event, now)
        elif isinstance(event, Away):
            self._beat = now
            self._other = event.other
            self._other_check_at = now
            self._change(WatchState.AWAY)
        elif isinstance(event, Crashed):
            self._vault.on_crash(event.process, event.report)
        self._wake.set()

    def _begin(self, event: Watching, now: float) -> None:
        """Note that the vault is watched. What has changed before that is looked for now."""
        polls = event.mode == "poll"
        self._deaths = 0
        self._beat = now
        self._watching, self._folder, self._other = event, event.folder, None
        if event.reason is not None:
            self._reason = event.reason
            self._events_again_at = now + RETRY_SECONDS
        elif not polls:
            self._reason = None
        if event.fresh:
            self._debounce.retry_now()
            self._debounce.demand("start" if not self._debounce.wholes else "back", now)
        self._change(WatchState.POLLING if polls else WatchState.WATCHING)

    def _retry(self, now: float) -> None:
        """Try the system's events again after a time, and whether another folder is the vault."""
        if self._events_again_at is not None and now >= self._events_again_at:
            self._events_again_at = None
            self._restart_wanted = True
        elif self._other is not None and now >= self._other_check_at:
            self._other_check_at = now + _OTHER_FOLDER_SECONDS
            self._background.spawn(self._check_other)

    async def _check_other(self) -> None:
        if await self._runs.is_same_vault():
            self.accept_folder()

    def _change(self, state: WatchState) -> None:
        self._state = state
        if state is not WatchState.STARTING:
            self._settled.set()
        mode = self._watching.mode if self._watching is not None else None
        if self._told != (told := (state, mode, self._reason)):
            self._told = told
            self._vault.events.add(self.status())

    # --- looking --------------------------------------------------------------------------------

    async def _work(self) -> None:
        while True:
            self._wake = anyio.Event()
            now = time.monotonic()
            batch = await self._take(now)
            if batch is not None:
                await self._carry_out(batch)
                continue
            times = [self._debounce.due_at(), self._scan_at]
            due = min((at for at in times if at is not None), default=None)
            # Without a live watcher, only its next event matters.
            seconds = max(0.0, due - now) if due is not None and self.is_live else 3600.0
            with anyio.move_on_after(seconds):
                await self._wake.wait()

    async def _take(self, now: float) -> Batch | None:
        if not self.is_live:
            return None
        if self._scan_at is not None and now >= self._scan_at:
            self._scan_at = None
            self._debounce.demand("scan", now)
        if seen := self._debounce.seen:
            self._debounce.drop(seen, await self._own.among(seen))
        return self._debounce.take(now) if self.is_live else None

    async def _carry_out(self, batch: Batch) -> None:
        trigger = {"scan": Trigger.SCAN, "start": Trigger.START}.get(batch.reason, Trigger.WATCH)
        began, at = time.time(), timestamp()
        look = Scan(batch, self._serve)
        work = asyncio.ensure_future(
            self._runs.scan(batch, self._folder or (), look.hear, look.served)
        )
        try:
            await self._show(batch, look, work, trigger)
            await asyncio.wait([work])
        finally:
            if not work.done():
                work.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([work])
        error, summary = None, JobSummary()
        now = time.monotonic()
        if work.cancelled():
            self._debounce.release(now)
            error = "JOB_CANCELLED"
        elif (failure := work.exception()) is not None:
            self._debounce.fail(now)
            error = failure.code if isinstance(failure, VaultAgentError) else "INTERNAL_ERROR"
            if not isinstance(failure, VaultAgentError):
                self._vault.on_crash("server", describe_crash(failure))
        else:
            run = work.result()
            summary = run.summary
            self._debounce.finish(run.missing, now, more_missing=run.more_missing)
            self._learn(batch, run, began)
        if batch.paths is None:
            self._plan_scan(now)
        self._times["run"] = timestamp()
        self._batches.append(
            WatchBatch(
                at,
                trigger,
                *(summary.added, summary.changed, summary.removed, summary.renamed),
                milliseconds=look.milliseconds(),
                error=error,
            )
        )

    async def _show(
        self, batch: Batch, look: Scan, work: asyncio.Future[IndexRun], trigger: Trigger
    ) -> None:
        """Make a run a job if it takes long, has much to do or fails, or if a scan finds any."""
        if batch.paths is None:
            await look.found_or(work)
        else:
            at_once = len(batch.paths) > PATHS_OF_A_JOB
            await asyncio.wait([work], timeout=0 if at_once else SECONDS_UNTIL_JOB)
        worked = work.done() and not work.cancelled() and work.exception() is None
        if worked and (batch.paths is not None or not has_changes(work.result())):
            return
        # Another job may be active, or its record may fail. Then this is a batch only.
        with suppress(VaultAgentError):
            job = await self._jobs.submit(
                JobKind.INDEX, lambda progress: look.follow(progress, work), trigger
            )
            self._background.spawn(self._end_with, job.id, work)

    async def _end_with(self, job_id: str, work: asyncio.Future[IndexRun]) -> None:
        """Cancel a run with its job, also if the job has not begun to follow the run."""
        async for job in self._jobs.watch(job_id):
            if job.state is JobState.CANCELLED:
                work.cancel()

    def _serve(self, batch: Batch) -> None:
        """Note that searches see what a batch has found."""
        self._debounce.published()
        if batch.since is not None:
            self._samples.append(time.monotonic() - batch.since)

    def _learn(self, batch: Batch, run: IndexRun, began: float) -> None:
        now = time.monotonic()
        if has_changes(run) or batch.reason == "start":
            delay = self._settings.embed_delay_seconds
            self._embed_latest = self._embed_latest or now + _LONGEST_EMBED_DELAY * delay
            self._embed_at = min(now + delay, self._embed_latest)
        if batch.paths is not None:
            return
        self._times["scan"] = timestamp()
        if not has_changes(run):
            self._scan_took = now - batch.began
        is_old = run.oldest_change is not None and run.oldest_change < began - OLD_SECONDS
        by_events = self._watching is not None and self._watching.mode == "events"
        if batch.reason == "scan" and is_old and by_events and self._hearing.miss(now):
            self._reason = "WATCH_DEAF"
            self._events_again_at = now + RETRY_SECONDS
            self._restart_wanted = True

    def _plan_scan(self, now: float) -> None:
        polls = self._watching is not None and self._watching.mode == "poll"
        seconds: float = self._settings.rescan_seconds
        if polls:
            seconds = poll_pause(self._settings.poll_seconds, self._scan_took)
        self._scan_at = now + seconds

    async def _embed(self) -> None:
        while True:
            now = time.monotonic()
            at = self._embed_at
            if at is None or now < at:
                await anyio.sleep(1.0 if at is None else min(1.0, at - now))
                continue
            self._embed_at = self._embed_latest = None
            try:
                works = await self._runs.embed()
            except VaultAgentError:
                works = False
            first, longest = _EMBED_RETRIES
            self._embed_failures = 0 if works else self._embed_failures + 1
            if not works:
                pause = min(first * 2.0 ** min(self._embed_failures - 1, 10), longest)
                self._embed_at = time.monotonic() + pause


def _allowed_watches() -> int | None:
    """Return how many folders one user's programs may watch, where the system tells (Linux)."""
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text("ascii"))
    except (OSError, ValueError):
        return None
