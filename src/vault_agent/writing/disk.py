"""Reads the files of a vault, and carries out one logged change of a file. Synchronous.

`coded` turns failures of the disk into the errors of a write. `WriteExecutor` says it if a change
was made all the same.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from vault_agent.errors import Conflict, Failed, Forbidden, NotFound, VaultAgentError
from vault_agent.model.identifiers import content_hash
from vault_agent.model.writing import ChangeKind
from vault_agent.text.names import TEMP_FOLDER, escaped, fold
from vault_agent.vault.folder import FileBytes, FileHash, NotAFile
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.vault.paths import folders_of
from vault_agent.vault.replacing import (
    Changed,
    FileInUse,
    Pair,
    Replacer,
    being_written,
    move_new,
    open_temp_folder,
    remove_temporary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vault_agent.model.writing import VaultChange
    from vault_agent.vault.folder import Folder
    from vault_agent.vault.root import VaultRoot

_T = TypeVar("_T")

MAX_KEPT_BYTES = 64 << 20
"""A larger attachment is not removed: its bytes would be in memory several times."""


class Disk:
    """Reads and changes files of one vault, by paths without links."""

    def __init__(self) -> None:
        self.replacer = Replacer()
        self.durable = True  # if not, each new text is read back and compared

    # --- reading --------------------------------------------------------------------------------

    def read_to_change(self, root: VaultRoot, path: str, *, edits: bool) -> FileBytes:
        """Read a file and check that it can be edited, or without `edits` moved or removed.

        Raises:
            Forbidden: `FILE_NOT_WRITABLE`.
            CannotOpen, OSError: it cannot be read.
        """
        with at(root, path) as (folder, name):
            file = folder.read(name)
            _check_writable(folder, name, file.stat, edits=edits)
            return file

    def check(self, root: VaultRoot, path: str, *, edits: bool) -> None:
        """Check without reading a file what `read_to_change` checks. Raises as `read_to_change`."""
        with at(root, path) as (folder, name):
            _check_writable(folder, name, folder.stat(name), edits=edits)

    def read(self, root: VaultRoot, path: str) -> bytes | None:
        """Return the bytes of a file, or None if there is none."""
        return _unless_missing(lambda: read_file(root, path))

    def status(self, root: VaultRoot, path: str) -> os.stat_result | None:
        """Return the `stat` of a file or folder, or None if there is none."""
        return _unless_missing(lambda: root.status(path))

    def hash(self, root: VaultRoot, path: str) -> bytes | None:
        """Return the hash of a file of any size, or None if there is none."""
        return _unless_missing(lambda: hash_file(root, path).digest)

    def read_temporary(self, root: VaultRoot, change: VaultChange) -> bytes | None:
        """Return the bytes of the temporary file of a change, or None if there is none."""
        with find_temporary(root, change) as (folder, temporary):
            return None if folder is None else _unless_missing(lambda: folder.read(temporary).data)

    # --- changing -------------------------------------------------------------------------------

    def apply(self, root: VaultRoot, change: VaultChange) -> bool:
        """Carry out a change with its bytes. Return whether it leaves a temporary file.

        That file is the displaced one. It is looked at and removed later.

        Raises:
            Changed: somebody else has changed the file, or there is another one.
            Failed: `WRITE_NOT_VERIFIED`.
            CannotOpen, FileInUse, OSError: `Finisher.settle` finds out what was changed.
        """
        before, after, temporary = change.before, change.after, change.temporary or ""
        match change.kind:
            case ChangeKind.MAKE_FOLDER:
                make_folders(root, change.path)
            case ChangeKind.REMOVE_FOLDER:
                with at(root, change.path) as (folder, name):
                    folder.remove_folder(name)
                    folder.sync()
            case ChangeKind.MOVE:
                self._move(root, change)
            case ChangeKind.CREATE if after is not None:
                self._create(root, change.path, temporary, after)
            case ChangeKind.REMOVE if before is not None:
                _with_pair(root, change, lambda pair: _remove(pair, before))
                return True
            case ChangeKind.EDIT if before is not None and after is not None:
                return _with_pair(root, change, lambda pair: self._replace(pair, before, after))
            case _:
                raise Changed  # the bytes of the change are no longer kept
        return False

    def _replace(self, pair: Pair, before: bytes, after: bytes) -> bool:
        is_displaced = self.replacer.replace(pair, before, after)
        if not self.durable:
            self._verify(pair.folder, pair.name, after)
        return is_displaced

    def _create(self, root: VaultRoot, path: str, temporary: str, data: bytes) -> None:
        parent, _, name = path.rpartition("/")
        made = make_folders(root, parent)
        try:
            with root.open_folder(parent) as folder:
                self.replacer.create(folder, name, temporary, data)
                if not self.durable:
                    self._verify(folder, name, data)
        except BaseException:
            remove_folders(root, made)
            raise

    def _move(self, root: VaultRoot, change: VaultChange) -> None:
        temporary = change.temporary or ""
        parent, _, name = change.path.rpartition("/")
        to_parent, _, to = change.path_after.rpartition("/")
        made = make_folders(root, to_parent)
        try:
            with ExitStack() as stack:
                folder = stack.enter_context(root.open_folder(parent))
                to_folder = stack.enter_context(root.open_folder(to_parent))
                if parent == to_parent and fold(name) == fold(to):
                    _respell(folder, name, temporary, to)
                    return
                move_new(folder, name, to_folder, to)
                expected = change.hash_before
                if expected and not _holds(lambda: to_folder.hash(to).digest, expected):
                    # Somebody saved between our read and the rename.
                    with suppress(FileExistsError):
                        move_new(to_folder, to, folder, name)
                    raise Changed  # noqa: TRY301 - new folders are removed
                _sync_or_undo(folder, name, to_folder, to)
        except BaseException:
            remove_folders(root, made)
            raise

    def _verify(self, folder: Folder, name: str, data: bytes) -> None:
        """Read a file back, because the file system is not to be trusted.

        Raises:
            Failed: `WRITE_NOT_VERIFIED`.
        """
        try:
            good = folder.names().count(name) == 1 and _holds(lambda: folder.read(name).data, data)
        except OSError:
            good = False
        if not good:
            raise Failed("WRITE_NOT_VERIFIED", "The drive does not give back what was written.")

    # --- temporary files ------------------------------------------------------------------------

    def sweep(self, root: VaultRoot, change: VaultChange) -> None:
        """Remove the temporary files of a change. Nobody may need their bytes any more."""
        if change.temporary is None:
            return
        self.sweep_unfinished(root, change)
        with suppress(CannotOpen), find_temporary(root, change) as (folder, temporary):
            if folder is not None:
                remove_temporary(folder, temporary)

    def sweep_unfinished(self, root: VaultRoot, change: VaultChange) -> None:
        """Remove the temporary files of a change that were still being written."""
        if change.temporary is None:
            return
        for path in {TEMP_FOLDER, *(_folder_of(path) for path in (change.path, change.path_after))}:
            with suppress(CannotOpen), root.open_folder(path) as folder:
                remove_temporary(folder, being_written(change.temporary))


@contextmanager
def at(root: VaultRoot, path: str) -> Iterator[tuple[Folder, str]]:
    """Open the folder of a file by its path without links. Yield it and the file's name."""
    parent, _, name = path.rpartition("/")
    with root.open_folder(parent) as folder:
        yield folder, name


