"""The index follows what this server writes, so that a reply can wait until searches find it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Protocol

import anyio

from vault_agent.errors import VaultAgentError
from vault_agent.model.writing import PENDING, IndexState
from vault_agent.system.cancelling import in_thread
from vault_agent.vault.opening import CannotOpen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from vault_agent.freshness.background import Background
    from vault_agent.vault.root import VaultRoot

GATHER_SECONDS = 0.02
"""Writes within this time are one revision."""
_REMEMBERED_SECONDS = 60.0
_REMEMBERED = 10_000
_REMEMBERED_AT_ONCE = 500
"""Of one write. The watch may look at the others again, which finds nothing."""

Status = tuple[int, int, int, int] | None
"""Device, inode, size and time of change of a file; None if there is none."""


class Run(Protocol):
    """Updates the index for paths."""

    async def __call__(
        self, paths: Sequence[str], on_served: Callable[[IndexState], object]
    ) -> None:
        """Call `on_served` as soon as searches see the new revision. Raises VaultAgentError."""


class Following:
    """Runs of the index for the paths of writes, one after the other."""

    def __init__(
        self,
        run: Run,
        background: Background,
        open_root: Callable[[], VaultRoot],
        *,
        on_failure: Callable[[Sequence[str]], object],
        embed: Callable[[], Awaitable[object]] | None,
        embed_delay: float,
    ) -> None:
        self._run = run
        self._background = background
        self._open_root = open_root
        self._on_failure = on_failure
        self._embed = embed
        self._embed_delay = embed_delay
        self._waiting: dict[str, None] = {}
        self._served: asyncio.Future[IndexState] | None = None
        self._is_working = False
        self._embed_at: float | None = None
        self._own: dict[str, tuple[Status, float]] = {}
        self.count = 0  # changes whenever the index is about to change, or has changed

    async def __call__(self, paths: Sequence[str], wait_ms: int) -> IndexState:
        """Index paths, and return the revision that has them, or `PENDING` after `wait_ms`."""
        self._forget(paths)
        self.count += 1
        self._waiting.update(dict.fromkeys(paths))
        if self._served is None:
            self._served = asyncio.get_running_loop().create_future()
        served = self._served
        if not self._is_working:
            self._is_working = True
            self._background.spawn(self._work)
        if not wait_ms:
            return PENDING
        done, _ = await asyncio.wait([served], timeout=wait_ms / 1000)
        return served.result() if done else PENDING

    @property
    def is_busy(self) -> bool:
        """Whether paths wait to be indexed, or are being indexed."""
        return self._is_working

    async def own_among(self, paths: Iterable[str]) -> set[str]:
        """Return the files that are as a write of this server has left them.

        They are indexed, or about to be.
        """
        waiting = {path for path in paths if path in self._waiting}
        known = {path: self._own[path][0] for path in paths if path in self._own}
        now = await in_thread(self._statuses, tuple(known)) if known else None
        if now is None:
            return waiting
        return waiting | {path for path, status in known.items() if now[path] == status}

    async def _work(self) -> None:
        try:
            while self._waiting:
                await anyio.sleep(GATHER_SECONDS)
                await self._work_once()
        finally:
            self._is_working = False

    async def _work_once(self) -> None:
        paths, self._waiting = tuple(self._waiting), {}
        served, self._served = self._served, None

        def on_served(state: IndexState) -> None:
            self.count += 1
            if served is not None and not served.done():
                served.set_result(state)

        try:
            await self._remember(paths)  # before the run reads the files
            await self._run(paths, on_served)
        except Exception as error:
            self._forget(paths)  # so that the watch looks at them
            self._on_failure(paths)
            if not isinstance(error, VaultAgentError | OSError):
                raise  # a defect
        finally:
            self.count += 1
            if served is not None and not served.done():
                served.set_result(PENDING)
        if self._embed is not None and self._embed_at is None:
            self._embed_at = time.monotonic() + self._embed_delay
            self._background.spawn(self._embed_later)

    async def _embed_later(self) -> None:
        await anyio.sleep(self._embed_delay)
        self._embed_at = None
        if self._embed is not None:
            await self._embed()

    async def _remember(self, paths: Sequence[str]) -> None:
        now = time.monotonic()
        for path, (_, at) in list(self._own.items()):
            if at > now - _REMEMBERED_SECONDS and len(self._own) < _REMEMBERED:
                break  # the oldest come first
            del self._own[path]
        self._forget(paths)
        found = await in_thread(self._statuses, paths[:_REMEMBERED_AT_ONCE])
        self._own |= {path: (status, now) for path, status in (found or {}).items()}

    def _statuses(self, paths: Sequence[str]) -> dict[str, Status] | None:
        """Return the status of some files, or None if the vault is away. Blocking."""
        try:
            with self._open_root() as root:
                return {path: _status(root, path) for path in paths}
        except (VaultAgentError, CannotOpen, OSError):
            return None

    def _forget(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._own.pop(path, None)


def _status(root: VaultRoot, path: str) -> Status:
    found = root.status(path)
    if found is None:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns
