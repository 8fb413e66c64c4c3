"""Open files below a folder, and only there. There are two implementations.

An opener turns a vault-relative path into a descriptor, or raises CannotOpen. It never returns a
descriptor of anything outside the root, even if files are renamed or linked meanwhile. It follows a
link only to a target that is inside the root and not excluded.

- `DescriptorOpener` opens one segment at a time, relative to the descriptor of the folder before,
  and never through a link. It reads links and follows them itself. For POSIX.
- `PortableOpener` opens by name, then asks the system for the path of the descriptor. It needs no
  descriptor-relative calls. For Windows.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from vault_agent.errors import Failed
from vault_agent.vault.platform import descriptor_path, flag, relative_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    # (path, is_dir) -> whether a link may lead there. Called before the disk is accessed.
    Admits = Callable[[str, bool], bool]
    Entries = Iterator[os.DirEntry[str]]

# The kernel's own limit for links in one path.
MAX_LINKS = 40
# Limit of the segments of one path, including the targets of links: twice what the longest path
# holds. It stops links that repeatedly go down and up.
MAX_STEPS = 10_000

_READ = (
    os.O_RDONLY
    | flag("O_NONBLOCK")  # do not hang if the file has become a FIFO
    | flag("O_NOCTTY")
    | flag("O_CLOEXEC")
    | flag("O_BINARY")  # Windows translates line ends otherwise
    | flag("O_NOINHERIT")
)
_LIST = _READ | flag("O_DIRECTORY")
# A folder on the way needs search permission only, not read permission.
_PASS = flag("O_PATH") | flag("O_DIRECTORY") | flag("O_CLOEXEC")
_NO_FOLLOW = flag("O_NOFOLLOW")


class Cause(StrEnum):
    """Why a path could not be opened."""

    VANISHED = "vanished"
    OUTSIDE = "outside"
    EXCLUDED = "excluded"
    LOOP = "loop"
    DIRECTORY = "directory"
    IRREGULAR = "irregular"
    FORBIDDEN = "forbidden"
    UNREADABLE = "unreadable"


class CannotOpen(Exception):
    """The path was not opened. Contains no path, so it is safe to log."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.value)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Resolved:
    """A path with its links followed, and the `stat` of its target."""

    path: str
    stat: os.stat_result


class Opener(Protocol):
    """Opens files below a root. Every method raises CannotOpen."""

    def open(self, path: str) -> tuple[int, str]:
        """Return a descriptor of a regular file, and its path with all links followed."""
        ...

    def resolve(self, path: str) -> Resolved:
        """Follow the path's links without opening the target."""
        ...

    def listing(self, path: str) -> AbstractContextManager[Entries]:
        """Return the entries of a folder ("" is the root) without `.` and `..`."""
        ...

    def real_folder(self, path: str) -> int | None:
        """Return a descriptor of a folder whose path has no links, or None without descriptors.

        The caller must close it.
        """
        ...


def cannot_open(error: OSError) -> CannotOpen:
    """Return the CannotOpen for a system error.

    Raises:
        Failed: INTERNAL_ERROR if every file would fail (see `check_resources`).
    """
    check_resources(error)
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE):
        return CannotOpen(Cause.VANISHED)
    if error.errno == errno.ELOOP:
        return CannotOpen(Cause.LOOP)
    if isinstance(error, PermissionError):
        return CannotOpen(Cause.FORBIDDEN)
    return CannotOpen(Cause.UNREADABLE)


def check_resources(error: OSError) -> None:
    """Raise Failed INTERNAL_ERROR if the process cannot open any more files."""
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        raise Failed(
            "INTERNAL_ERROR", "Too many files are open. Raise the limit and try again."
        ) from None


def check_regular(mode: int) -> None:
    """Raise CannotOpen unless the mode is a regular file's.

    Called before opening, because opening a device can have effects, and again after it.
    """
    if stat.S_ISDIR(mode):
        raise CannotOpen(Cause.DIRECTORY)
    if stat.S_ISLNK(mode):
        raise CannotOpen(Cause.LOOP)  # all other links have been followed
    if not stat.S_ISREG(mode):
        raise CannotOpen(Cause.IRREGULAR)


