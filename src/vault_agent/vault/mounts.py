"""On which kind of file system a folder lies."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_REMOTE = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "afpfs", "webdav", "9p"),
        *("ceph", "glusterfs", "davfs", "coda", "ncpfs"),
        *("vfat", "msdos", "exfat", "fat"),  # no journal, and coarse times
    }
)
_LOCAL_FUSE = frozenset({"fuse.gocryptfs", "fuse.encfs", "fuse.securefs", "fuse.cryfs"})


def file_system(folder: int | None, path: str) -> str:
    """Return the name of the file system of an open folder, or "" if the system does not tell."""
    if sys.platform == "win32":
        return "smb" if path.startswith("\\\\") else ""
    if folder is None:
        return ""
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


def is_remote(name: str) -> bool:
    """Whether files of this file system may be uploaded later, or be changed by other computers.

    An unknown one in user space counts: most of them are mounts of a cloud.
    """
    return name in _REMOTE or (name.startswith("fuse.") and name not in _LOCAL_FUSE)
