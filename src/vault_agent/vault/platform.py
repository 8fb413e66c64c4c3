"""What differs between systems when files are opened: one function each."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from functools import cache

_OPENAT2 = 437  # the same number on every 64-bit Linux named here; see syscalls(2)
_OPENAT2_MACHINES = frozenset({"x86_64", "aarch64", "riscv64", "ppc64le", "s390x"})
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08

_MOUNT_POINT_TAG = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT: a junction


class _OpenHow(ctypes.Structure):
    """`struct open_how` of openat2(2)."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def flag(name: str) -> int:
    """Return an open flag by its name in `os`, 0 where the system has none."""
    value: int = getattr(os, name, 0)
    return value


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


@cache
def _how(flags: int) -> _OpenHow:
    resolve = _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS
    return _OpenHow(flags, 0, resolve)


def openat2(folder: int, path: str, flags: int) -> int:
    """Open `path` beneath the descriptor `folder`, through no link at all (Linux).

    Raises OSError; ELOOP where a link is in the path, EXDEV where it would leave.
    """
    how = _how(flags)
    libc = _libc()
    while True:
        fd: int = libc.syscall(
            ctypes.c_long(_OPENAT2),
            ctypes.c_int(folder),
            ctypes.c_char_p(os.fsencode(path)),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if fd >= 0:
            return fd
        error = ctypes.get_errno()
        if error != errno.EINTR:
            raise OSError(error, os.strerror(error))


def has_openat2(folder: int) -> bool:
    """Whether openat2 works here: an old kernel lacks it, a sandbox may forbid it."""
    if sys.platform != "linux" or platform.machine() not in _OPENAT2_MACHINES:
        return False
    try:
        os.close(openat2(folder, ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def has_descriptor_relative_calls() -> bool:
    """Whether files can be opened, looked at and listed relative to a folder's descriptor."""
    return (
        hasattr(os, "O_NOFOLLOW")
        and {os.open, os.stat, os.readlink} <= os.supports_dir_fd
        and os.scandir in os.supports_fd
    )


def names_are_exact() -> bool:
    """Whether a file answers to its own spelling only.

    macOS and Windows also find it by other letter case or normalisation (and Windows by its 8.3
    name), so a path's name alone does not tell there whether it is excluded.
    """
    return sys.platform not in ("darwin", "win32")


def inodes_are_known() -> bool:
    """Whether a walk learns each file's inode: not on Windows, short of opening every file."""
    return sys.platform != "win32"


def is_link(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a link of any kind: on Windows a junction is a folder that is one."""
    if sys.platform == "win32":
        tag = entry.stat(follow_symlinks=False).st_reparse_tag
        return entry.is_symlink() or tag == _MOUNT_POINT_TAG
    return entry.is_symlink()


def descriptor_path(fd: int) -> str:
    """Return the absolute path under which the system knows an open file, spelled as on disk."""
    if sys.platform == "win32":
        import msvcrt
        from ctypes import wintypes

        call = ctypes.WinDLL("kernel32", use_last_error=True).GetFinalPathNameByHandleW
        call.argtypes = (wintypes.HANDLE, wintypes.LPWSTR, wintypes.DWORD, wintypes.DWORD)
        call.restype = wintypes.DWORD
        buffer = ctypes.create_unicode_buffer(32768)
        if not 0 < call(msvcrt.get_osfhandle(fd), buffer, len(buffer), 0) < len(buffer):
            raise ctypes.WinError(ctypes.get_last_error())
        path = buffer.value
        if path.startswith("\\\\?\\UNC\\"):
            return "\\\\" + path[8:]
        return path.removeprefix("\\\\?\\")
    if sys.platform == "darwin":
        import fcntl

        return os.fsdecode(fcntl.fcntl(fd, fcntl.F_GETPATH, b"\0" * 1024).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - text in, text out


def relative_to(root: str, path: str) -> str | None:
    """Return absolute `path` relative to `root`, with "/" and "" for the root itself.

    None where it is not inside; `vault2` is not inside `vault`. Both must be free of links.
    """
    prefix = root.rstrip(os.sep) + os.sep
    if os.path.normcase(path + os.sep) == os.path.normcase(prefix):
        return ""
    if os.path.normcase(path).startswith(os.path.normcase(prefix)):
        return path[len(prefix) :].replace(os.sep, "/")
    return None