class DescriptorOpener:
    """Opens one segment at a time, relative to descriptors, and never through a link."""

    def __init__(self, root: int, root_path: str, admits: Admits) -> None:
        self._root = root
        self._root_path = root_path
        self._admits = admits

    def open(self, path: str) -> tuple[int, str]:
        """See Opener.open."""
        with self._walk(path, is_dir=False) as (folder, name, place):
            check_regular(place.stat.st_mode)
            return _step(folder, name, _READ), place.path

    def resolve(self, path: str) -> Resolved:
        """See Opener.resolve."""
        with self._walk(path, is_dir=False) as (_, _, place):
            return place

    @contextmanager
    def listing(self, path: str) -> Iterator[Entries]:
        """See Opener.listing."""
        with _listing(self.folder(path)) as entries:
            yield entries

    def folder(self, path: str) -> int:
        """Return a descriptor of a folder, to list it. Raises CannotOpen."""
        with self._walk(path, is_dir=True) as (folder, name, _):
            return _step(folder, name, _LIST)

    def real_folder(self, path: str) -> int:
        """See Opener.real_folder."""
        folder = -1
        try:
            folder = _step(self._root, ".", _LIST)
            for name in path.split("/") if path else ():
                inner = _step(folder, name, _LIST)
                os.close(folder)
                folder = inner
        except BaseException as error:
            if folder >= 0:
                os.close(folder)
            if isinstance(error, OSError):
                raise cannot_open(error) from None
            raise
        return folder

    @contextmanager
    def _walk(  # noqa: PLR0912 - one state machine, harder to read in parts
        self, path: str, *, is_dir: bool
    ) -> Iterator[tuple[int, str, Resolved]]:
        """Yield the open parent folder of the target of `path`, its name there, and its status.

        A link's target is put in front of the pending segments. A target that is absolute, or
        that climbs above the root, is resolved by name once and walked again from the root. If it
        is outside, or outside by the time the walk gets there, nothing is opened. Only the current
        folder is open, so deep paths need no more descriptors. To climb, the walk starts again
        from the root.
        """
        pending = path.split("/")[::-1] if path else ["."]
        names: list[str] = []  # from the root to where the walk is
        folder = self._root
        links = steps = 0
        try:
            while True:
                name = pending.pop()
                steps += 1
                if links > MAX_LINKS or steps > MAX_STEPS:
                    raise CannotOpen(Cause.LOOP)
                if name == ".." and not names:
                    pending = self._reenter("..", pending)
                    continue
                if name == "..":
                    pending += ["", *names[-2::-1]]
                    names.clear()
                    folder = self._leave(folder)
                    continue
                if name in ("", "."):
                    if pending:
                        continue
                    yield folder, ".", Resolved("/".join(names), os.fstat(folder))
                    return
                if links and not self._admits("/".join((*names, name)), bool(pending) or is_dir):
                    raise CannotOpen(Cause.EXCLUDED)
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISLNK(status.st_mode):
                    links += 1
                    target = os.readlink(name, dir_fd=folder)
                    if target.startswith("/"):
                        pending = self._reenter(target, pending)
                        names.clear()
                        folder = self._leave(folder)
                    else:
                        pending += target.split("/")[::-1]
                elif pending:
                    parent, folder = folder, _step(folder, name, _PASS)
                    self._leave(parent)
                    names.append(name)
                else:
                    yield folder, name, Resolved("/".join((*names, name)), status)
                    return
        except OSError as error:
            raise cannot_open(error) from None
        finally:
            self._leave(folder)

    def _leave(self, folder: int) -> int:
        """Close a folder of the walk, but not the root. Return the root."""
        if folder != self._root:
            os.close(folder)
        return self._root

    def _reenter(self, start: str, pending: list[str]) -> list[str]:
        """Return the segments from the root to `start`, followed by the pending ones."""
        target = os.path.join(self._root_path, start, *reversed(pending))  # noqa: PTH118 - hot
        inside = relative_to(self._root_path, os.path.realpath(target))
        if inside is None:
            raise CannotOpen(Cause.OUTSIDE)
        return inside.split("/")[::-1] if inside else ["."]


