"""Files that are replaced as a whole, and files and folders that only their owner may read."""

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

# The name of a file that is not complete yet. It is short and says nothing of the file's own name:
# that may be as long as a name can be.
_PREFIX: Final = ".vault-agent-"
_SUFFIX: Final = ".new"

# Windows refuses to replace a file that somebody has open, if only for a moment.
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
    """Replace a file, or make it, with `data`; `replacing` says what is promised."""
    with replacing(path, mode=mode, keep_mode=keep_mode, durable=durable) as file:
        file.write(data)


@contextmanager
def replacing(
    path: Path, *, mode: int = PRIVATE_FILE, keep_mode: bool = False, durable: bool = True
) -> Iterator[BinaryIO]:
    """Yield a file to fill; it takes the place of `path` in one step when the block ends.

    Others see the old file or the complete new one, also after a crash. If the block or the
    replacement fails, the old file stays and no other is left behind. Only a process that is killed
    leaves one: `remove_unfinished` finds it.

    The file has `mode` before it holds a byte; with `keep_mode`, a file that exists keeps its own.
    If `durable`, the new file and its name are on the disk when this returns. A symbolic link is
    replaced, not followed. The folder must exist.

    Raises:
        OSError: where the file cannot be written or replaced.
    """
    if keep_mode:
        with suppress(OSError):
            mode = path.stat().st_mode & 0o777
    descriptor, temporary = tempfile.mkstemp(_SUFFIX, _PREFIX, path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode != PRIVATE_FILE:  # which mkstemp gives it
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
    """Remove what a killed process left of its replacements in a folder.

    For folders with one writer at a time, and for the writer only: it cannot tell what is left from
    what another process is writing.
    """
    for file in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):
            file.unlink()


def is_unfinished(name: str) -> bool:
    """Whether a file's name is that of a replacement that is not complete."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def sync_file(path: Path) -> None:
    """Make what a file holds durable."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make renames and new names in a folder durable; Windows cannot, and needs not to."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_private_folder(path: Path) -> None:
    """Make a folder and its missing parents with mode 0700; one that exists is left as it is."""
    missing = [path, *path.parents]
    for folder in reversed([folder for folder in missing if not folder.exists()]):
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def keep_new_files_private() -> None:
    """Have this process, and those it starts, make files and folders for their owner only.

    Libraries make files of their own, with the modes that the user's umask leaves.
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
