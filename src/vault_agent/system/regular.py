"""Reading a file that somebody else may have replaced by something else. Standard library only."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def read_regular(path: Path, most: int, *, follow: bool = False) -> bytes | None:
    """Return the first `most` bytes of a regular file, or None if it cannot be read.

    A pipe does not make the caller wait. A link counts as no file, unless `follow` is true.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    if not follow:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):  # a name with NUL is a ValueError
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        # The descriptor is closed here, since `fdopen` leaves that of a folder open.
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    except OSError:
        return None
    finally:
        os.close(descriptor)