class Descent:
    """Lists folders in the order of a walk.

    A folder directly in the one listed before is opened relative to it. Opening each folder by its
    whole path would make a walk quadratic in its depth. Only for paths without links: targets of
    links are not checked.
    """

    def __init__(self, opener: DescriptorOpener) -> None:
        self._opener = opener
        self._path = ""
        self._fd = -1

    @contextmanager
    def listing(self, path: str) -> Iterator[Entries]:
        """Return the entries of a folder, as `Opener.listing` does. Raises CannotOpen."""
        fd = self._open(path)
        self.close()
        self._path, self._fd = path, fd
        with os.scandir(fd) as entries:
            yield entries

    def close(self) -> None:
        """Close the folder that was listed last. A second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self, path: str) -> int:
        parent, _, name = path.rpartition("/")
        if self._fd >= 0 and path and parent == self._path:
            with suppress(CannotOpen, OSError):  # opening the whole path raises the cause
                return _step(self._fd, name, _LIST)
        return self._opener.folder(path)


class PortableOpener:
    """Opens by absolute name, then checks the path that the system reports for the descriptor.

    The check comes before anything is read.
    """

    def __init__(self, root_path: str, admits: Admits) -> None:
        self._root_path = root_path
        self._admits = admits

    def open(self, path: str) -> tuple[int, str]:
        """See Opener.open."""
        target = self._target(path, is_dir=False)
        try:
            check_regular(os.lstat(target).st_mode)
            fd = os.open(target, _READ)
        except OSError as error:
            raise cannot_open(error) from None
        try:
            return fd, self._inside(descriptor_path(fd), path, is_dir=False)
        except OSError as error:
            os.close(fd)
            raise cannot_open(error) from None
        except CannotOpen:
            os.close(fd)
            raise

    def resolve(self, path: str) -> Resolved:
        """See Opener.resolve."""
        target = self._target(path, is_dir=False)
        try:
            place = Resolved(self._inside(target, path, is_dir=False), os.lstat(target))
        except OSError as error:
            raise cannot_open(error) from None
        if stat.S_ISLNK(place.stat.st_mode):
            raise CannotOpen(Cause.LOOP)  # all other links have been followed
        return place

    @contextmanager
    def listing(self, path: str) -> Iterator[Entries]:
        """See Opener.listing. The folder's place is checked before and after it is listed.

        A folder that is replaced and put back in between is not noticed. Opening a file checks
        its path again.
        """
        target = self._target(path, is_dir=True)
        try:
            with os.scandir(target) as entries:
                listed = list(entries)
        except OSError as error:
            raise cannot_open(error) from None
        if self._target(path, is_dir=True) != target:
            raise CannotOpen(Cause.VANISHED)
        yield iter(listed)

    def real_folder(self, path: str) -> None:
        """See Opener.real_folder. Checks that the path has no links at this moment."""
        named = os.path.join(self._root_path, *path.split("/"))  # noqa: PTH118 - hot
        target = self._target(path or ".", is_dir=True)
        if target != named.rstrip(os.sep) or not os.path.isdir(target):  # noqa: PTH112 - hot
            raise CannotOpen(Cause.VANISHED)

    def _target(self, path: str, *, is_dir: bool) -> str:
        named = os.path.join(self._root_path, *path.split("/"))  # noqa: PTH118 - hot
        try:
            target = os.path.realpath(named)
        except OSError:  # a link was replaced meanwhile
            raise CannotOpen(Cause.VANISHED) from None
        self._inside(target, path, is_dir=is_dir)
        return target

    def _inside(self, target: str, path: str, *, is_dir: bool) -> str:
        inside = relative_to(self._root_path, target)
        if inside is None:
            raise CannotOpen(Cause.OUTSIDE)
        if inside != path and not self._admits(inside, is_dir):
            raise CannotOpen(Cause.EXCLUDED)
        return inside


def _step(folder: int, name: str, flags: int) -> int:
    """Open a name in an open folder. A link there is new, so it counts as a vanished file."""
    try:
        return os.open(name, flags | _NO_FOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise CannotOpen(Cause.VANISHED) from None
        raise


@contextmanager
def _listing(fd: int) -> Iterator[Entries]:
    """List an open folder, then close it."""
    try:
        with os.scandir(fd) as entries:
            yield entries
    finally:
        os.close(fd)