@contextmanager
def find_temporary(root: VaultRoot, change: VaultChange) -> Iterator[tuple[Folder | None, str]]:
    """Find the temporary file of a change. Yield its folder, opened, and its name.

    It is in `TEMP_FOLDER`, or beside the note. The folder is None if there is no such file.
    """
    temporary = change.temporary or ""
    with ExitStack() as stack:
        for path in (TEMP_FOLDER, _folder_of(change.path)) if temporary else ():
            folder = _unless_missing(partial(root.open_folder, path), or_link=path != TEMP_FOLDER)
            if folder is not None and stack.enter_context(folder).exists(temporary):
                yield folder, temporary
                return
        yield None, temporary


def _with_pair(root: VaultRoot, change: VaultChange, step: Callable[[Pair], _T]) -> _T:
    """Take a step with the file of a change and the folder for its temporary file.

    That folder is `TEMP_FOLDER`, or the file's own if that is on another file system.
    """
    temporary = change.temporary or ""
    with at(root, change.path) as (folder, name), open_temp_folder(root) as temp_folder:
        try:
            return step(Pair(folder, name, temp_folder, temporary))
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        remove_temporary(temp_folder, temporary)  # it is never in both
        return step(Pair(folder, name, folder, temporary))


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _unless_missing(read: Callable[[], _T], *, or_link: bool = True) -> _T | None:
    """Return what `read` returns, or None if it finds no file, or a link where a folder was."""
    try:
        return read()
    except (FileNotFoundError, NotADirectoryError, NotAFile):
        return None
    except CannotOpen as error:
        if error.cause is Cause.VANISHED or (or_link and error.cause is Cause.OUTSIDE):
            return None
        raise


