"""An open folder of a vault, in which files are written. The only place that opens for writing.

Every call takes a name in this folder, never a path, and never follows a link. The folder is an
open descriptor, so it is the same one whatever its path leads to meanwhile. On systems without
calls relative to a descriptor, the path is checked before each call.

Two renames are here that the standard library lacks: exchange two files, and never replace one.
`is_unsupported` says whether the system or the file system lacks them.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Final, Self

from vault_agent.vault.platform import flag

_READ: Final = (
    os.O_RDONLY
    | flag("O_NOFOLLOW")
    | flag("O_NONBLOCK")  # do not hang if the file has become a FIFO
    | flag("O_NOCTTY")
    | flag("O_CLOEXEC")
    | flag("O_BINARY")
    | flag("O_NOINHERIT")
)
_NEW: Final = (
    os.O_RDWR
    | os.O_CREAT
    | os.O_EXCL
    | flag("O_NOFOLLOW")
    | flag("O_CLOEXEC")
    | flag("O_BINARY")
    | flag("O_NOINHERIT")
)
_NEW_MODE: Final = 0o600
_BLOCK: Final = 1 << 20


class NotAFile(OSError):
    """There is something else than a regular file at a name."""


@dataclass(frozen=True, slots=True)
class FileBytes:
    """All bytes of a file, with the `stat` they belong to."""

    data: bytes
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class FileHash:
    """The SHA-256 of all bytes of a file, with the `stat` they belong to."""

    digest: bytes
    stat: os.stat_result


class Folder:
    """One open folder of the vault. Use it as a context manager, or close it."""

    def __init__(self, fd: int | None, path: str, absolute: str) -> None:
        self.fd = fd
        self.path = path  # vault-relative, without links; "" is the vault
        self._absolute = absolute

    def close(self) -> None:
        """Close the folder. A second call does nothing."""
        if self.fd is not None and self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def call_path(self, name: str) -> str:
        """Return what a system call takes for a name, together with `fd`.

        Raises:
            OSError: ENOENT if the folder is elsewhere by now, where there are no descriptors.
        """
        if self.fd is not None:
            return name
        if os.path.realpath(self._absolute) != self._absolute:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        return os.path.join(self._absolute, name)  # noqa: PTH118 - text in, text out

    # --- looking --------------------------------------------------------------------------------

    def stat(self, name: str) -> os.stat_result:
        """Return the `stat` of a name, without following a link."""
        return os.stat(self.call_path(name), dir_fd=self.fd, follow_symlinks=False)

    def exists(self, name: str) -> bool:
        """Whether there is anything at a name."""
        try:
            self.stat(name)
        except FileNotFoundError:
            return False
        return True

    def names(self) -> list[str]:
        """Return the names in the folder."""
        return os.listdir(self._absolute if self.fd is None else self.fd)  # noqa: PTH208

    def read(self, name: str) -> FileBytes:
        """Return the bytes of a regular file.

        Raises:
            NotAFile: if it is none.
            OSError: ESTALE if it changes while it is read.
        """
        fd = self.open_to_read(name)
        try:
            return read_all(fd)
        finally:
            os.close(fd)

    def hash(self, name: str) -> FileHash:
        """Hash a regular file of any size. Raises as `read`."""
        fd = self.open_to_read(name)
        with os.fdopen(fd, "rb", buffering=0) as file:
            before = os.fstat(fd)
            digest = hashlib.file_digest(file, "sha256").digest()
            after = os.fstat(fd)
        _require_same(before, after)
        return FileHash(digest, after)

    def open_to_read(self, name: str) -> int:
        """Return a descriptor of a regular file. The caller must close it. Raises `NotAFile`."""
        # Before opening, because opening a device can have effects; and again after it.
        if not stat.S_ISREG(self.stat(name).st_mode):
            raise NotAFile(errno.EISDIR, os.strerror(errno.EISDIR))
        fd = os.open(self.call_path(name), _READ, dir_fd=self.fd)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise NotAFile(errno.EISDIR, os.strerror(errno.EISDIR))
        return fd

    # --- changing -------------------------------------------------------------------------------

    def make(self, name: str, data: bytes, *, like: int | None = None) -> None:
        """Create a file with its bytes, and make it durable. It never replaces one.

        It gets the attributes of the open file `like`, or the mode of the folder without the rights
        to enter it. If anything fails, it is removed again.

        Raises:
            OSError: EEXIST if there is something at the name.
        """
        fd = os.open(self.call_path(name), _NEW, _NEW_MODE, dir_fd=self.fd)
        try:
            try:
                write_all(fd, data)
                if like is not None:
                    copy_attributes(like, fd)
                elif hasattr(os, "fchmod"):
                    os.fchmod(fd, stat.S_IMODE(self.stat(".").st_mode) & 0o666)
                os.fsync(fd)
            finally:
                os.close(fd)
        except BaseException:
            with suppress(OSError):
                self.remove(name)
            raise

    def rename_new(self, name: str, folder: Folder, to: str) -> None:
        """Rename a file or folder into a folder, but never over another one."""
        rename_new(self.fd, self.call_path(name), folder.fd, folder.call_path(to))

    def exchange(self, name: str, folder: Folder, other: str) -> None:
        """Exchange a file with one of a folder in one step."""
        exchange(self.fd, self.call_path(name), folder.fd, folder.call_path(other))

    def replace(self, name: str, folder: Folder, to: str) -> None:
        """Rename a file over another one of a folder."""
        os.replace(
            self.call_path(name), folder.call_path(to), src_dir_fd=self.fd, dst_dir_fd=folder.fd
        )

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self.call_path(name), dir_fd=self.fd)

    def make_folder(self, name: str) -> None:
        """Create a folder. Raises FileExistsError."""
        os.mkdir(self.call_path(name), dir_fd=self.fd)

    def take_mode_of(self, other: Folder) -> None:
        """Set the mode of another folder, as far as the system has one."""
        if self.fd is not None and other.fd is not None:
            os.fchmod(self.fd, stat.S_IMODE(os.fstat(other.fd).st_mode))

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self.call_path(name), dir_fd=self.fd)

    def sync(self) -> None:
        """Make names in the folder durable. Windows does this by itself."""
        if self.fd is not None:
            os.fsync(self.fd)


def read_all(fd: int) -> FileBytes:
    """Return the bytes of an open file from its start.

    Raises:
        OSError: ESTALE if it changes while it is read.
    """
    before = os.fstat(fd)
    os.lseek(fd, 0, os.SEEK_SET)
    parts = []
    while part := os.read(fd, max(_BLOCK, min(before.st_size + 1, 1 << 26))):
        parts.append(part)
    data = b"".join(parts)
    after = os.fstat(fd)
    _require_same(before, after)
    if len(data) != after.st_size:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
    return FileBytes(data, after)


def _require_same(before: os.stat_result, after: os.stat_result) -> None:
    """Raise ESTALE if a file was changed between two looks."""
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes at the position of an open file."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


_COPYFILE_ACL_STAT_XATTR = 0b111  # copyfile(3)


def copy_attributes(source: int, target: int) -> None:
    """Give the open file `target` the attributes of the open file `source`.

    The owner comes first, because a change of owner clears bits of the mode. An owner, a group or
    an attribute that this process may not set is left out. Without the group, the group's rights
    are too: they would be given to another one.

    Raises:
        OSError: if the mode cannot be set.
    """
    old = os.fstat(source)
    if sys.platform == "win32":
        return  # ReplaceFileW keeps them
    if sys.platform == "darwin":  # also the time of birth
        ctypes.CDLL(None).fcopyfile(source, target, None, _COPYFILE_ACL_STAT_XATTR)
        os.utime(target)
    mode = stat.S_IMODE(old.st_mode)
    new = os.fstat(target)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(target, old.st_uid, old.st_gid)
        except OSError:
            try:
                os.fchown(target, -1, old.st_gid)
            except OSError:
                mode &= ~(stat.S_IRWXG | stat.S_ISGID)
    os.fchmod(target, mode)
    names = _attributes(source)
    for name in set(_attributes(target)).difference(names):  # of the folder where it was made
        with suppress(OSError):
            os.removexattr(target, name)
    for name in names:
        with suppress(OSError):
            os.setxattr(target, name, os.getxattr(source, name))


def _attributes(file: int) -> list[str]:
    if not hasattr(os, "listxattr"):
        return []
    try:
        return sorted(os.listxattr(file))
    except OSError:
        return []


_RENAME_NOREPLACE = 1  # renameat2(2)
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2  # renameatx_np(2)
_RENAME_EXCL = 4
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


def is_unsupported(error: OSError) -> bool:
    """Whether a call failed because the system or the file system does not have it."""
    return error.errno in _UNSUPPORTED


def exchange(folder: int | None, name: str, other: int | None, other_name: str) -> None:
    """Exchange two files of open folders in one atomic step.

    A watcher hears last that the file at `name` has come.

    Raises:
        OSError: ENOENT if one of them is missing, EXDEV if they are on two file systems. See also
            `is_unsupported`.
    """
    if sys.platform == "darwin":
        _call("renameatx_np", (folder, name), (other, other_name), _RENAME_SWAP)
    else:
        _call("renameat2", (folder, name), (other, other_name), _RENAME_EXCHANGE)


def rename_new(from_folder: int | None, name: str, to_folder: int | None, to: str) -> None:
    """Rename a file or folder, but never over another one.

    Raises:
        OSError: EEXIST if there is one. See also `is_unsupported`.
    """
    if sys.platform == "win32":
        os.rename(name, to)  # noqa: PTH104 - fails if there is one, on Windows
    elif sys.platform == "darwin":
        _call("renameatx_np", (from_folder, name), (to_folder, to), _RENAME_EXCL)
    else:
        _call("renameat2", (from_folder, name), (to_folder, to), _RENAME_NOREPLACE)


def replace_with_backup(path: str, replacement: str, backup: str) -> None:
    """Replace a file by another one, and rename the old one to `backup` (Windows).

    Raises:
        OSError: also if another program has the file open without sharing it.
    """
    if sys.platform == "win32":
        from ctypes import wintypes

        call = ctypes.WinDLL("kernel32", use_last_error=True).ReplaceFileW
        call.argtypes = (
            *(wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.LPCWSTR),
            *(wintypes.DWORD, wintypes.LPVOID, wintypes.LPVOID),
        )
        call.restype = wintypes.BOOL
        if not call(path, replacement, backup, 0, None, None):
            raise ctypes.WinError(ctypes.get_last_error())
    else:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


Place = tuple[int | None, str]  # an open folder, and a name in it


def _call(function: str, one: Place, other: Place, flags: int) -> None:
    call = getattr(_libc() if sys.platform != "win32" else None, function, None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    here = -2 if sys.platform == "darwin" else -100  # AT_FDCWD
    places = [
        argument
        for folder, name in (one, other)
        for argument in (
            ctypes.c_int(here if folder is None else folder),
            ctypes.c_char_p(os.fsencode(name)),
        )
    ]
    while call(*places, ctypes.c_uint(flags)):
        error = ctypes.get_errno()
        if error != errno.EINTR:
            raise OSError(error, os.strerror(error))
