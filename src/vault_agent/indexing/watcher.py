"""The watcher: a small process that tells the server what changes in a vault.

It reads one `Watch` request from standard input, and writes events to standard output until its
input closes. It decides nothing: the server judges when to look at a path. It holds the vault's
folder only while it watches it, so that a vault that is being unmounted is released.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from vault_agent.errors import VaultAgentError
from vault_agent.indexing.protocol import (
    Away,
    Beat,
    Crashed,
    Seen,
    SeenMuch,
    Watch,
    Watching,
    encode,
    read_message,
)
from vault_agent.system.crash import describe_crash
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.mounts import file_system, is_shared
from vault_agent.vault.watch import Events, WatchFailed, folder_at, folder_inodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.indexing.protocol import WatchEvent
    from vault_agent.vault.watch import Found

BEAT_SECONDS = 1.0
GAP_SECONDS = 10.0
"""After a longer pause between beats the computer slept, or this process was stopped."""
FOLDER_SECONDS = 5.0
"""How often the folder at the vault's path is compared with the watched one.

While it is away, this is done with each beat.
"""
_LONGEST_PAUSE_SECONDS = 10.0
_PATHS_IN_A_LINE = 100  # paths may be long, and lines are limited


def main() -> None:
    """Watch until standard input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which decides
    gc.freeze()
    stop = threading.Event()
    try:
        request = read_message(sys.stdin.buffer)
        if isinstance(request, Watch):
            threading.Thread(target=_end_with_input, daemon=True).start()
            watcher = Watcher(request, _send, stop)
            while True:
                watcher.turn()
    except Exception as error:  # noqa: BLE001 - reported without its message before the exit
        with suppress(OSError):
            _send(Crashed("watcher", describe_crash(error)))
    finally:
        os._exit(1)


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _send(event: WatchEvent) -> None:
    sys.stdout.buffer.write(encode(event))
    sys.stdout.buffer.flush()


class Watcher:
    """Watches one vault. `turn` is called again and again, and takes about a second."""

    def __init__(
        self,
        request: Watch,
        send: Callable[[WatchEvent], None],
        stop: threading.Event,
        *,
        clocks: Callable[[], tuple[float, float]] = lambda: (time.monotonic(), time.time()),
    ) -> None:
        self._request = request
        self._send = send
        self._stop = stop
        self._clocks = clocks
        self._exclusions = Exclusions(request.exclude)
        self._folder = request.folder
        self._polls = request.mode == "poll"
        self._reason: str | None = None
        self._events: Events | None = None
        self._told: WatchEvent | None = None  # the last `Watching` or `Away`, if it still holds
        self._new_folders = False  # that may not be watched
        self._errors = 0
        self._again_at = self._check_at = 0.0  # monotonic
        self._beat_at = clocks()

    def turn(self) -> None:
        """Report what has changed, and that this process works."""
        found = self._wait()
        self._beat()
        if found is not None:
            if found.root:
                self._let_go()
            self._new_folders |= found.folders
            if found.overflow:
                self._send(SeenMuch("overflow"))
            for start in range(0, len(found.paths), _PATHS_IN_A_LINE):
                self._send(Seen(found.paths[start : start + _PATHS_IN_A_LINE]))
        now = self._clocks()[0]
        if now >= self._check_at:
            self._check_at = now + FOLDER_SECONDS
            self._check_folder()

    def close(self) -> None:
        """End the watch."""
        if self._events is not None:
            self._events.close()
            self._events = None

    def _wait(self) -> Found | None:
        if self._events is None:
            if self._clocks()[0] < self._check_at:
                self._stop.wait(BEAT_SECONDS)
            return None
        try:
            return self._events.wait(self._stop)
        except WatchFailed as failure:
            self._fail(failure)
            return None

    def _beat(self) -> None:
        now, before = self._clocks(), self._beat_at
        passed = max(now[0] - before[0], now[1] - before[1])
        if passed >= BEAT_SECONDS or now[1] < before[1]:
            self._beat_at = now
            if passed > GAP_SECONDS:
                self._send(SeenMuch("gap"))
            self._send(Beat())

    def _fail(self, failure: WatchFailed) -> None:
        """Poll if a limit is met. After another error, start again after a growing pause.

        The library fails for ever once it has met a name that is not valid Unicode.
        """
        self._let_go()
        now = self._clocks()[0]
        if failure.limit:
            self._polls, self._reason = True, "WATCH_LIMIT"
            return
        self._errors = self._errors + 1 if now < self._again_at + 60 else 0
        self._check_at = self._again_at = now + min(2.0**self._errors - 1, _LONGEST_PAUSE_SECONDS)

    def _let_go(self) -> None:
        """End the watch, and look at the folder at once."""
        self.close()
        self._told = None
        self._check_at = 0.0

    def _check_folder(self) -> None:
        """Watch the folder if it is in its place, and otherwise let it go."""
        found = folder_at(self._request.root)
        if found is None or (self._folder is not None and found != self._folder):
            self.close()
            self._tell(Away(found))
            self._check_at = self._clocks()[0] + BEAT_SECONDS
        elif not isinstance(self._told, Watching) or self._new_folders:
            self._folder = found
            self._watch()

    def _watch(self) -> None:
        """Start to watch, or make sure that all folders are watched."""
        root = self._request.root
        self._new_folders = False
        if self._request.mode == "auto" and is_shared(file_system(root)):
            self._polls = True
        try:
            if self._events is None and not self._polls:
                self._events = Events(root, self._exclusions, self._request.attachments)
            inodes = folder_inodes(root, self._exclusions)
            if self._events is not None:
                self._events.check(inodes)
        except WatchFailed as failure:
            self._polls, self._reason = True, "WATCH_LIMIT" if failure.limit else "WATCH_DEAF"
            self._let_go()
            return
        except VaultAgentError:  # unmounted just now
            self._let_go()
            return
        self._beat_at = self._clocks()  # that may have taken long
        mode = "poll" if self._polls else "events"
        fresh = not isinstance(self._told, Watching)
        self._tell(Watching(mode, len(inodes), self._folder or (), self._reason, fresh))

    def _tell(self, event: Watching | Away) -> None:
        if event != self._told:
            self._told = event
            self._send(event)
