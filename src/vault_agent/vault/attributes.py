"""What a file has besides its bytes: mode, owner, extended attributes with access control lists.

A file that takes another one's place gets all of them, as far as the process may set them.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from contextlib import suppress

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
    for name in _attributes(source):
        with suppress(OSError):
            os.setxattr(target, name, os.getxattr(source, name))


def _attributes(file: int) -> list[str]:
    if not hasattr(os, "listxattr"):
        return []
    try:
        return sorted(os.listxattr(file))
    except OSError:
        return []
