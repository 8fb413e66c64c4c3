"""Finishes writes: the changes after the first one, and all after a crash or a failing disk.

What a change has done is seen from the bytes of its file, never from the file's time. If these are
neither the bytes before the change nor those after it, somebody has saved them: they are never
overwritten, at most merged.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from vault_agent.errors import Forbidden, VaultAgentError
from vault_agent.model.identifiers import content_hash
from vault_agent.model.writing import SERVER, ChangeKind, LoggedWrite, VaultChange, WriteState
from vault_agent.text.names import lies_in
from vault_agent.vault.folder import NotAFile
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.vault.paths import MAX_NAME_LENGTH
from vault_agent.vault.replacing import (
    Changed,
    FileInUse,
    Pair,
    give_back,
    move_new,
    temporary_name,
)
from vault_agent.writing.disk import at, find_temporary, make_folders, remove_folders
from vault_agent.writing.merge import merge_texts
from vault_agent.writing.replies import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vault_agent.store.write_log import WriteLog
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.disk import Disk

OnLeft: TypeAlias = "Callable[[LoggedWrite, int, VaultChange, bytes], object]"
"""Takes a write, the position of a change, the change as it was tried, and the hash of what its
temporary file has."""

_TRIES = 3


class Finisher:
    """Brings files and log to agreement: a write is finished, or logged as failed."""

    def __init__(self, disk: Disk, log: WriteLog, on_left: OnLeft) -> None:
        """Call `on_left` for each temporary file that a save at the same moment has left."""
        self._disk = disk
        self._log = log
        self._on_left = on_left
        self.unindexed: list[str] = []
        """Paths that wait to be indexed: of copies, and of writes that were interrupted."""

    # --- the first change decides ---------------------------------------------------------------

    def settle(self, root: VaultRoot, logged: LoggedWrite) -> WriteState:
        """Finish a write that was interrupted, or log it as failed. Return its new state.

        If the first change is on the disk, the write is committed and the others are carried out.
        If it is not, a `PREPARED` write has failed, and a `COMMITTED` one is carried out from its
        first change on. A person's save that the first change has displaced is put back, and then
        that change counts as not carried out.

        Raises:
            VaultAgentError, OSError, CannotOpen: the disk fails. The write can be settled later.
        """
        is_begun = self._inspect(root, logged, logged.changes[0])
        if not is_begun and logged.state is WriteState.PREPARED:
            self._log.fail(logged.seq)
            self.sweep(root, logged, 0)
            return WriteState.FAILED
        if is_begun:
            self._log.commit(logged.seq)
            self.sweep(root, logged, 0)
        done = self.finish(root, logged, first=int(is_begun))
        self._log.finish(logged.seq, warning="RECOVERY_CONFLICT" if None in done else None)
        return WriteState.DONE

    def _inspect(self, root: VaultRoot, logged: LoggedWrite, change: VaultChange) -> bool:
        """Whether a change is on the disk. A person's save that it has displaced is put back."""
        if change.kind == ChangeKind.EDIT:
            return self._inspect_edit(root, logged, change)
        if change.kind == ChangeKind.REMOVE:
            return self._inspect_removal(root, logged, change)
        return self._inspect_other(root, change)

    def _inspect_edit(self, root: VaultRoot, logged: LoggedWrite, change: VaultChange) -> bool:
        """Whether a first edit is on the disk. A person's displaced save is put back."""
        now = self._disk.hash(root, change.path)
        # Before the exchange it has our new text, and after that the displaced file.
        temporary = self._disk.read_temporary(root, change)
        if temporary is None or content_hash(temporary) == change.hash_after:
            return now == change.hash_after
        if content_hash(temporary) == change.hash_before:
            return now != change.hash_before  # it may have been saved again since
        self._return_displaced(root, logged, change, displaced=temporary)
        return False

    def _inspect_removal(self, root: VaultRoot, logged: LoggedWrite, change: VaultChange) -> bool:
        """Whether a removal is on the disk. A person's displaced save is put back.

        If there is another file of that name by now, the save is kept beside it.
        """
        removed = self._disk.read_temporary(root, change)
        now = self._disk.hash(root, change.path)
        if removed is None:
            return now is None
        if content_hash(removed) == change.hash_before:
            return now != change.hash_before  # a rename may be two steps, with both names between
        if self._disk.status(root, change.path) is None and _ensure_folder(root, change.path):
            with self._open_displaced(root, change) as pair:
                move_new(pair.temp_folder, pair.temporary, pair.folder, pair.name)
            return False
        self.keep_beside(root, logged, change.path, removed)
        return True

    # --- once it is done, the write is always finished ------------------------------------------

    def finish(
        self, root: VaultRoot, logged: LoggedWrite, first: int = 1
    ) -> list[VaultChange | None]:
        """Carry out the changes of a write from the position `first` on.

        Return these changes as they were carried out, with None for each that was not possible. The
        change of a note that somebody has changed since is planned anew.

        Raises:
            VaultAgentError, OSError, CannotOpen: the disk fails. The write can be finished later.
        """
        positions = range(first, len(logged.changes))
        return [self._bring(root, logged, position) for position in positions]

    def _bring(self, root: VaultRoot, logged: LoggedWrite, position: int) -> VaultChange | None:
        """Carry out one change unless it is done. Return None if it is not possible any more."""
        change = logged.changes[position]
        try:
            if change.kind is ChangeKind.EDIT:
                if change.before is None:  # after an interruption, only the log has the bytes
                    self._clear_displaced(root, logged, change)
                    change = self._with_bytes(change)
                return self._bring_edit(root, logged, position, change)
            self._disk.sweep_unfinished(root, change)  # temporary files that a crash has left
            if self._inspect(root, logged, change):
                pass
            elif self._disk.apply(root, self._with_bytes(change)):
                return change  # its temporary file is looked at later
        except (Changed, FileExistsError, FileInUse, CannotOpen, FileNotFoundError, NotAFile):
            return None
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            return None
        self.sweep(root, logged, position)
        return change

    def _with_bytes(self, change: VaultChange) -> VaultChange:
        """Return a change with its bytes, as far as they are kept."""
        if change.kind is ChangeKind.MOVE or not (change.before is change.after is None):
            return change
        before, after = map(self._log.bytes_of, (change.hash_before, change.hash_after))
        return replace(change, before=before, after=after)

    def _inspect_other(self, root: VaultRoot, change: VaultChange) -> bool:
        """Whether a change that displaces no file was carried out."""
        if change.kind == ChangeKind.CREATE:
            return self._disk.hash(root, change.path) == change.hash_after
        status = self._disk.status(root, change.path)
        if change.kind in (ChangeKind.MAKE_FOLDER, ChangeKind.REMOVE_FOLDER):
            is_folder = status is not None and stat.S_ISDIR(status.st_mode)
            return is_folder is (change.kind == ChangeKind.MAKE_FOLDER)
        return self._finish_respelling(root, change) or (
            status is None and self._disk.status(root, change.path_after) is not None
        )

    def _finish_respelling(self, root: VaultRoot, change: VaultChange) -> bool:
        """Finish a new spelling, which takes two renames. Return whether the first was done."""
        with suppress(CannotOpen), at(root, change.path) as (folder, _):
            if change.temporary and folder.exists(change.temporary):
                parent, _, to = change.path_after.rpartition("/")
                if parent == folder.path and not folder.exists(to):
                    move_new(folder, change.temporary, folder, to)
                return True
        return False

    def _bring_edit(
        self,
        root: VaultRoot,
        logged: LoggedWrite,
        position: int,
        change: VaultChange,
    ) -> VaultChange | None:
        for _ in range(_TRIES):
            try:
                now = self._disk.read_to_change(root, change.path, edits=True).data
            except Forbidden:  # read-only by now
                return None
            if now == change.after:
                self._disk.sweep(root, change)
                self._log.sweep(logged.seq, position)
                return change
            if change.before is None or change.after is None:
                return None
            if now != change.before:
                new = _plan_anew(change, now)
                if new is None or new == now:
                    return None if new is None else change
                change = self._revise(logged.seq, position, change, now, new)
            try:
                if self._disk.apply(root, change):
                    return change
            except Changed as changed:
                if changed.removable_hash is not None:
                    self._on_left(logged, position, change, changed.removable_hash)
        return None

    def _clear_displaced(self, root: VaultRoot, logged: LoggedWrite, change: VaultChange) -> None:
        """Remove the file that was displaced before a crash. A person's save is put back."""
        displaced = self._disk.read_temporary(root, change)
        if displaced is not None and content_hash(displaced) not in (
            change.hash_before,
            change.hash_after,
        ):
            self._return_displaced(root, logged, change, displaced)
        self._disk.sweep(root, change)

    def _return_displaced(
        self, root: VaultRoot, logged: LoggedWrite, change: VaultChange, displaced: bytes
    ) -> None:
        """Put a person's displaced save back, or keep it beside a newer file of that name."""
        is_gone = self._disk.status(root, change.path) is None
        is_ours = is_gone or self._disk.hash(root, change.path) == change.hash_after
        if is_ours and _ensure_folder(root, change.path):
            with self._open_displaced(root, change) as pair:
                give_back(pair, change.hash_after or b"")
        else:
            self.keep_beside(root, logged, change.path, displaced)

    @contextmanager
    def _open_displaced(self, root: VaultRoot, change: VaultChange) -> Iterator[Pair]:
        """Open the folders of a note and of the file that was displaced."""
        with at(root, change.path) as note, find_temporary(root, change) as (folder, temporary):
            if folder is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            yield Pair(*note, folder, temporary)

    def _revise(
        self, seq: int, position: int, change: VaultChange, before: bytes, after: bytes
    ) -> VaultChange:
        """Replace an edit in the log by one of the bytes that the note has now."""
        edit = VaultChange.edit(change.path, before, after, remake=change.remake)
        revised = replace(edit, links=change.links, temporary=temporary_name())
        self._log.revise(seq, position, revised)
        return revised

    # --- for both -------------------------------------------------------------------------------

    def sweep(self, root: VaultRoot, logged: LoggedWrite, position: int) -> None:
        """Remove the temporary files of a change, and the folders that an undo leaves empty.

        Raises:
            Failed, OSError: the disk fails.
        """
        change = logged.changes[position]
        self._disk.sweep(root, change)
        remove_folders(root, [folder for folder in logged.empties if lies_in(change.path, folder)])
        self._log.sweep(logged.seq, position)

    def keep_beside(self, root: VaultRoot, logged: LoggedWrite, path: str, data: bytes) -> None:
        """Put bytes into a new file beside a note, and warn in the log entry of the write.

        If a link or a file is in place of the note's folder, it is at the top of the vault.

        The new file is a write of the server. It needs no right of an author, because it keeps what
        somebody has written. An undo without an ID never takes it back.

        Raises:
            VaultAgentError, OSError, CannotOpen: the disk fails. It can be called again.
        """
        if not _ensure_folder(root, path):
            path = path.rpartition("/")[2]
        to = free_beside(root, self._disk, path, "conflict", data)
        if not root.has(to):
            change = VaultChange.create(to, data)
            copy = self._log.begin(new_write("", SERVER, "conflict", (change,)))
            try:
                self._disk.apply(root, copy.changes[0])
            finally:
                self.settle(root, copy)
        self.unindexed.append(to)
        self._log.warn(logged.seq, "WRITE_CONFLICT")