def read_file(root: VaultRoot, path: str) -> bytes:
    """Return the bytes of a file by its path without links. Raises as `hash_file`."""
    with at(root, path) as (folder, name):
        return folder.read(name).data


def hash_file(root: VaultRoot, path: str) -> FileHash:
    """Hash a file by its path without links.

    Raises:
        CannotOpen, OSError: it cannot be read.
    """
    with at(root, path) as (folder, name):
        return folder.hash(name)


def make_folders(root: VaultRoot, path: str) -> list[str]:
    """Create a folder and those above it that are missing. Return the new ones, outermost first.

    Raises:
        FileExistsError: there is a file where one of the folders would be.
    """
    made: list[str] = []
    done = ""
    for name in path.split("/") if path else ():
        inner = f"{done}/{name}" if done else name
        with root.open_folder(done) as folder:
            try:
                folder.make_folder(name)
            except FileExistsError:
                mode = folder.stat(name).st_mode
                if not (stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
                    raise
            else:
                made.append(inner)
                with root.open_folder(inner) as new:
                    new.take_mode_of(folder)
                folder.sync()
        done = inner
    return made


def missing_folders(root: VaultRoot, path: str) -> list[str]:
    """Return the folders above a path that do not exist, outermost first."""
    missing: list[str] = []
    for folder in folders_of(path):
        try:
            with root.open_folder(folder):
                break
        except CannotOpen as error:
            if error.cause is not Cause.VANISHED:
                break
            missing.append(folder)
    return missing[::-1]


def remove_folders(root: VaultRoot, made: Sequence[str]) -> None:
    """Remove new folders that are still empty."""
    for path in reversed(made):
        with suppress(CannotOpen, OSError), at(root, path) as (folder, name):
            folder.remove_folder(name)


def _remove(pair: Pair, before: bytes) -> None:
    folder, name, temp_folder, temporary = pair
    move_new(folder, name, temp_folder, temporary)
    if not _holds(lambda: temp_folder.read(temporary).data, before):
        with suppress(FileExistsError):  # somebody has made a new one, which is newer
            move_new(temp_folder, temporary, folder, name)
        raise Changed(None if not temp_folder.exists(temporary) else content_hash(before))
    _sync_or_undo(folder, name, temp_folder, temporary)


def _respell(folder: Folder, name: str, temporary: str, to: str) -> None:
    """Rename a file to another spelling of its name, by way of its temporary name.

    The file system may take both spellings for one name.
    """
    move_new(folder, name, folder, temporary)
    try:
        move_new(folder, temporary, folder, to)
    except BaseException:
        move_new(folder, temporary, folder, name)
        raise
    _sync_or_undo(folder, name, folder, to)


def _sync_or_undo(folder: Folder, name: str, to_folder: Folder, to: str) -> None:
    """Make a rename durable, or take it back."""
    try:
        to_folder.sync()
        folder.sync()
    except OSError:
        move_new(to_folder, to, folder, name)
        raise


def _holds(read: Callable[[], bytes], expected: bytes) -> bool:
    """Whether a file has the bytes or the hash that are expected. Not while somebody writes it."""
    try:
        return read() == expected
    except OSError as error:
        if error.errno == errno.ESTALE or isinstance(error, NotAFile):
            return False
        raise


def _may_write(folder: Folder, name: str) -> bool:
    return os.access(
        folder.call_path(name),
        os.W_OK,
        dir_fd=folder.fd,
        effective_ids=os.access in os.supports_effective_ids,
    )


def _check_writable(folder: Folder, name: str, file: os.stat_result, *, edits: bool) -> None:
    """Refuse a file that is read-only, and an edit of one that cannot be replaced by a new file.

    Raises:
        Forbidden: `FILE_NOT_WRITABLE`.
    """
    if not file.st_mode & 0o222 or not _may_write(folder, name):
        raise Forbidden("FILE_NOT_WRITABLE", "The file is read-only.")
    if not edits:
        return
    if file.st_nlink > 1:
        raise Forbidden(
            "FILE_NOT_WRITABLE",
            "The file has another name (a hard link), which would keep the old text.",
            remedy="Replace it by a copy, then repeat the change.",
        )
    if folder.fd is None:
        return
    status = os.fstat(folder.fd)
    is_sticky = status.st_mode & stat.S_ISVTX
    is_owner = not is_sticky or os.geteuid() in (0, file.st_uid, status.st_uid)
    if not (is_owner and _may_write(folder, ".")):
        raise Forbidden(
            "FILE_NOT_WRITABLE",
            "The file cannot be replaced, because its folder may not be written.",
        )


# --- failures as errors of a write ----------------------------------------------------------------

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})
_ELSEWHERE = frozenset({Cause.OUTSIDE, Cause.EXCLUDED})


