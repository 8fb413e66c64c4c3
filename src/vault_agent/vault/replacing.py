"""How bytes reach a file of the vault: atomic steps, and a look at what they displaced.

A file is replaced by an exchange with a complete one, in one step of the kernel. What was displaced
is read after that. If it is not what the edit was made of, somebody has saved meanwhile: their file
gets its name back. A displaced file stays for some seconds under a temporary name, because an
editor may have it open and save into it.

Names of temporary files: `.va-{16 hex}.new` while it is written, which is always ours, and `.tmp`
for a complete or a displaced one. Those of edits and deletions are in the vault's folder
`TEMP_FOLDER`. If a note is on another file system than that, they are beside the note. A new file,
or one that gets another spelling, has its temporary name for a moment in its own folder, whose
rights it takes over.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vault_agent.errors import Unavailable
from vault_agent.model.identifiers import content_hash
from vault_agent.text.names import IGNORE_ALL, TEMP_FOLDER
from vault_agent.vault.folder import (
    FileBytes,
    NotAFile,
    is_unsupported,
    read_all,
    replace_with_backup,
)
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.vault.platform import file_system, is_durable

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.vault.folder import Folder
    from vault_agent.vault.root import VaultRoot

_SWAPS = 20
_PASSING = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ESTALE}
    | {errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)
"""Failures after which a file system may work again."""
_NO_LINKS = frozenset({errno.EPERM, errno.EMLINK, errno.EXDEV, errno.EACCES})
# Windows refuses a rename while another program has the file open.
_SHARING_SECONDS = 3.0
_SHARING_PAUSES = (0.01, 0.5)  # the first and the longest
_SHARING_ERRORS = frozenset({5, 32, 33, 1175, 1176, 1177})

_T = TypeVar("_T")


class Way(StrEnum):
    """How a file is replaced: the stronger way first."""

    EXCHANGE = "exchange"  # nobody's save can be overwritten unseen
    RENAME = "rename"  # a rename between two comparisons


class Changed(Exception):
    """Somebody else has changed the file meanwhile, and their file is in its place.

    Args:
        removable_hash: the temporary file may be removed at the next look if its bytes have this
            hash. All other bytes are a save of somebody else. None: there is no temporary file.
    """

    def __init__(self, removable_hash: bytes | None = None) -> None:
        super().__init__("the file was changed meanwhile")
        self.removable_hash = removable_hash


class FileInUse(Exception):
    """Another program has the file open, and the system does not allow to replace it."""


def open_temp_folder(root: VaultRoot) -> Folder:
    """Open the folder for temporary files, and make it if it is missing.

    Raises as `make_temp_folder`.
    """
    with suppress(CannotOpen):
        return root.open_folder(TEMP_FOLDER)
    make_temp_folder(root)
    return root.open_folder(TEMP_FOLDER)


def make_temp_folder(root: VaultRoot) -> None:
    """Make the folder for temporary files, and the file in it for git.

    Raises:
        CannotOpen: the vault is away.
        OSError: there is something else at its name, or it cannot be made.
    """
    with root.open_folder("") as top:
        with suppress(FileExistsError):
            top.make_folder(TEMP_FOLDER)
            with root.open_folder(TEMP_FOLDER) as temp_folder:
                temp_folder.take_mode_of(top)
        try:
            with root.open_folder(TEMP_FOLDER) as temp_folder, suppress(FileExistsError):
                temp_folder.make(".gitignore", IGNORE_ALL)
        except CannotOpen as error:
            if error.cause is Cause.UNREADABLE:
                raise OSError(errno.EIO, os.strerror(errno.EIO)) from None
            raise OSError(errno.EPERM, f"there is no folder {TEMP_FOLDER}") from None
        top.sync()


def temporary_name() -> str:
    """Return a new name for a temporary file."""
    return f".va-{secrets.token_hex(8)}.tmp"


def being_written(temporary: str) -> str:
    """Return the name of a temporary file while it is being written."""
    return temporary.removesuffix(".tmp") + ".new"


class Pair(NamedTuple):
    """A file of a folder, and its temporary file in the folder `temp_folder`."""

    folder: Folder
    name: str
    temp_folder: Folder
    temporary: str


class Replacer:
    """Replaces files of one vault, in the strongest way that its file system has."""

    def __init__(self, way: Way = Way.EXCHANGE) -> None:
        self.way = way

    def replace(self, pair: Pair, before: bytes, after: bytes) -> bool:
        """Replace the bytes `before` of a file by `after`.

        Return whether the displaced file has the temporary name now. Else it is gone. All is
        durable when this returns.

        Raises:
            Changed: if the file has other bytes, or was changed meanwhile.
            FileNotFoundError, NotAFile: if there is no file of this name.
            FileInUse: on Windows.
            OSError: the file is unchanged.
        """
        temp_folder, temporary = pair.temp_folder, pair.temporary
        old = pair.folder.open_to_read(pair.name)
        try:
            if not _holds(old, before):
                raise Changed
            _make_temporary(temp_folder, temporary, after, old)
            ours = _identity(temp_folder.stat(temporary))
            try:
                is_displaced = self._put(pair, old)
            except BaseException:
                with suppress(OSError):
                    temp_folder.remove(temporary)
                raise
            if is_displaced:
                _look(pair, before, after, ours)
            else:
                _look_at_open(pair, old, before, ours)
        finally:
            os.close(old)
        return is_displaced

    def _put(self, pair: Pair, old: int) -> bool:
        """Put the complete temporary file in place. Return whether the displaced one is kept."""
        folder, name, temp_folder, temporary = pair
        if folder.fd is None and os.name == "nt":
            new = being_written(temporary)
            temp_folder.replace(temporary, temp_folder, new)
            paths = [temp_folder.call_path(file_name) for file_name in (new, temporary)]
            _when_free(lambda: replace_with_backup(folder.call_path(name), *paths))
            return True
        if self.way is Way.EXCHANGE:
            try:
                folder.exchange(name, temp_folder, temporary)
            except OSError as error:
                if not is_unsupported(error):
                    raise
                self.way = Way.RENAME
            else:
                return True
        if _identity(folder.stat(name)) != _identity(os.fstat(old)):
            raise Changed
        temp_folder.replace(temporary, folder, name)
        return False

    def create(self, folder: Folder, name: str, temporary: str, data: bytes) -> None:
        """Create a file with its bytes. It never replaces one, and is durable.

        Raises:
            FileExistsError: if there is something of this name.
            OSError: nothing was created.
        """
        new = being_written(temporary)
        folder.make(new, data)
        try:
            move_new(folder, new, folder, name)
            try:
                folder.sync()
            except OSError:
                _take_back(folder, name, new, data)
                raise
        except BaseException:
            with suppress(OSError):
                folder.remove(new)
            raise


def _look(pair: Pair, before: bytes, after: bytes, ours: tuple[int, int]) -> None:
    """Read what was displaced. If it is not `before`, put it back and raise Changed."""
    failure: OSError | None = None
    try:
        if content_hash(pair.temp_folder.read(pair.temporary).data) == content_hash(before):
            pair.folder.sync()
            return
    except OSError as error:
        failure = _failure_of(error)
    try:
        is_ours = _put_back(pair, ours, content_hash(after))
    except FileNotFoundError:  # somebody has removed the displaced file
        raise Changed from None
    with suppress(OSError):
        pair.folder.sync()
    if failure is not None:
        with suppress(OSError):
            pair.temp_folder.remove(pair.temporary)
        raise failure
    raise Changed(content_hash(after) if is_ours else _hash_of(pair.temp_folder, pair.temporary))


def _look_at_open(pair: Pair, old: int, before: bytes, ours: tuple[int, int]) -> None:
    """Read the open file that was displaced. If it is not `before`, put it back, and raise.

    A name that has newer bytes keeps them.

    Raises:
        Changed: as `Replacer.replace`.
    """
    failure: OSError | None = None
    try:
        if _holds(old, before):
            pair.folder.sync()
            return
    except OSError as error:
        failure = _failure_of(error)
    temporary = temporary_name()
    _make_temporary(pair.temp_folder, temporary, read_all(old).data, old)
    if _identity(pair.folder.stat(pair.name)) == ours:
        pair.temp_folder.replace(temporary, pair.folder, pair.name)
    else:
        pair.temp_folder.remove(temporary)
    raise failure or Changed


def _failure_of(error: OSError) -> OSError | None:
    """Return the failure of the disk, or None: somebody writes, or has put something else there."""
    is_changing = error.errno == errno.ESTALE or isinstance(error, NotAFile)
    return None if is_changing else error


def _take_back(folder: Folder, name: str, new: str, data: bytes) -> None:
    """Give a new file its temporary name back, unless somebody has written it already."""
    move_new(folder, name, folder, new)
    if _hash_of(folder, new) != content_hash(data):
        move_new(folder, new, folder, name)


def move_new(folder: Folder, name: str, to_folder: Folder, to: str) -> None:
    """Rename a file or folder, never over another one, where the file system can do that.

    Raises:
        FileExistsError: if there is something at the new name.
        OSError: EXDEV if it is another file system.
    """
    try:
        _when_free(lambda: folder.rename_new(name, to_folder, to))
    except OSError as error:
        if not is_unsupported(error):
            raise
    else:
        return
    if to_folder.exists(to):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    if not stat.S_ISDIR(folder.stat(name).st_mode):
        try:
            os.link(
                folder.call_path(name),
                to_folder.call_path(to),
                src_dir_fd=folder.fd,
                dst_dir_fd=to_folder.fd,
                follow_symlinks=False,
            )
        except FileExistsError:
            raise
        except OSError as error:
            if not (is_unsupported(error) or error.errno in _NO_LINKS):
                raise
        else:
            folder.remove(name)
            return
    os.rename(
        folder.call_path(name),
        to_folder.call_path(to),
        src_dir_fd=folder.fd,
        dst_dir_fd=to_folder.fd,
    )


def remove_temporary(folder: Folder, name: str) -> None:
    """Remove a temporary file if it is there. On a disk that is read-only by now, none is."""
    if folder.exists(name):
        with suppress(FileNotFoundError):
            folder.remove(name)


def _make_temporary(folder: Folder, temporary: str, data: bytes, like: int) -> None:
    """Create a complete temporary file. Until it is, it has a name that is always ours."""
    new = being_written(temporary)
    folder.make(new, data, like=like)
    try:
        folder.replace(new, folder, temporary)
    except BaseException:
        with suppress(OSError):
            folder.remove(new)
        raise


def give_back(pair: Pair, hash_after: bytes) -> None:
    """Give a person's file that a write has displaced its name back, unless it has a newer one.

    What the temporary name has then is ours or an older file.
    """
    folder, name = pair.folder, pair.name
    try:
        ours = _identity(folder.stat(name))
    except FileNotFoundError:
        move_new(pair.temp_folder, pair.temporary, folder, name)
    else:
        if _hash_of(folder, name) == hash_after:
            _put_back(pair, ours, hash_after)
    folder.sync()


def _put_back(pair: Pair, ours: tuple[int, int], hash_after: bytes) -> bool:
    """Give the newest file that is not ours its name back. Return whether ours was displaced.

    Somebody may save again at any moment, also by a rename. What an exchange displaces is newer
    than what it puts in place, unless it is ours or was displaced before.
    """
    folder, name, temp_folder, displaced = pair
    older = set()
    for _ in range(_SWAPS):
        held = _identity(temp_folder.stat(displaced))
        try:
            folder.exchange(name, temp_folder, displaced)
        except FileNotFoundError:  # the name was removed: what is not ours is kept
            if held != ours:
                with suppress(FileExistsError):
                    move_new(temp_folder, displaced, folder, name)
            if not temp_folder.exists(displaced):
                raise Changed from None
            continue
        except OSError as error:
            if not is_unsupported(error):
                raise
            if _identity(folder.stat(name)) == ours:
                temp_folder.replace(displaced, folder, name)
            return False
        displaced_now = _identity(temp_folder.stat(displaced))
        if displaced_now == ours and _hash_of(temp_folder, displaced) == hash_after:
            return True
        if displaced_now in older:
            return False
        older.add(held)
    return False


def _hash_of(folder: Folder, name: str) -> bytes:
    """Return the hash of a file, or of nothing if it cannot be read."""
    try:
        return content_hash(folder.read(name).data)
    except OSError:
        return content_hash(b"")


def _holds(fd: int, data: bytes) -> bool:
    """Whether an open file has exactly these bytes."""
    if os.fstat(fd).st_size != len(data):
        return False
    try:
        content: FileBytes = read_all(fd)
    except OSError as error:
        if error.errno != errno.ESTALE:
            raise
        return False
    return content.data == data


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _when_free(call: Callable[[], _T]) -> _T:
    """Call, and try again for some seconds while another program has the file open (Windows).

    Raises:
        FileInUse: if it is not closed in time.
    """
    deadline = time.monotonic() + _SHARING_SECONDS
    pause, longest = _SHARING_PAUSES
    while True:
        try:
            return call()
        except OSError as error:
            if os.name != "nt" or getattr(error, "winerror", None) not in _SHARING_ERRORS:
                raise
            if time.monotonic() >= deadline:
                raise FileInUse from None
        time.sleep(pause)
        pause = min(2 * pause, longest)


@dataclass(frozen=True, slots=True)
class Probe:
    """What the file system of a folder can do."""

    way: Way
    durable: bool  # what was synced survives a power cut


def probe(root: VaultRoot) -> Probe:
    """Try in a vault what writing needs.

    Raises:
        Unavailable: `WRITE_UNSUPPORTED_HERE` if files cannot be created safely.
        CannotOpen, OSError: the vault cannot be opened, or its disk is full or fails for now.
    """
    try:
        make_temp_folder(root)
        with root.open_folder(TEMP_FOLDER) as temp_folder, root.open_folder("") as folder:
            return _try_ways(folder, temp_folder)
    except OSError as error:
        if error.errno in _PASSING:
            raise
        raise _unsupported(error.strerror or "it failed") from None


def _try_ways(folder: Folder, temp_folder: Folder) -> Probe:
    """Return what is possible with a file in each of two folders."""
    name, temporary = temporary_name(), temporary_name()
    try:
        temp_folder.make(temporary, b"1")
        with suppress(FileExistsError):
            temp_folder.make(temporary, b"")
            raise _unsupported("a new file can replace another one")
        move_new(temp_folder, temporary, folder, name)
        _expect(folder.read(name).data == b"1", "a renamed file has other bytes")
        temp_folder.make(temporary, b"2")
        way = _way(folder, name, temp_folder, temporary)
        folder.sync()
        return Probe(way, is_durable(file_system(folder.call_path("."), folder.fd)))
    finally:
        for place, made in ((folder, name), (temp_folder, temporary)):
            with suppress(OSError):
                remove_temporary(place, made)


def _way(folder: Folder, name: str, temp_folder: Folder, temporary: str) -> Way:
    try:
        folder.exchange(name, temp_folder, temporary)
    except OSError as error:
        if error.errno in _PASSING:
            raise
        return Way.RENAME
    swapped = (folder.read(name).data, temp_folder.read(temporary).data) == (b"2", b"1")
    _expect(swapped, "an exchange of two files does not work")
    return Way.EXCHANGE


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise _unsupported(what)


def _unsupported(what: str) -> Unavailable:
    return Unavailable(
        "WRITE_UNSUPPORTED_HERE",
        f"The vault's file system does not allow safe writes: {what.lower()}. With rclone, mount"
        " with --vfs-cache-mode writes. Reading works.",
    )
