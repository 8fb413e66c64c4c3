"""Learns from the operating system which paths of a vault have changed.

This is the only module that imports watchfiles, and the only one that knows an operating system's
events. It lists folders, but reads no file. What the library loses is described in
docs/explanation/watching.md.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from vault_agent.text.attachments import is_indexed
from vault_agent.vault import platform
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from threading import Event

    from watchfiles._rust_notify import RustNotify

    from vault_agent.vault.exclude import Exclusions

OVERFLOW_PATHS: Final = 4_000
"""So many paths at once mean that the system's queue may have overflowed without a word."""
_STEP_MS, _GATHER_MS, _LONGEST_WAIT_MS = 10, 50, 1_000
_MODIFIED, _DELETED = 2, 3  # watchfiles.Change

_LIMITS: Final = ("watch limit reached", "Too many open files", "No space left")
_TEMPORARY: Final = re.compile(
    r"(?s)\..*|.*~|.*\.(?:tmp|part|swp|crdownload|icloud)|~\$.*|4913|~syncthing~.*"
)


_WATCHED: Final = re.compile(r"^inotify wd:\S+ ino:([0-9a-f]+)", re.MULTILINE)


class WatchFailed(Exception):
    """The system or the library cannot watch the vault.

    Args:
        limit: whether a limit of watches is the reason, rather than an error.
    """

    def __init__(self, *, limit: bool) -> None:
        super().__init__()
        self.limit = limit


class Found(NamedTuple):
    """What a wait has brought. `paths` are vault-relative."""

    paths: tuple[str, ...] = ()
    folders: bool = False  # whether a path is a folder, which the system must watch too
    overflow: bool = False  # anything may have changed
    root: bool = False  # the vault's folder itself has come or gone


class Events:
    """The system's events of one vault, from the start of the watch."""

    def __init__(self, root: str, exclusions: Exclusions, kinds: Collection[str] = ()) -> None:
        """Start to watch. `kinds` are those of attachments whose text is indexed.

        Raises:
            WatchFailed: if the system does not allow it.
        """
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

        self._root = root
        self._exclusions = exclusions
        self._kinds = kinds
        self._failures = (WatchfilesRustInternalError, OSError)
        try:
            # Every argument is given: the library would read environment variables for the others.
            self._notify: RustNotify = RustNotify([root], False, False, 300, True, True)
        except self._failures as error:
            raise _failed(error) from None

    def close(self) -> None:
        """End the watch, so that no descriptor of the vault is held."""
        self._notify.close()

    def check(self, inodes: Iterable[int]) -> None:
        """Make sure that folders are watched, by their inodes. Only Linux tells.

        The library ignores a limit that it meets at a new folder.

        Raises:
            WatchFailed: if a folder is not watched.
        """
        watched = _watched_inodes()
        if watched is not None and not watched.issuperset(inodes):
            raise WatchFailed(limit=True)

    def wait(self, stop: Event) -> Found:
        """Return the next changes, or nothing after a second.

        Raises:
            WatchFailed: the watch must be closed and started again.
        """
        try:
            found = self._notify.watch(_GATHER_MS, _STEP_MS, _LONGEST_WAIT_MS, stop)
        except self._failures as error:
            raise _failed(error) from None
        if isinstance(found, str):  # the time is over
            return Found()
        return sort_events(found, self._root, self._exclusions, self._kinds)


def sort_events(
    events: Iterable[tuple[int, str]],
    root: str,
    exclusions: Exclusions,
    kinds: Collection[str] = (),
) -> Found:
    """Return the paths that may concern the index."""
    came_or_went: dict[str, bool] = {}
    count = 0
    for kind, absolute in events:
        count += 1
        path = platform.relative_to(root, absolute)
        if path == "":
            if kind == _DELETED:
                return Found(root=True)
        elif path is not None:
            came_or_went[path] = kind != _MODIFIED or came_or_went.get(path, False)
    if count > OVERFLOW_PATHS:
        return Found(overflow=True)
    paths, folders = [], False
    for path in sorted(came_or_went):
        concern = _concern(root, path, exclusions, kinds, came_or_went=came_or_went[path])
        if concern is not None:
            paths.append(path)
            folders = folders or concern == "folder"
    return Found(tuple(paths), folders)


def _concern(
    root: str, path: str, exclusions: Exclusions, kinds: Collection[str], *, came_or_went: bool
) -> Literal["file", "folder"] | None:
    """Return what may change the index: a text, or a folder or another file that came or went.

    The kind of an event is used for nothing else, because it is not reliable.
    """
    name = path.rpartition("/")[2]
    if is_temporary(name) or exclusions.excludes(path):
        return None
    if not came_or_went:
        return "file" if is_indexed(name, kinds) else None
    try:
        mode = os.lstat(os.path.join(root, path)).st_mode  # noqa: PTH118 - text
    except OSError:
        return "file"  # it has gone
    if not stat.S_ISDIR(mode):
        return "file"
    return None if exclusions.excludes(path, is_dir=True) else "folder"


def is_temporary(name: str) -> bool:
    """Whether a name is one that programs give to files while they write or download them."""
    return _TEMPORARY.fullmatch(name) is not None


def folder_at(path: str) -> tuple[int, ...] | None:
    """Return the device and inode of the folder at a path, or None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - the path is text here
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def folder_inodes(path: str, exclusions: Exclusions) -> list[int]:
    """Return the inodes of the folders that are indexed, the vault itself included.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`.
    """
    inodes: list[int] = []
    with VaultRoot.open(path, exclusions) as root, root.descent() as listing:
        folders = [("", root.folder[1])]
        while folders:
            folder, inode = folders.pop()
            try:
                with listing(folder) as entries:
                    for entry in entries:
                        below = f"{folder}/{entry.name}" if folder else entry.name
                        if entry.is_dir(follow_symlinks=False) and not exclusions.verdict(
                            below, entry.name, is_dir=True
                        ):
                            folders.append((below, entry.inode()))
            except (CannotOpen, OSError):
                continue  # what cannot be listed cannot be watched either
            inodes.append(inode)
    return inodes


def _watched_inodes() -> set[int] | None:
    """Return the inodes that this process watches, or None where the system does not tell."""
    if sys.platform != "linux":
        return None
    found: set[int] = set()
    for info in Path("/proc/self/fdinfo").iterdir():
        with suppress(OSError):  # closed by now
            text = info.read_text("ascii", "replace")
            found.update(int(inode, 16) for inode in _WATCHED.findall(text))
    return found


def _failed(error: BaseException) -> WatchFailed:
    text = str(error)  # of the system or the library; it may name a path
    limited = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EMFILE)
    return WatchFailed(limit=limited or any(words in text for words in _LIMITS))