class NoteBusy(Conflict):
    """Somebody else has just changed the note, or is writing it. Wait, then look again."""

    def __init__(self) -> None:
        super().__init__("NOTE_BUSY", "Somebody is changing the note.", {"retryAfter": 3})


@contextmanager
def coded() -> Iterator[None]:
    """Turn failures of the disk into errors with a code. Changes of other people pass through."""
    try:
        yield
    except (FileInUse, CannotOpen, OSError) as error:
        raise coded_error(error) from error


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Name the file in the error of a write that is about several."""
    try:
        yield
    except NoteBusy:
        raise  # `VaultWriter` waits and tries again
    except VaultAgentError as error:
        raise error.again(escaped(path)) from None


def coded_error(error: Exception) -> VaultAgentError:
    """Return the error of a write for a failure."""
    if isinstance(error, Changed):
        return Conflict("WRITE_CONFLICT", "Somebody changed the note while it was written.")
    if isinstance(error, FileInUse):
        return Conflict("FILE_IN_USE", "Another program has the file open.")
    if isinstance(error, CannotOpen):
        if error.cause in _ELSEWHERE:
            return Forbidden(
                "WRITE_OUTSIDE_SCOPE",
                "The path leads over a link or an excluded folder, where nothing is written.",
                remedy="Choose another path.",
            )
        if error.cause in (Cause.FORBIDDEN, Cause.UNREADABLE):
            return _not_writable("it or its folder cannot be read")
        return missing()
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, NotAFile) or number in _MISSING:
        return missing()
    if number == errno.EEXIST:
        return Conflict("NOTE_EXISTS", "There is a file of this name, or where a folder would be.")
    if number == errno.ESTALE:
        return NoteBusy()
    if number == errno.EXDEV:
        return Forbidden(
            "FILE_NOT_WRITABLE",
            "The new place is on another file system, and a move between two is not safe.",
            remedy="Copy it there, then delete it here.",
        )
    if number in _NO_ROOM:
        return Failed(
            "DISK_FULL",
            "There is no room in the vault, so nothing was written.",
            remedy="Free some space, then repeat the change.",
        )
    return _not_writable(getattr(error, "strerror", None) or "the system refuses it")


def missing() -> NotFound:
    """Return the error of a write to a note that does not exist."""
    return NotFound(
        "NOTE_NOT_FOUND", "There is no such note.", remedy="Create it, or check the path."
    )


def _not_writable(why: str) -> Forbidden:
    return Forbidden("FILE_NOT_WRITABLE", f"The file cannot be written: {why.lower()}.")
