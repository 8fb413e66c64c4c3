"""Finishes writes that were interrupted: by a crash, or by a failure of the disk.

Every file is looked at by its bytes, never by its time. Bytes that are neither those before nor
those after are somebody's: they are never overwritten, at most merged.
"""

from __future__ import annotations

import errno
import secrets
import time
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from vault_agent.errors import VaultAgentError
from vault_agent.markdown.edit import spliced
from vault_agent.model.identifiers import content_hash
from vault_agent.model.write_state import WriteState
from vault_agent.model.writing import SERVER
from vault_agent.store.writes.record import FileChange, NewWrite
from vault_agent.text.names import lies_in
from vault_agent.vault.folder import NotAFile
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.write import (
    Changed,
    InUse,
    give_back,
    move_new,
    temporary_name,
)
from vault_agent.writing.disk import (
    CREATE,
    EDIT,
    FOLDER,
    NO_FOLDER,
    REMOVE,
    at,
    remove_folders,
)
from vault_agent.writing.merge import merged
from vault_agent.writing.transaction import Planned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vault_agent.store.writes.log import WriteLog
    from vault_agent.store.writes.record import Logged
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.disk import Disk
    from vault_agent.writing.transaction import Plan

OnLeft: TypeAlias = "Callable[[Logged, int, FileChange, bytes], object]"
"""Takes a write, the position of a change, the change as it was tried, and the hash of what its
temporary file has."""

Texts: TypeAlias = "tuple[bytes | None, bytes | None]"
"""The bytes of a file before a change and after it."""

_TRIES = 3


def text_after(plan: Plan, text: bytes) -> bytes:
    """Return a text after an edit. Raises what the plan raises."""
    found = plan(text)
    return spliced(text, found.splices if isinstance(found, Planned) else found)


