"""Differences between operating systems in opening files, one function each, and file systems."""

from __future__ import annotations

import ctypes
import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Final

_MOUNT_POINT_TAG = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT: a junction


def flag(name: str) -> int:
    """Return an open flag by its name in `os`, or 0 if the system does not have it."""
    value: int = getattr(os, name, 0)
    return value


def has_descriptor_relative_calls() -> bool:
    """Whether `open`, `stat` and `readlink` work relative to a descriptor, and `scandir` on one."""
    return (
        hasattr(os, "O_NOFOLLOW")
        and {os.open, os.stat, os.readlink} <= os.supports_dir_fd
        and os.scandir in os.supports_fd
    )


def names_are_exact() -> bool:
    """Whether a file can be opened by its exact name only.

    macOS and Windows also accept other letter case or normalisation, and Windows the 8.3 name. So
    the requested name alone does not decide there whether a path is excluded.
    """
    return sys.platform not in ("darwin", "win32")


def inodes_are_known() -> bool:
    """Whether a walk gets each file's inode. Windows gives it only for open files."""
    return sys.platform != "win32"


def is_link(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a symbolic link or, on Windows, a junction."""
    if sys.platform == "win32":
        tag = entry.stat(follow_symlinks=False).st_reparse_tag
        return entry.is_symlink() or tag == _MOUNT_POINT_TAG
    return entry.is_symlink()


def folder_at(path: str) -> tuple[int, int] | None:
    """Return the device and inode of the folder at a path, or None if there is none.

    Another folder may be mounted at the same path.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 - the path is text here
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def descriptor_path(fd: int) -> str:
    """Return the absolute path of an open file, spelled as on disk."""
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
    """Return the absolute `path` relative to `root`, separated by "/"; "" for the root itself.

    Return None if it is outside; `vault2` is not inside `vault`. Both must be free of links.
    """
    prefix = root.rstrip(os.sep) + os.sep
    if os.path.normcase(path + os.sep) == os.path.normcase(prefix):
        return ""
    if os.path.normcase(path).startswith(os.path.normcase(prefix)):
        return path[len(prefix) :].replace(os.sep, "/")
    return None


_FILE_SYSTEMS: Final = tomllib.loads(
    Path(__file__).with_name("file_systems.toml").read_text("utf-8")
)
_SHARED, _LOCAL_FUSE, _WITHOUT_JOURNAL = (
    frozenset(_FILE_SYSTEMS[name].split()) for name in ("shared", "local_fuse", "without_journal")
)
_NETWORK_DRIVE: Final = 4  # DRIVE_REMOTE
_OPEN: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_CLOEXEC", 0)


def file_system(path: str, folder: int | None = None) -> str:
    """Return the name of the file system of a folder, or "" if the system does not tell.

    `folder` is its descriptor if it is open.
    """
    if sys.platform == "win32":
        drive = os.path.splitdrive(path)[0] + "\\"
        remote = ctypes.windll.kernel32.GetDriveTypeW(drive) == _NETWORK_DRIVE
        return "smb" if drive.startswith("\\\\") or remote else ""
    try:
        opened = os.open(path, _OPEN) if folder is None else folder
    except OSError:
        return ""
    try:
        return _of_descriptor(opened)
    finally:
        if folder is None:
            os.close(opened)


def is_shared(name: str) -> bool:
    """Whether files of this file system are changed or uploaded elsewhere too.

    Their changes may be reported by no event here. An unknown one in user space counts: most of
    them are mounts of a cloud.
    """
    return name in _SHARED or (name.startswith("fuse.") and name not in _LOCAL_FUSE)


def is_durable(name: str) -> bool:
    """Whether what was synced to this file system survives a power cut."""
    return not is_shared(name) and name not in _WITHOUT_JOURNAL


def _of_descriptor(folder: int) -> str:
    if sys.platform == "darwin":
        status = ctypes.create_string_buffer(4096)
        if ctypes.CDLL(None).fstatfs(folder, status):
            return ""
        return status.raw[72:88].split(b"\0")[0].decode("ascii", "replace")
    try:
        own = Path(f"/proc/self/fdinfo/{folder}").read_text("ascii")
        mounts = Path("/proc/self/mountinfo").read_bytes()
    except OSError:
        return ""
    number = next((line.split()[1] for line in own.splitlines() if line.startswith("mnt_id")), "")
    for line in mounts.splitlines():
        if line.split(b" ", 1)[0].decode() == number:
            return os.fsdecode(line.partition(b" - ")[2].split(b" ")[0])
    return ""
