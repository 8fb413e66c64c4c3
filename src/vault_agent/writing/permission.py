"""Checks who may write what: an author's rights and folders, and the folders of the settings.

`write.allow` is in an author's rights already: `rights_of` of `server/mcp.py` has applied it.
"""

from __future__ import annotations

import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from vault_agent.errors import Busy, Forbidden, counted
from vault_agent.text.names import covers, fold, lies_in
from vault_agent.vault.paths import Verdict, validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vault_agent.model.writing import Author, Write, WriteLimits
    from vault_agent.vault.paths import Exclusions

TRASH = ".trash"
_MINUTE = 60.0


class Permission:
    """Checks before a write: the right, the path, and the number of writes of a named agent.

    The path must lie in `write.folders` and in what the author sees, and must not be excluded.
    """

    def __init__(self, limits: WriteLimits, exclusions: Exclusions) -> None:
        self._limits = limits
        self._exclusions = exclusions
        self._times: dict[str, deque[float]] = {}

    def check_right(self, write: Write) -> None:
        """Check that the author has the right that a write needs.

        Raises:
            Forbidden: `WRITE_NOT_ALLOWED` with `details.right`.
        """
        right, mine = write.right, write.author.rights
        if mine is not None and right not in mine:
            raise Forbidden(
                "WRITE_NOT_ALLOWED", f"The right to {right} is not given.", {"right": right.value}
            )

    def check_path(self, author: Author, path: str, *, is_dir: bool = False) -> None:
        """Check a path by its name alone.

        Raises:
            Forbidden: `WRITE_OUTSIDE_SCOPE`, `PATH_EXCLUDED`, `PATH_OUTSIDE_VAULT`.
            InvalidRequest: `INVALID_PATH`.
        """
        validate(path)
        check_may_write(partial(self.allows, author), path)
        if (reason := self._exclusions.reason(path, is_dir=is_dir)) is not None:
            raise _excluded(*reason)

    def allows(self, author: Author, path: str) -> bool:
        """Whether a path lies in the folders that this author may write."""
        return _lies_in_one(path, self._limits.folders) and sees(author, path)

    def count(self, author: Author) -> None:
        """Count a write of a named agent. Other authors have no limit.

        Raises:
            Busy: `TOO_MANY_REQUESTS` with `details.retryAfter`, in seconds.
        """
        if not author.name:
            return
        now = time.monotonic()
        times = self._times.setdefault(author.name, deque())
        while times and times[0] <= now - _MINUTE:
            times.popleft()
        if len(times) >= self._limits.max_per_minute:
            wait = max(1, round(times[0] + _MINUTE - now))
            raise Busy(
                "TOO_MANY_REQUESTS",
                f"This agent has made {counted(len(times), 'write')} within a minute.",
                {"retryAfter": wait},
                remedy="Wait a minute, or raise write.max_per_minute.",
            )
        times.append(now)


def sees(author: Author, path: str) -> bool:
    """Whether an author sees a path: as `Scope.contains`, but a folder of its own counts too."""
    if author.scope.folders and not _lies_in_one(path, author.scope.folders):
        return False
    return not any(covers(fold(name), fold(path)) for name in author.scope.deny)


def _lies_in_one(path: str, folders: Iterable[str]) -> bool:
    return any(lies_in(fold(path), fold(folder)) for folder in folders)


def check_may_write(may_write: Callable[[str], bool], path: str) -> None:
    """Refuse a path that may not be written.

    Call it before the disk is read: then the error cannot tell what exists there.

    Raises:
        Forbidden: `WRITE_OUTSIDE_SCOPE`, `PATH_OUTSIDE_VAULT`.
        InvalidRequest: `INVALID_PATH`.
    """
    if not may_write(path):
        validate(path)  # a path out of the vault has an error of its own
        what = "The path is outside the folders that may be written."
        raise Forbidden("WRITE_OUTSIDE_SCOPE", what)


def _excluded(name: str, verdict: Verdict) -> Forbidden:
    """Return the error for a path with a name that is excluded."""
    if verdict is Verdict.HIDDEN:
        what = "A name in the path begins with a dot, and nothing is written there."
        return Forbidden("WRITE_OUTSIDE_SCOPE", what, {"hidden": True}, remedy="")
    if verdict is Verdict.PATTERN:
        return Forbidden("PATH_EXCLUDED", "A pattern of vault.exclude leaves the path out.")
    return Forbidden(
        "PATH_EXCLUDED",
        f"Folders named {name} are left out of the vault: most are made by tools.",
        remedy=f"If it has notes, the owner adds !{name}/ to vault.exclude.",
    )
