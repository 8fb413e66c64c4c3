"""The files that this server has written: they are indexed, or about to be."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from vault_agent.errors import VaultAgentError
from vault_agent.system.cancelling import in_thread
from vault_agent.vault.opening import CannotOpen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vault_agent.vault.root import VaultRoot

_REMEMBERED_SECONDS = 60.0
_REMEMBERED = 10_000
_REMEMBERED_AT_ONCE = 500
"""Of one write. The watch may look at the others again, which finds nothing."""

Status = tuple[int, int, int, int] | None
"""Device, inode, size and time of change of a file; None if there is none."""


class OwnWrites:
    """Tells the server's own writes from what others have changed."""

    def __init__(self, open_root: Callable[[], VaultRoot]) -> None:
        self._open_root = open_root
        self._known: dict[str, tuple[Status, float]] = {}
        self.waiting: dict[str, None] = {}
        """Paths that are to be indexed."""
        self._taken = 0

    @property
    def pending(self) -> int:
        """The number of paths that searches do not see yet."""
        return len(self.waiting) + self._taken

    async def among(self, paths: Iterable[str]) -> set[str]:
        """Return the files that are as a write of this server has left them."""
        waiting = {path for path in paths if path in self.waiting}
        known = {path: self._known[path][0] for path in paths if path in self._known}
        now = await in_thread(self._statuses, tuple(known)) if known else None
        if now is None:
            return waiting
        return waiting | {path for path, status in known.items() if now[path] == status}

    def take(self) -> tuple[str, ...]:
        """Return the paths that wait, which from then on do not. They are indexed now."""
        paths, self.waiting = tuple(self.waiting), {}
        self._taken = len(paths)
        return paths

    def ended(self) -> None:
        """Note that those that were taken are indexed, or given to the watch."""
        self._taken = 0

    async def remember(self, paths: Sequence[str]) -> None:
        """Note how files are now."""
        now = time.monotonic()
        for path, (_, at) in list(self._known.items()):
            if at > now - _REMEMBERED_SECONDS and len(self._known) < _REMEMBERED:
                break  # the oldest come first
            del self._known[path]
        self.forget(paths)
        found = await in_thread(self._statuses, paths[:_REMEMBERED_AT_ONCE])
        self._known |= {path: (status, now) for path, status in (found or {}).items()}

    def forget(self, paths: Iterable[str]) -> None:
        """Take these paths for changed by others."""
        for path in paths:
            self._known.pop(path, None)

    def _statuses(self, paths: Sequence[str]) -> dict[str, Status] | None:
        """Return the status of some files, or None if the vault is away. Blocking."""
        try:
            with self._open_root() as root:
                return {path: _status(root, path) for path in paths}
        except (VaultAgentError, CannotOpen, OSError):
            return None


def _status(root: VaultRoot, path: str) -> Status:
    found = root.status(path)
    if found is None:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns
