"""Opens files that somebody else may have replaced by something else. It never waits for a pipe."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final

from vault_agent.errors import Failed

if TYPE_CHECKING:
    from pathlib import Path

_FLAGS: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)


class NotRegular(OSError):
    """Something else is where a file is expected. `kind` says in words what it is."""

    def __init__(self, mode: int) -> None:
        super().__init__(errno.EINVAL, "it is no regular file")
        if stat.S_ISDIR(mode):
            self.kind = "a folder"
        else:
            self.kind = "a pipe" if stat.S_ISFIFO(mode) else "a device or socket"


def open_regular(path: Path, flags: int) -> int:
    """Return the descriptor of a regular file, opened as by `os.open`. A new one is private.

    Raises:
        NotRegular: if there is something else.
        OSError: if it cannot be opened.
    """
    try:
        descriptor = os.open(path, flags | _FLAGS, 0o600)
    except OSError:
        mode = _mode(path)
        if mode and not stat.S_ISREG(mode):  # such as a folder that is to be written
            raise NotRegular(mode) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    raise NotRegular(mode)


def read_regular(path: Path, most: int = -1, *, follow: bool = False) -> bytes | None:
    """Return the first `most` bytes of a regular file, or None if it cannot be read.

    A pipe does not make the caller wait. A link counts as no file, unless `follow` is true.
    """
    try:
        return read_file(path, most, follow=follow)
    except (OSError, ValueError):  # a name with NUL is a ValueError
        return None


def read_optional(path: Path) -> bytes:
    """Return the bytes of a file, or none if it cannot be read. A link is followed."""
    return read_regular(path, follow=True) or b""


def open_state(path: Path, flags: int) -> int:
    """Return the descriptor of a file that the program needs in the folder of an index.

    Raises:
        Failed: `INDEX_IO_ERROR` if it is no regular file. It names the folder without the private
            path to it.
        OSError: if it cannot be opened.
    """
    try:
        return open_regular(path, flags)
    except NotRegular as error:
        raise Failed(
            "INDEX_IO_ERROR",
            f"Instead of the file {path.name}, there is {error.kind} in the folder"
            f" {path.parent.name}.",
            remedy="Remove it, and try again. The setting `index.dir` says where that folder is.",
        ) from None


def read_state(path: Path, most: int = -1) -> bytes:
    """Return the first `most` bytes of a file that the program needs in the folder of an index.

    Raises:
        Failed: `INDEX_IO_ERROR` if it is no regular file.
        OSError: if it is missing or cannot be read.
    """
    return _read(open_state(path, os.O_RDONLY), most)


def read_file(path: Path, most: int = -1, *, follow: bool = True) -> bytes:
    """Return the first `most` bytes of a regular file, all if it is negative.

    Raises:
        NotRegular: if there is something else.
        OSError: if it is missing or cannot be read.
    """
    return _read(open_regular(path, os.O_RDONLY | (0 if follow else _NO_FOLLOW)), most)


def _read(descriptor: int, most: int) -> bytes:
    try:
        # The descriptor is closed here, since `fdopen` leaves that of a folder open.
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


def _mode(path: Path) -> int:
    """Return the type and permissions of what is at a path, 0 if that is not known."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0
