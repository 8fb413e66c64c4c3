"""Opening what lies beneath a folder, and never anything else: three ways, one promise.

An opener turns a vault-relative path into a descriptor, or says why not. It never returns a
descriptor of anything outside the root, whatever is renamed or linked meanwhile, and it follows a
link only to a target that is inside and not excluded.

- `DescriptorOpener`: segment by segment, each relative to the descriptor of the one before and
  never through a link; links are read, and walked by hand. POSIX.
- `KernelOpener`: Linux' openat2(2) settles a path without links in one call; with links the
  walk above takes over.
- `PortableOpener`: by name, then the system is asked where the descriptor really leads. It needs
  no descriptor-relative calls: Windows.
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
from vault_agent.vault.platform import descriptor_path, flag, openat2, relative_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    # (path, is_dir) -> whether a link may lead there. Asked before the disk is.
    Admits = Callable[[str, bool], bool]
    Entries = Iterator[os.DirEntry[str]]

# The kernel's own limit for links in one path.
MAX_LINKS = 40
# Segments of one path, targets of links included: twice what fits into the longest path, and a
# bound for links that go down and up again and again.
MAX_STEPS = 10_000

_READ = (
    os.O_RDONLY
    | flag("O_NONBLOCK")  # should a FIFO slip in, the open must not hang
    | flag("O_NOCTTY")
    | flag("O_CLOEXEC")
    | flag("O_BINARY")  # Windows translates line ends otherwise
    | flag("O_NOINHERIT")
)
_LIST = _READ | flag("O_DIRECTORY")
# Only names the file: opening a device for reading can have effects.
_NAME = flag("O_PATH") | flag("O_CLOEXEC")
# A folder on the way has to be passable, not readable.
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
    """The path was not opened. Carries no path, so it is safe wherever it ends up."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.value)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a path leads once its links are followed, and what is there."""

    path: str
    stat: os.stat_result


class Opener(Protocol):
    """One way to stay beneath a root. Every method raises CannotOpen."""

    def open(self, path: str) -> tuple[int, str]:
        """Return a descriptor of a regular file, and its path with all links followed."""
        ...

    def resolve(self, path: str) -> Resolved:
        """Follow the path's links without opening what is at its end."""
        ...

    def listing(self, path: str) -> AbstractContextManager[Entries]:
        """Return the entries of a folder ("" is the root), `.` and `..` left out."""
        ...


def cannot_open(error: OSError) -> CannotOpen:
    """Translate an error of the system; what would fail for every file ends the work."""
    check_resources(error)
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE):
        return CannotOpen(Cause.VANISHED)
    if error.errno == errno.ELOOP:
        return CannotOpen(Cause.LOOP)
    if isinstance(error, PermissionError):
        return CannotOpen(Cause.FORBIDDEN)
    return CannotOpen(Cause.UNREADABLE)


def check_resources(error: OSError) -> None:
    """Raise what says nothing about any file: the process can open no more of them."""
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        raise Failed(
            "INTERNAL_ERROR", "Too many files are open. Raise the limit and try again."
        ) from None


def check_regular(mode: int) -> None:
    """Refuse all but a regular file. Asked before an open, which can have effects, and after."""
    if stat.S_ISDIR(mode):
        raise CannotOpen(Cause.DIRECTORY)
    if stat.S_ISLNK(mode):
        raise CannotOpen(Cause.LOOP)  # all that can be followed has been
    if not stat.S_ISREG(mode):
        raise CannotOpen(Cause.IRREGULAR)


