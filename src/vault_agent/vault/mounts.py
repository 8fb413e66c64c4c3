"""On which kind of file system a folder lies, and what that means for watching and writing."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Final

# Another computer, a cloud or the host of a virtual machine has these files too.
_SHARED: Final = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "afpfs", "ncpfs", "coda"),
        *("webdav", "davfs", "ceph", "glusterfs", "lustre"),
        *("9p", "drvfs", "virtiofs", "vboxsf", "prl_fs", "vmhgfs"),
        *("fuse", "macfuse", "osxfuse"),  # in user space, of an unknown kind
    }
)
_LOCAL_FUSE: Final = frozenset({"fuse.gocryptfs", "fuse.encfs", "fuse.securefs", "fuse.cryfs"})
_WITHOUT_JOURNAL: Final = frozenset({"vfat", "msdos", "exfat", "fat"})
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
