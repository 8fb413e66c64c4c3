"""Renames that the standard library lacks: exchange two files, and never replace one.

Each call raises OSError. `is_unsupported` says whether the system or the file system lacks it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache

_RENAME_NOREPLACE = 1  # renameat2(2)
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2  # renameatx_np(2)
_RENAME_EXCL = 4
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


def is_unsupported(error: OSError) -> bool:
    """Whether a call failed because the system or the file system does not have it."""
    return error.errno in _UNSUPPORTED


def exchange(folder: int | None, first: str, second: str) -> None:
    """Exchange two files of one open folder in one atomic step.

    Raises:
        OSError: ENOENT if one of them is missing. See also `is_unsupported`.
    """
    if sys.platform == "darwin":
        _call("renameatx_np", (folder, first), (folder, second), _RENAME_SWAP)
    else:
        _call("renameat2", (folder, first), (folder, second), _RENAME_EXCHANGE)


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
        each
        for folder, name in (one, other)
        for each in (
            ctypes.c_int(here if folder is None else folder),
            ctypes.c_char_p(os.fsencode(name)),
        )
    ]
    while call(*places, ctypes.c_uint(flags)):
        error = ctypes.get_errno()
        if error != errno.EINTR:
            raise OSError(error, os.strerror(error))
