"""Open files below a folder, and only there. There are two implementations.

An opener turns a vault-relative path into a descriptor, or raises CannotOpen. It never follows a
symbolic link, and never returns a descriptor of anything outside the root, even if files are
renamed or linked meanwhile.

- `DescriptorOpener` opens one segment at a time, relative to the descriptor of the folder before.
  For POSIX.
- `PortableOpener` opens by name, then asks the system for the path of the descriptor. It needs no
  descriptor-relative calls. For Windows.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from vault_agent.errors import Failed
from vault_agent.vault.platform import descriptor_path, flag, relative_to

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    Entries = Iterator[os.DirEntry[str]]

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
    OUTSIDE = "outside"  # also a link, wherever it leads
    EXCLUDED = "excluded"
    DIRECTORY = "directory"
    IRREGULAR = "irregular"
    FORBIDDEN = "forbidden"
    UNREADABLE = "unreadable"


class CannotOpen(Exception):
    """The path was not opened. Contains no path, so it is safe to log."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.value)
        self.cause = cause


class Opener(Protocol):
    """Opens files below a root. Every method raises CannotOpen."""

    def open(self, path: str) -> int:
        """Return a descriptor of a regular file."""
        ...

    def listing(self, path: str) -> AbstractContextManager[Entries]:
        """Return the entries of a folder ("" is the root) without `.` and `..`."""
        ...

    def folder(self, path: str) -> int | None:
        """Return a descriptor of a folder, or None without descriptors. The caller must close it.

        Without descriptors, the folder is at this path at this moment.
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
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return CannotOpen(Cause.OUTSIDE)
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
        raise CannotOpen(Cause.OUTSIDE)
    if not stat.S_ISREG(mode):
        raise CannotOpen(Cause.IRREGULAR)


class DescriptorOpener:
    """Opens one segment at a time, relative to descriptors, and never through a link."""

    def __init__(self, root: int) -> None:
        self._root = root

    def open(self, path: str) -> int:
        """See Opener.open."""
        parent, _, name = path.rpartition("/")
        folder = self._open_folder(parent, _PASS)
        try:
            check_regular(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
            return os.open(name, _READ | _NO_FOLLOW, dir_fd=folder)
        except OSError as error:
            raise cannot_open(error) from None
        finally:
            os.close(folder)

    @contextmanager
    def listing(self, path: str) -> Iterator[Entries]:
        """See Opener.listing."""
        folder = self.folder(path)
        try:
            with os.scandir(folder) as entries:
                yield entries
        finally:
            os.close(folder)

    def folder(self, path: str) -> int:
        """See Opener.folder."""
        return self._open_folder(path, _LIST)

    def _open_folder(self, path: str, flags: int) -> int:
        *above, name = path.split("/") if path else ["."]
        folder = os.dup(self._root)
        try:
            for parent in above:
                folder = _enter(folder, parent, _PASS)
            return _enter(folder, name, flags)
        except OSError as error:
            raise cannot_open(error) from None


class Descent:
    """Lists folders in the order of a walk.

    A folder directly in the one listed before is opened relative to it. Opening each folder by its
    whole path would make a walk quadratic in its depth.
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
                return os.open(name, _LIST | _NO_FOLLOW, dir_fd=self._fd)
        return self._opener.folder(path)


class PortableOpener:
    """Opens by absolute name, then checks the path that the system reports for the descriptor.

    The check comes before anything is read.
    """

    def __init__(self, root_path: str) -> None:
        self._root_path = root_path

    def open(self, path: str) -> int:
        """See Opener.open."""
        target = self._target(path)
        try:
            check_regular(os.lstat(target).st_mode)
            fd = os.open(target, _READ)
        except OSError as error:
            raise cannot_open(error) from None
        try:
            self._check_place(descriptor_path(fd), path)
        except (OSError, CannotOpen) as error:
            os.close(fd)
            raise (cannot_open(error) if isinstance(error, OSError) else error) from None
        return fd

    @contextmanager
    def listing(self, path: str) -> Iterator[Entries]:
        """See Opener.listing. The folder's place is checked before and after it is listed.

        A folder that is replaced and put back in between is not noticed. Opening a file checks
        its path again.
        """
        target = self._target(path)
        try:
            with os.scandir(target) as entries:
                listed = list(entries)
        except OSError as error:
            raise cannot_open(error) from None
        self._target(path)
        yield iter(listed)

    def folder(self, path: str) -> None:
        """See Opener.folder."""
        if not os.path.isdir(self._target(path)):  # noqa: PTH112 - hot
            raise CannotOpen(Cause.VANISHED)

    def _target(self, path: str) -> str:
        """Return the absolute path of a path without links."""
        try:
            target = os.path.realpath(os.path.join(self._root_path, path))  # noqa: PTH118 - hot
        except OSError:  # a link was replaced meanwhile
            raise CannotOpen(Cause.VANISHED) from None
        self._check_place(target, path)
        return target

    def _check_place(self, target: str, path: str) -> None:
        inside = relative_to(self._root_path, target)
        if inside is None or os.path.normcase(inside) != os.path.normcase(path):
            raise CannotOpen(Cause.OUTSIDE)


def _enter(folder: int, name: str, flags: int) -> int:
    """Open a folder in an open one, and close that. A link is refused, wherever it leads.

    Raises:
        OSError: ELOOP if there is a link.
    """
    try:
        return os.open(name, flags | _NO_FOLLOW, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
        raise
    finally:
        os.close(folder)
