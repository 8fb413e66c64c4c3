"""Learns from the operating system which paths of a vault have changed.

This is the only module that imports watchfiles, and the only one that knows an operating system's
events. It reads no file. What the library loses is described in docs/explanation/indexing.md.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from functools import partial
from typing import TYPE_CHECKING, Final

from vault_agent.text.names import is_indexed
from vault_agent.vault import platform

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from threading import Event

    from watchfiles._rust_notify import RustNotify

    from vault_agent.vault.paths import Exclusions

QUIET_MS: Final = 100
"""Changes are reported once there was none for so long: one save may be several changes."""
LONGEST_WAIT_MS: Final = 1_000
FOLDER_CHECK_MS: Final = 5_000
"""How often the folder at the vault's path is compared with the watched one."""
OVERFLOW_EVENTS: Final = 4_000
"""So many events at once mean that the system's queue may have overflowed without a word."""
_MODIFIED, _DELETED = 2, 3  # watchfiles.Change
_LIMITS: Final = ("watch limit reached", "Too many open files", "No space left")
_TEMPORARY: Final = re.compile(
    r"(?s)\..*|.*~|.*\.(?:tmp|part|swp|crdownload|icloud)|~\$.*|4913|~syncthing~.*"
)


class WatchFailed(Exception):
    """The system or the library cannot watch the vault.

    Args:
        limit: whether a limit of watches is the reason, rather than an error.
    """

    def __init__(self, *, limit: bool) -> None:
        super().__init__()
        self.limit = limit


def follow_changes(
    root: str,
    exclusions: Exclusions,
    kinds: Collection[str],
    on_change: Callable[[Collection[str]], object],
    stop: Event,
) -> None:
    """Watch a vault until another folder or none is at its path, or `stop` is set. Blocking.

    `on_change` gets vault-relative paths: none as soon as the vault is watched, and "" if anything
    may have changed. `kinds` are those of attachments whose text is indexed.

    Raises:
        WatchFailed: if the watch cannot be started or go on.
    """
    from watchfiles._rust_notify import WatchfilesRustInternalError

    try:
        folder = platform.folder_at(root)
        if folder is None:
            return
        notify = _start(root)
        try:
            on_change(())
            while not stop.is_set() and platform.folder_at(root) == folder:
                events = notify.watch(LONGEST_WAIT_MS, QUIET_MS, FOLDER_CHECK_MS, stop)
                if isinstance(events, str):  # the time is over, or `stop` is set
                    continue
                paths = event_paths(events, root, exclusions, kinds)
                if paths is None:
                    return
                if paths:
                    on_change(paths)
        finally:
            notify.close()
    except (WatchfilesRustInternalError, OSError) as error:
        raise _failed(error) from None


def _start(root: str) -> RustNotify:
    """Start to watch a folder and all below it.

    Folders that may not be listed are ignored only if there are some: the library would ignore a
    limit too.
    """
    from watchfiles._rust_notify import RustNotify

    # Every argument is given: the library would read environment variables for the others.
    start = partial(RustNotify, [root], False, False, 300, True)
    try:
        return start(False)
    except OSError as error:
        if _failed(error).limit:
            raise
        return start(True)


def event_paths(
    events: Iterable[tuple[int, str]],
    root: str,
    exclusions: Exclusions,
    kinds: Collection[str] = (),
) -> list[str] | None:
    """Return the paths that may concern the index. None: the vault's folder itself has gone."""
    came_or_went: dict[str, bool] = {}
    count = 0
    for kind, absolute in events:
        count += 1
        path = platform.relative_to(root, absolute)
        if path == "":
            if kind == _DELETED:
                return None
        elif path is not None:
            came_or_went[path] = kind != _MODIFIED or came_or_went.get(path, False)
    if count > OVERFLOW_EVENTS:
        return [""]
    return [
        path
        for path in sorted(came_or_went)
        if _concerns(root, path, exclusions, kinds, came_or_went=came_or_went[path])
    ]


def _concerns(
    root: str, path: str, exclusions: Exclusions, kinds: Collection[str], *, came_or_went: bool
) -> bool:
    """Whether it may change the index: a text, or a folder or another file that came or went.

    The kind of an event only says whether something came or went: it is not reliable.
    """
    name = path.rpartition("/")[2]
    if is_temporary(name) or exclusions.excludes(path):
        return False
    if not came_or_went:
        return is_indexed(name, kinds)
    try:
        mode = os.lstat(os.path.join(root, path)).st_mode  # noqa: PTH118 - text
    except OSError:
        return True  # it has gone
    return not (stat.S_ISDIR(mode) and exclusions.excludes(path, is_dir=True))


def is_temporary(name: str) -> bool:
    """Whether a name is one that programs give to files while they write or download them."""
    return _TEMPORARY.fullmatch(name) is not None


def _failed(error: BaseException) -> WatchFailed:
    text = str(error)  # of the system or the library; it may name a path
    limited = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EMFILE)
    return WatchFailed(limit=limited or any(words in text for words in _LIMITS))