def _ensure_folder(root: VaultRoot, path: str) -> bool:
    """Whether the folder of a note is there, or could be made again."""
    try:
        make_folders(root, path.rpartition("/")[0])
        with at(root, path):
            return True
    except (FileExistsError, PermissionError):
        return False
    except CannotOpen as error:
        if error.cause is not Cause.OUTSIDE:
            raise
        return False


def free_beside(root: VaultRoot, disk: Disk, path: str, what: str, data: bytes) -> str:
    """Return the path for bytes beside a file: `Name (what).md`, or `Name (what 2).md`.

    The path is free, or its file has these bytes already.
    """
    paths = (
        numbered(path, f" ({what})" if number == 1 else f" ({what} {number})")
        for number in count(1)
    )
    return next(free for free in paths if not root.has(free) or disk.read(root, free) == data)


def numbered(path: str, mark: str) -> str:
    """Return the path of a file with a mark at the end of its name, before the extension.

    A name that would be too long for the disk loses characters before the mark.
    """
    folder, slash, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    while len(os.fsencode(f"{stem}{mark}{dot}{extension}")) > MAX_NAME_LENGTH and stem[1:]:
        stem = stem[:-1]
    return f"{folder}{slash}{stem}{mark}{dot}{extension}" if stem else f"{path}{mark}"


def now_ms() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def new_write(
    agent: str, client: str, operation: str, changes: Sequence[VaultChange], **more: Any
) -> LoggedWrite:
    """Return a write to log, with names for the temporary files of its changes."""
    named = tuple(replace(change, temporary=temporary_name()) for change in changes)
    return LoggedWrite(
        write_id=more.pop("write_id", None) or new_id(),
        at=now_ms(),
        agent=agent,
        client=client,
        operation=operation,
        changes=named,
        **more,
    )


def _plan_anew(change: VaultChange, now: bytes) -> bytes | None:
    """Return the present bytes of a file with an edit of its earlier bytes, or None.

    None means that the edit conflicts with what somebody has saved since.
    """
    if change.remake is not None:
        with suppress(VaultAgentError):
            return change.remake(now)
    return merge_texts(change.before or b"", change.after or b"", now)
