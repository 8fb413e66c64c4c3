"""The watch of a vault: the system's events name paths, and runs of the index read them.

A thread takes the events (`vault.file_events`) and hands over their paths. A task indexes the paths
that wait, and at times the whole vault, because events may be lost.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from vault_agent.errors import VaultAgentError
from vault_agent.model.health import WatchState, WatchStatus
from vault_agent.model.warning import Warning
from vault_agent.system.cancelling import in_thread
from vault_agent.system.crash import describe_crash
from vault_agent.vault.file_events import WatchFailed, follow_changes
from vault_agent.vault.platform import file_system, folder_at, is_shared
from vault_agent.vaults.jobs import timestamp

if TYPE_CHECKING:
    from collections.abc import Collection

    from vault_agent.config.sections import WatchSettings
    from vault_agent.vaults.embeddings import EmbedLater
    from vault_agent.vaults.runs import Runs, VaultCore

WHOLE_VAULT = ""
"""The path of the vault itself: a run of it scans everything."""
MAX_WAITING = 20_000
"""With more paths than this, the whole vault is scanned."""
POLL_SECONDS = 10.0
"""Time between scans of the whole vault where there are no events."""
SCAN_SHARE = 20
"""Such a pause is at least so many times as long as the last scan, up to `rescan_seconds`."""
BEHIND_SECONDS = 3.0
PAUSES_AFTER_FAILURES = (1.0, 5.0, 30.0, 60.0)
RETRY_SECONDS = 2.0
"""How often a folder that is missing, or a watch that failed, is tried again."""


class Watch:
    """The watch of one vault. Without `start` it is off."""

    def __init__(
        self, core: VaultCore, runs: Runs, embed_later: EmbedLater, settings: WatchSettings
    ) -> None:
        self._core = core
        self._runs = runs
        self._embed_later = embed_later
        self._settings = settings
        self._is_on = self._hears = self._is_away = False
        self._polls = settings.mode == "poll"
        self._reason: str | None = None
        self._told = WatchState.OFF
        self._settled = anyio.Event()
        self._wake = anyio.Event()
        self._waiting: dict[str, float] = {}  # changed paths and when each was seen, oldest first
        self._indexing: dict[str, float] = {}  # those of the run in progress
        self._scan_at = 0.0  # when the whole vault is scanned; 0.0: at once
        self._not_before = 0.0  # when the next run may begin: after a failure, following a pause
        self._failures = 0
        self._times: dict[str, str] = {}

    # --- what is told ---------------------------------------------------------------------------

    @property
    def state(self) -> WatchState:
        """The state at this moment."""
        if not self._is_on:
            return WatchState.OFF
        if self._is_away:
            return WatchState.AWAY
        if self._polls:
            return WatchState.POLLING
        return WatchState.WATCHING if self._hears else WatchState.STARTING

    @property
    def is_live(self) -> bool:
        """Whether changes are noticed."""
        return self.state in (WatchState.WATCHING, WatchState.POLLING)

    @property
    def is_current(self) -> bool:
        """Whether changes are noticed, and those from before the start have been looked for."""
        return self.is_live and "scan" in self._times

    def status(self) -> WatchStatus:
        """Return the whole state."""
        return WatchStatus(
            enabled=self._settings.enabled,
            state=self.state,
            reason=self._reason,
            last_event_at=self._times.get("event"),
            last_run_at=self._times.get("run"),
            last_scan_at=self._times.get("scan"),
            pending=len(self._waiting) + len(self._indexing),
            lag_seconds=round(self._lag(), 1),
        )

    def warnings(self) -> tuple[Warning, ...]:
        """Return the warnings for a reply from the index."""
        if self.state is WatchState.AWAY:
            return (
                Warning.of(
                    "VAULT_NOT_FOUND",
                    "The vault's folder is missing. The index still serves, and nothing is removed "
                    "from it.",
                ),
            )
        lag = self._lag()
        if self.is_live and lag > BEHIND_SECONDS:
            message = f"Changes of the last {lag:.0f} seconds are not searched yet."
            pending = len(self._waiting) + len(self._indexing)
            details = {"pending": pending, "seconds": round(lag, 1)}
            return (Warning.of("INDEX_BEHIND", message, details),)
        return ()

    def notices(self) -> tuple[Warning, ...]:
        """Return the warnings for `GET /health` alone: why changes are polled."""
        if self._reason is None:
            return ()
        message = (
            "The system does not allow to watch all folders of this vault. Changes are found every"
            f" {POLL_SECONDS:.0f} s. On Linux, raise fs.inotify.max_user_watches, then stop the"
            " server and start it again."
        )
        return (Warning(self._reason, message, {"seconds": POLL_SECONDS}),)

    async def settled(self, seconds: float) -> None:
        """Wait until it is decided how the vault is watched, at most so many seconds."""
        if self._is_on:
            with anyio.move_on_after(seconds):
                await self._settled.wait()

    def _lag(self) -> float:
        """Return the age of the oldest change that searches do not see yet, in seconds."""
        oldest = next(iter((self._indexing or self._waiting).values()), None)
        return 0.0 if oldest is None else time.monotonic() - oldest

    # --- hearing --------------------------------------------------------------------------------

    def start(self) -> None:
        """Start to watch in the background."""
        self._is_on = True
        self._core.background.spawn(self._listen)
        self._core.background.spawn(self._work)

    def add_changes(self, paths: Collection[str]) -> None:
        """Index these paths as if the system had reported changes there."""
        if self.is_live:
            self._add(paths)

    def _add(self, paths: Collection[str]) -> None:
        now = time.monotonic()
        for path in paths:
            self._waiting.setdefault(path, now)
        if len(self._waiting) > MAX_WAITING:
            self._waiting = {WHOLE_VAULT: next(iter(self._waiting.values()))}
        self._wake.set()

    async def _listen(self) -> None:
        """Take events until the vault must be polled, and begin again after each error."""
        root = self._core.spec.root
        if self._settings.mode == "auto" and is_shared(await in_thread(file_system, root)):
            self._polls = True
        while not self._polls:
            try:
                await self._hear_events()
            except WatchFailed as failure:
                if failure.limit:
                    self._polls, self._reason = True, "WATCH_LIMIT"
                    break
            self._hears = False
            self._is_away = await in_thread(folder_at, root) is None
            self._tell()
            await anyio.sleep(RETRY_SECONDS)
        self._scan_soon()
        self._tell()

    async def _hear_events(self) -> None:
        """Take events from a thread until the vault's folder is not at its path any more.

        The thread may wait for a network drive, so the program ends without waiting for the thread.

        Raises:
            WatchFailed: if the system cannot watch the folder.
        """
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Exception | None] = loop.create_future()
        stop = threading.Event()
        spec = self._core.spec

        def end(failure: Exception | None) -> None:
            if not ended.done():
                ended.set_result(failure)

        def follow() -> None:
            failure: Exception | None = None
            with suppress(RuntimeError):  # the loop has ended
                try:
                    follow_changes(
                        spec.root,
                        spec.exclusions,
                        spec.attachments,
                        lambda paths: loop.call_soon_threadsafe(self._hear, paths),
                        stop,
                    )
                except Exception as error:  # noqa: BLE001 - raised where the task waits
                    failure = error
                loop.call_soon_threadsafe(end, failure)

        threading.Thread(target=follow, name="watch", daemon=True).start()
        try:
            failure = await ended
        finally:
            stop.set()
        if failure is not None:
            raise failure

    def _hear(self, paths: Collection[str]) -> None:
        """Note that events are heard, and the paths that they name."""
        if not self._hears:
            self._hears, self._is_away = True, False
            self._scan_soon()
            self._tell()
        if paths:
            self._times["event"] = timestamp()
            self._add(paths)

    def _scan_soon(self) -> None:
        """Scan the whole vault soon, for changes from before events were heard."""
        self._scan_at = self._not_before = 0.0
        self._wake.set()

    def _tell(self) -> None:
        state = self.state
        if state is not WatchState.STARTING:
            self._settled.set()
        if state is not self._told:
            self._told = state
            self._core.events.add(self.status())

    # --- indexing -------------------------------------------------------------------------------

    async def _work(self) -> None:
        while True:
            self._wake = anyio.Event()
            seconds = self._due_at() - time.monotonic()
            if seconds <= 0:
                await self._index_waiting()
                continue
            with anyio.move_on_after(seconds):
                await self._wake.wait()

    def _due_at(self) -> float:
        if not (self._polls or self._hears):
            return float("inf")
        return self._not_before if self._waiting else max(self._scan_at, self._not_before)

    async def _index_waiting(self) -> None:
        """Index the paths that wait, or everything."""
        began = time.monotonic()
        is_whole = WHOLE_VAULT in self._waiting or began >= self._scan_at
        paths = None if is_whole else tuple(self._waiting)
        self._indexing, self._waiting = self._waiting, {}
        try:
            await self._runs.index_watched(paths, self._end_indexing)
        except Exception as error:  # noqa: BLE001 - the watch goes on
            self._fail(error)
        else:
            self._finish(began, whole=is_whole)
        self._indexing = {}
        self._times["run"] = timestamp()
        self._tell()

    def _end_indexing(self) -> None:
        """Count the paths of the run as indexed: searches see them."""
        self._indexing = {}
        self._embed_later.soon()

    def _finish(self, began: float, *, whole: bool) -> None:
        now = time.monotonic()
        is_first = "scan" not in self._times
        self._failures = 0
        self._is_away = False
        if whole:
            self._times["scan"] = timestamp()
            pause: float = self._settings.rescan_seconds
            if self._polls:
                pause = min(pause, max(POLL_SECONDS, SCAN_SHARE * (now - began)))
            self._scan_at = now + pause
        if is_first:  # embeddings of the last start may be incomplete
            self._embed_later.soon()

    def _fail(self, error: Exception) -> None:
        """Scan the whole vault after a pause: nobody knows which changes the run has taken."""
        pause = PAUSES_AFTER_FAILURES[min(self._failures, len(PAUSES_AFTER_FAILURES) - 1)]
        self._failures += 1
        self._scan_at = self._not_before = time.monotonic() + pause
        self._waiting = {**self._indexing, **self._waiting}
        if not isinstance(error, VaultAgentError):
            self._core.on_crash("server", describe_crash(error))
        elif error.code == "VAULT_NOT_FOUND":
            self._is_away = True
