"""Atomic replacement of files, and private files and folders."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700

# The name of an incomplete file. It does not contain the final name, which may already have the
# greatest length that the file system allows.
_PREFIX: Final = ".vault-agent-"
_SUFFIX: Final = ".new"

ABANDONED_SECONDS: Final = 600.0
"""An incomplete file that was not written to for so long is one of a process that was killed."""

# Windows does not replace a file that another process has open, so retry for a moment.
_ATTEMPTS: Final = 20 if sys.platform == "win32" else 1
_SECONDS_BETWEEN: Final = 0.05


def replace_file(
    path: Path,
    data: bytes,
    *,
    mode: int = PRIVATE_FILE,
    keep_mode: bool = False,
    durable: bool = True,
) -> None:
    """Replace or create a file with the content `data`. See `replacing` for the guarantees."""
    with replacing(path, mode=mode, keep_mode=keep_mode, durable=durable) as file:
        file.write(data)


@contextmanager
def replacing(
    path: Path, *, mode: int = PRIVATE_FILE, keep_mode: bool = False, durable: bool = True
) -> Iterator[BinaryIO]:
    """Yield a file to write. It atomically replaces `path` when the block ends.

    Readers see the old file or the complete new one, even after a crash. If the block or the
    replacement fails, the old file stays and the new one is removed. A killed process leaves its
    incomplete file behind: `remove_unfinished` removes it.

    The file gets `mode` before anything is written to it. With `keep_mode`, an existing file keeps
    its mode. If `durable`, the new file and its name are on the disk when this returns. A symbolic
    link is replaced, not followed. The folder must exist.

    Raises:
        OSError: if the file cannot be written or replaced.
    """
    if keep_mode:
        with suppress(OSError):
            mode = path.stat().st_mode & 0o777
    descriptor, temporary = tempfile.mkstemp(_SUFFIX, _PREFIX, path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode != PRIVATE_FILE:  # mkstemp's mode
                os.chmod(temporary, mode)  # noqa: PTH101 - a str at hand
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        _rename(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108 - a str at hand
        raise
    if durable:
        sync_folder(path.parent)


def remove_unfinished(folder: Path) -> None:
    """Remove the incomplete files that a killed process left in a folder.

    Another process may be writing one right now, so a file stays until nothing was written to it
    for `ABANDONED_SECONDS`.
    """
    for file in folder.glob("*"):
        if is_unfinished(file.name):
            with suppress(OSError):
                if abs(time.time() - file.stat().st_mtime) > ABANDONED_SECONDS:
                    file.unlink()


def is_unfinished(name: str) -> bool:
    """Whether a file's name is that of an incomplete replacement."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def sync_file(path: Path) -> None:
    """Make a file's content durable."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make renames and new names in a folder durable. Windows does this by itself."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_private_folder(path: Path) -> None:
    """Create a folder and its missing parents with mode 0700. Existing folders keep their mode."""
    missing = [path, *path.parents]
    for folder in reversed([folder for folder in missing if not folder.exists()]):
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def keep_new_files_private() -> None:
    """Let this process and its children create files and folders for their owner only.

    This covers files that libraries create, whose modes depend on the umask.
    """
    os.umask(0o077)


def _rename(temporary: str, path: Path) -> None:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            os.replace(temporary, path)  # noqa: PTH105 - a str and a Path, both at hand
        except PermissionError:
            if attempt == _ATTEMPTS:
                raise
            time.sleep(_SECONDS_BETWEEN)
        else:
            return