class DescriptorOpener:
    """Segment by segment, relative to descriptors, through no link at any step."""

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

    @contextmanager
    def _walk(  # noqa: PLR0912 - one state machine: in pieces, its order could not be read
        self, path: str, *, is_dir: bool
    ) -> Iterator[tuple[int, str, Resolved]]:
        """Yield the open folder that holds the end of `path`, its name there, and what it is.

        A link's target is put in front of the segments still to go. One that is absolute, or
        climbs past the root, is resolved by name once and walked again from the root: if it is
        not inside, or is no longer when the walk gets there, nothing is opened. Only the folder
        the walk has come to is open, so depth costs no descriptors; to climb, it starts over.
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
        """Close a folder of the walk and return the root, which stays open."""
        if folder != self._root:
            os.close(folder)
        return self._root

    def _reenter(self, start: str, pending: list[str]) -> list[str]:
        """Return the segments from the root to `start` and what is pending after it."""
        target = os.path.join(self._root_path, start, *reversed(pending))  # noqa: PTH118 - hot
        inside = relative_to(self._root_path, os.path.realpath(target))
        if inside is None:
            raise CannotOpen(Cause.OUTSIDE)
        return inside.split("/")[::-1] if inside else ["."]


class KernelOpener:
    """openat2(2), with a walk by hand where a path has links."""

    def __init__(self, root: int, by_hand: DescriptorOpener) -> None:
        self._root = root
        self._by_hand = by_hand

    def open(self, path: str) -> tuple[int, str]:
        """See Opener.open."""
        try:
            with self._parent(path) as (folder, rest):
                handle = openat2(folder, rest, _NAME)
                try:
                    mode = os.fstat(handle).st_mode
                finally:
                    os.close(handle)
                check_regular(mode)
                return openat2(folder, rest, _READ), path
        except OSError as error:
            if error.errno not in _BY_HAND:
                raise cannot_open(error) from None
        return self._by_hand.open(path)

    def resolve(self, path: str) -> Resolved:
        """See Opener.resolve; rare, and only for links, so always by hand."""
        return self._by_hand.resolve(path)

    @contextmanager
    def listing(self, path: str) -> Iterator[Entries]:
        """See Opener.listing."""
        with _listing(self.folder(path)) as entries:
            yield entries

    def folder(self, path: str) -> int:
        """Return a descriptor of a folder, to list it. Raises CannotOpen."""
        try:
            with self._parent(path) as (folder, rest):
                return openat2(folder, rest or ".", _LIST)
        except OSError as error:
            if error.errno not in _BY_HAND:
                raise cannot_open(error) from None
        return self._by_hand.folder(path)

    @contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        """Yield an open folder on the way and the rest of the path, short enough for one call.

        A long path takes a call for each `_CALL_BYTES`, each through no link and beneath the
        folder before. Raises OSError.
        """
        rest = os.fsencode(path)
        folder = self._root
        try:
            while len(rest) > _CALL_BYTES and (end := rest.rfind(b"/", 0, _CALL_BYTES)) > 0:
                step = openat2(folder, os.fsdecode(rest[:end]), _PASS)
                if folder != self._root:
                    os.close(folder)
                folder, rest = step, rest[end + 1 :]
            yield folder, os.fsdecode(rest)
        finally:
            if folder != self._root:
                os.close(folder)


# What one call takes, with its end; a name is shorter. PATH_MAX of Linux.
_CALL_BYTES = 4095
# A link in the path; a name too long for one call; a race with a rename or a mount.
_BY_HAND = (errno.ELOOP, errno.EXDEV, errno.EAGAIN, errno.ENAMETOOLONG)


class Descent:
    """Lists folders in the order of a walk, each from the one before where it lies in that.

    To open a folder by its path costs as much as the path is long, so a walk that did that would
    be quadratic in its depth. Only for paths without links: nothing asks where a link may lead.
    """

    def __init__(self, opener: DescriptorOpener | KernelOpener) -> None:
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
        """Close the folder that was listed last; a second time does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self, path: str) -> int:
        parent, _, name = path.rpartition("/")
        if self._fd >= 0 and path and parent == self._path:
            with suppress(CannotOpen, OSError):  # the whole path says why
                return _step(self._fd, name, _LIST)
        return self._opener.folder(path)


class PortableOpener:
    """By absolute name; what was opened is then asked for the place it is in.

    The name is only a proposal: what decides is the path the system reports for the descriptor,
    before a single byte is read.
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
            raise CannotOpen(Cause.LOOP)  # all that could be followed has been
        return place

    @contextmanager
    def listing(self, path: str) -> Iterator[Entries]:
        """See Opener.listing. Nothing is given out before it is known whose entries they are.

        What is swapped and put back between two looks is not noticed; opening a file asks again.
        """
        target = self._target(path, is_dir=True)
        try:
            with os.scandir(target) as entries:
                found = list(entries)
        except OSError as error:
            raise cannot_open(error) from None
        if self._target(path, is_dir=True) != target:
            raise CannotOpen(Cause.VANISHED)
        yield iter(found)

    def _target(self, path: str, *, is_dir: bool) -> str:
        named = os.path.join(self._root_path, *path.split("/"))  # noqa: PTH118 - hot
        try:
            target = os.path.realpath(named)
        except OSError:  # a link swapped for something else in the middle of it
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
    """Open a name in an open folder. A link there now was not there a moment ago."""
    try:
        return os.open(name, flags | _NO_FOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise CannotOpen(Cause.VANISHED) from None
        raise


@contextmanager
def _listing(fd: int) -> Iterator[Entries]:
    """List an open folder, and close it."""
    try:
        with os.scandir(fd) as entries:
            yield entries
    finally:
        os.close(fd)
