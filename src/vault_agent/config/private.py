"""Files and folders that only their owner may read."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step; it has mode 0600 before it holds a byte.

    A link is followed, so that settings kept elsewhere stay there. Folders that are missing are
    made with mode 0700. On Windows, where modes mean little, the user's profile protects the file.
    """
    target = path.resolve()
    make_private_directory(target.parent)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)  # is 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)  # noqa: PTH105 - a str and a Path, both at hand
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108 - as above
        raise


@contextlib.contextmanager
def edited_alone(path: Path) -> Iterator[None]:
    """Have whoever edits this file wait for one another: of two at once, one would undo the other.

    The lock is the folder's, so no file of its own is left behind. Windows has none for folders,
    and neither have some network drives: there, the later one wins.
    """
    folder = path.resolve().parent
    make_private_directory(folder)
    if sys.platform == "win32":
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def make_private_directory(path: Path) -> None:
    """Make a folder and its missing parents with mode 0700; one that exists is left as it is."""
    missing = [path, *path.parents]
    for folder in reversed([folder for folder in missing if not folder.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)
