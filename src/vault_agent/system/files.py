"""Atomic replacement of files, and private files and folders.

Files that somebody else may have replaced by a pipe or a folder are opened without a wait.

Advisory locks are of files and folders too. The system releases them when their holder ends.
`filelock` does the locking. It gets descriptors, not paths. So it creates and removes no file, and
never falls back to a lock that outlives its holder.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from vault_agent.errors import Failed

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    import tempfile  # late: most programs only read

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
    _sync(path, os.O_RDWR)


def sync_folder(path: Path) -> None:
    """Make renames and new names in a folder durable. Windows does this by itself."""
    if os.name != "nt":
        _sync(path, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
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


_FLAGS: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)


def is_folder(path: Path) -> bool:
    """Whether there is a folder at a path that a person or another program names.

    `Path.is_dir` fails for a name that is too long, and for what lies in a closed folder.
    """
    return os.path.isdir(path)  # noqa: PTH112


def expanded(path: Path | str) -> Path:
    """Return a path with `~` expanded. That of an unknown user stays: there is no such folder."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser fails for that one


def reason_of(error: OSError) -> str:
    """Return why the system refused something, for a message."""
    return error.strerror or type(error).__name__


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


_POLL_SECONDS: Final = 0.01
_UNSUPPORTED: Final = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


class AlreadyLocked(Exception):
    """Another holder has the lock."""


class LocksUnsupported(Exception):
    """The file system does not support locks, as on some network drives."""


@contextmanager
def locked(path: Path, *, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the exclusive lock on a file. Blocks up to `wait_seconds`.

    The file is created if missing and never removed.

    Raises:
        AlreadyLocked: if another holder still has the lock after `wait_seconds`.
        LocksUnsupported: if the file system does not support locks.
        Failed: `INDEX_IO_ERROR` if it is no regular file.
        OSError: if the file cannot be opened, or the lock fails in another way.
    """
    with _locked(open_state(path, os.O_RDWR | os.O_CREAT), wait_seconds):
        yield


@contextmanager
def folder_locked(path: Path) -> Iterator[None]:
    """Hold the exclusive lock on a folder, without a lock file. Blocks until it is free.

    Raises:
        LocksUnsupported: if folders cannot be locked: on Windows and some network drives.
        OSError: if the folder cannot be opened, or the lock fails in another way.
    """
    if os.name == "nt":
        raise LocksUnsupported
    with _locked(os.open(path, os.O_RDONLY), float("inf")):
        yield


def is_locked(path: Path) -> bool:
    """Whether another process holds the lock on a file. A missing file is not locked.

    Takes the lock for a moment. On POSIX that is a shared one, so that several may look at once,
    and without filelock, whose import takes longer than the rest of a short command.

    Raises:
        Failed: `INDEX_IO_ERROR` if it is no regular file.
    """
    if os.name == "nt":
        try:
            with locked(path) if path.exists() else nullcontext():
                return False
        except AlreadyLocked:
            return True
        except (LocksUnsupported, OSError):
            return False
    import fcntl

    try:
        descriptor = open_state(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
    finally:
        os.close(descriptor)
    return False


@contextmanager
def _locked(descriptor: int, wait_seconds: float) -> Iterator[None]:
    from filelock import lock_descriptor

    try:
        deadline = time.monotonic() + wait_seconds
        try:
            while not lock_descriptor(descriptor, blocking=False):
                if time.monotonic() >= deadline:
                    raise AlreadyLocked
                time.sleep(_POLL_SECONDS)
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                raise LocksUnsupported from error
            raise
        yield
    finally:
        os.close(descriptor)  # releases the lock: no other descriptor shares this open file