class Finisher:
    """Brings the files of logged writes to a state that the log describes."""

    def __init__(self, disk: Disk, log: WriteLog) -> None:
        self._disk = disk
        self._log = log
        self.copies: list[str] = []
        """Paths of copies beside notes that the index does not follow yet."""

    # --- the first change decides ---------------------------------------------------------------

    def settle(self, root: VaultRoot, logged: Logged, on_left: OnLeft) -> WriteState:
        """Finish a write that was interrupted if its first change was carried out, and log it.

        Else nothing of it was. A person's file that the first change had displaced gets its name
        back, and then it was not carried out.

        Raises:
            VaultAgentError, OSError, CannotOpen: the disk fails. The write is still open.
        """
        is_begun = self._is_begun(root, logged)
        if not is_begun and logged.state is WriteState.PREPARED:
            self._log.fail(logged.seq)
            self.sweep(root, logged, 0)
            return WriteState.FAILED
        if is_begun:
            self._log.commit(logged.seq)
            self.sweep(root, logged, 0)
        done = self.finish(root, logged, on_left, first=int(is_begun))
        self._log.finish(logged.seq, warning="RECOVERY_CONFLICT" if None in done else None)
        return WriteState.DONE

    def _is_begun(self, root: VaultRoot, logged: Logged) -> bool:
        change = logged.changes[0]
        if change.kind == EDIT:
            return self._is_edited(root, logged, change)
        if change.kind == REMOVE:
            return self._is_removed(root, logged, change)
        return self.is_done(root, change)

    def _is_edited(self, root: VaultRoot, logged: Logged, change: FileChange) -> bool:
        now = self._hash_at(root, change.path)
        displaced = self._disk.read_temporary(root, change)
        if displaced is None or content_hash(displaced) == change.hash_after:
            return now == change.hash_after
        if content_hash(displaced) == change.hash_before:
            return now != change.hash_before
        self._return_displaced(root, logged, change, displaced)
        return False

    def _is_removed(self, root: VaultRoot, logged: Logged, change: FileChange) -> bool:
        removed = self._disk.read_temporary(root, change)
        now = self._hash_at(root, change.path)
        if removed is None:
            return now is None
        if content_hash(removed) == change.hash_before:
            return True
        if now is None:
            with at(root, change.path) as (folder, name):
                move_new(folder, change.temporary or "", folder, name)
            return False
        self.keep_beside(root, logged, change.path, removed)
        return True

    # --- after it, the write is always finished -------------------------------------------------

    def finish(  # noqa: PLR0917 - all of one write
        self,
        root: VaultRoot,
        logged: Logged,
        on_left: OnLeft,
        plans: Mapping[int, Plan] | None = None,
        texts: Sequence[Texts] | None = None,
        first: int = 1,
    ) -> list[FileChange | None]:
        """Carry out the changes of a write from the position `first` on.

        `on_left` is told of each temporary file that a save at the same moment has left. `texts`
        are the bytes of all changes, if the write was not interrupted.

        Return these changes as they were carried out, with None for each that was not possible.
        Where somebody has changed a note since, it is another change than that of `logged`.

        Raises:
            VaultAgentError, OSError, CannotOpen: the disk fails. The write can be finished later.
        """
        return [
            self._bring(
                *(root, logged, position, logged.changes[position], on_left),
                *((plans or {}).get(position), None if texts is None else texts[position]),
            )
            for position in range(first, len(logged.changes))
        ]

    def _bring(  # noqa: PLR0917 - all of one change
        self,
        root: VaultRoot,
        logged: Logged,
        position: int,
        change: FileChange,
        on_left: OnLeft,
        plan: Plan | None,
        texts: Texts | None,
    ) -> FileChange | None:
        """Carry out one change unless it is done. Return None if it is not possible any more."""
        before, after = texts or self._bytes(change)
        try:
            if change.kind == EDIT:
                if texts is None:
                    self._clear_displaced(root, logged, change)
                return self._bring_edit(
                    root, logged, position, change, on_left, plan, before, after
                )
            self._disk.sweep_unfinished(root, change)  # a crash may have left them
            if self.is_done(root, change):
                pass
            elif self._disk.apply(root, change, before, after):
                return change  # its temporary file is looked at later
        except (Changed, FileExistsError, InUse):
            return None
        except (CannotOpen, FileNotFoundError, NotAFile):
            return None
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            return None
        self.sweep(root, logged, position)
        return change

    def is_done(self, root: VaultRoot, change: FileChange) -> bool:
        """Whether a change that is no edit was carried out."""
        if change.kind == CREATE:
            return self._hash_at(root, change.path) == change.hash_after
        if change.kind == REMOVE:
            return self._hash_at(root, change.path) is None
        if change.kind in (FOLDER, NO_FOLDER):
            return _exists(root, change.path) is (change.kind == FOLDER)
        return self._finish_respelling(root, change) or (
            not _exists(root, change.path) and _exists(root, change.target or "")
        )

    def _finish_respelling(self, root: VaultRoot, change: FileChange) -> bool:
        """Finish a move in two steps. Return whether the first one was done."""
        with suppress(CannotOpen), at(root, change.path) as (folder, _):
            if change.temporary and folder.exists(change.temporary):
                parent, _, to = (change.target or "").rpartition("/")
                if parent == folder.path and not folder.exists(to):
                    move_new(folder, change.temporary, folder, to)
                return True
        return False

    def _bring_edit(  # noqa: PLR0917 - all of one change
        self,
        root: VaultRoot,
        logged: Logged,
        position: int,
        change: FileChange,
        on_left: OnLeft,
        plan: Plan | None,
        before: bytes | None,
        after: bytes | None,
    ) -> FileChange | None:
        for _ in range(_TRIES):
            try:
                now = self._disk.find(root, change.path, edits=True).data
            except VaultAgentError:  # read-only by now
                return None
            if now == after:
                self._disk.sweep(root, change)
                self._log.sweep(logged.seq, position)
                return change
            if before is None or after is None:
                return None
            if now != before:
                new = self._planned_anew(plan, before, after, now)
                if new is None or new == now:
                    return None if new is None else change
                before, after = now, new
                change = self._revised(logged.seq, position, change, before, after)
            try:
                if self._disk.apply(root, change, before, after):
                    return change
            except Changed as changed:
                if changed.left is not None:
                    on_left(logged, position, change, changed.left)
        return None

    def _clear_displaced(self, root: VaultRoot, logged: Logged, change: FileChange) -> None:
        """Remove what a crash has left displaced. A person's file gets its name back."""
        displaced = self._disk.read_temporary(root, change)
        if displaced is not None and content_hash(displaced) not in (
            change.hash_before,
            change.hash_after,
        ):
            self._return_displaced(root, logged, change, displaced)
        self._disk.sweep(root, change)

    def _return_displaced(
        self, root: VaultRoot, logged: Logged, change: FileChange, displaced: bytes
    ) -> None:
        """Give a person's file its name back. If it has a newer one, keep it beside that."""
        if self._hash_at(root, change.path) in (change.hash_after, None):
            with at(root, change.path) as (folder, note):
                give_back(folder, note, change.temporary or "", change.hash_after or b"")
        else:
            self.keep_beside(root, logged, change.path, displaced)

    def _planned_anew(
        self, plan: Plan | None, before: bytes, after: bytes, now: bytes
    ) -> bytes | None:
        if plan is not None:
            with suppress(VaultAgentError):
                return text_after(plan, now)
        return merged(before, after, now)

    def _revised(
        self, seq: int, position: int, change: FileChange, before: bytes, after: bytes
    ) -> FileChange:
        revised = replace(
            change,
            hash_before=self._log.keep(before, durable=True),
            hash_after=self._log.keep(after, durable=True),
            size_before=len(before),
            size_after=len(after),
            temporary=temporary_name(),
        )
        self._log.revise(seq, position, revised)
        return revised

    # --- for both -------------------------------------------------------------------------------

    def sweep(self, root: VaultRoot, logged: Logged, position: int) -> None:
        """Remove the temporary files of a change, and the folders that an undo leaves empty.

        Raises:
            Failed, OSError: the disk fails.
        """
        change = logged.changes[position]
        self._disk.sweep(root, change)
        remove_folders(root, [each for each in logged.empties if lies_in(change.path, each)])
        self._log.sweep(logged.seq, position)

    def keep_beside(self, root: VaultRoot, logged: Logged, path: str, data: bytes) -> None:
        """Put bytes into a new file beside a note, and log that the write needs a look.

        That is a write of the server: nobody takes it back unasked, and no right is needed to keep
        what somebody has written.

        Raises:
            VaultAgentError, OSError, CannotOpen: the disk fails. It can be called again.
        """
        to = free_beside(root, self._disk, path, "conflict", data)
        if not root.has(to):
            self._log.keep(data, durable=True)
            new = NewWrite(
                id=new_id(),
                at=now_ms(),
                agent="",
                client=SERVER,
                operation="conflict",
                reply="{}",
                changes=(file_change(CREATE, to, None, data),),
            )
            copy = self._log.begin(new)
            try:
                self._disk.apply(root, copy.changes[0], None, data)
            finally:
                self.settle(root, copy, lambda *_: None)
        self.copies.append(to)
        self._log.warn(logged.seq, "WRITE_CONFLICT")

    def _bytes(self, change: FileChange) -> Texts:
        return self._log.bytes_of(change.hash_before), self._log.bytes_of(change.hash_after)

    def _hash_at(self, root: VaultRoot, path: str) -> bytes | None:
        return self._disk.hash(root, path)


def free_beside(root: VaultRoot, disk: Disk, path: str, what: str, data: bytes) -> str:
    """Return the path for bytes beside a file: `Name (what).md`, or `Name (what 2).md`.

    A name that is taken is passed over, unless its file has these bytes already.
    """
    folder, slash, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, "", ""
    for number in count(1):
        counted = what if number == 1 else f"{what} {number}"
        to = f"{folder}{slash}{stem} ({counted}){dot}{extension}"
        if not root.has(to) or disk.read(root, to) == data:
            break
    return to


def new_id() -> str:
    """Return a new ID of a write."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(4)}"


def now_ms() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def file_change(
    kind: str,
    path: str,
    before: bytes | None,
    after: bytes | None,
) -> FileChange:
    """Return a change of one file as it is logged, with a new name for its temporary file."""
    return FileChange(
        kind=kind,
        path=path,
        hash_before=None if before is None else content_hash(before),
        hash_after=None if after is None else content_hash(after),
        size_before=None if before is None else len(before),
        size_after=None if after is None else len(after),
        temporary=temporary_name(),
    )


def _exists(root: VaultRoot, path: str) -> bool:
    try:
        with at(root, path) as (folder, name):
            return folder.exists(name)
    except CannotOpen:
        return False
