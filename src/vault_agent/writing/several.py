"""Writes of several files that belong together, and undo. Every method runs in a thread."""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vault_agent.errors import (
    Conflict,
    Failed,
    NotFound,
)
from vault_agent.model.identifiers import content_hash
from vault_agent.model.warning import Warning
from vault_agent.model.write_state import Right
from vault_agent.model.writing import SERVER, Written
from vault_agent.store.writes.record import FileChange, shown
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.writing import replies
from vault_agent.writing.disk import CREATE, EDIT, FOLDER, MOVE, NO_FOLDER, REMOVE
from vault_agent.writing.failures import coded
from vault_agent.writing.finish import file_change, free_beside, new_id
from vault_agent.writing.journal import (
    Disturbed,
    Journal,
    check_hash,
    move_change,
)
from vault_agent.writing.permission import TRASH
from vault_agent.writing.transaction import (
    Create,
    Edit,
    MakeFolder,
    Move,
    NeedsJob,
    Overtaken,
    Remove,
    RemoveFolder,
    Transaction,
)
from vault_agent.writing.undo import UNDO, Touched, taken_back

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.model.writing import LoggedWrite, Write, Writer
    from vault_agent.store.writes.record import Logged
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.transaction import Change

_CLIENTS: Final = {
    "cli": "the command line",
    "http": "a program over HTTP",
    "web": "the web page",
    SERVER: "the server itself",
}


class Several:
    """The writes of several files at once."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def last_write(self, write: Write) -> int | None:
        """Return the number of the last write. See `Writing.last_write`."""
        with self._journal.opened(write) as (_, replayed):
            return None if replayed is not None else self._journal.log.last_seq()

    def transact(self, write: Write, plan: Callable[[], Transaction], since: int | None) -> Written:
        """Change several files. See `Writing.transact`."""
        with self._journal.opened(write) as (root, replayed):
            if replayed is not None:
                return replayed
            if since is not None and since != self._journal.log.last_seq():
                raise Overtaken
            transaction = plan()
            changes = [self._logged_change(root, write, each) for each in transaction.changes]
            _check_hash(write, changes)
            if not changes:
                return replies.unchanged(
                    write, transaction.path, b"", content_hash(b""), *transaction.warnings
                )
            return self._carry_out_all(root, write, transaction, changes)

    def undo(
        self, write_id: str | None, write: Write, *, copy_beside: bool, at_once: int | None
    ) -> Written:
        """Take back a write. See `Writing.undo`."""
        with self._journal.opened(write) as (root, replayed):
            if replayed is not None:
                return replayed
            logged: Logged | None
            logged, warnings = self._to_take_back(write_id, write.caller)
            if at_once is not None and len(logged.changes) > at_once:
                raise NeedsJob
            try:
                transaction = taken_back(root, self._journal.disk, self._journal.log, logged)
            except Touched as touched:
                if not copy_beside or touched.before is None:
                    details = {"writeId": logged.id}
                    raise Conflict("UNDO_CONFLICT", touched.what, details) from None
                transaction = self._copy_beside(root, write, touched, touched.before)
                logged = None
            changes = [self._logged_change(root, write, each) for each in transaction.changes]
            transaction = replace(transaction, warnings=(*transaction.warnings, *warnings))
            if not changes:
                return replies.unchanged(
                    write, transaction.path, b"", content_hash(b""), *transaction.warnings
                )
            _check_hash(write, changes)
            return self._carry_out_all(root, write, transaction, changes, undoes=logged)

    # --- the log --------------------------------------------------------------------------------

    def shown(self, write_id: str) -> LoggedWrite | None:
        """Return a write as the log shows it."""
        logged = self._journal.log.get(write_id)
        return None if logged is None else shown(logged)

    def logged(self, write_id: str) -> tuple[LoggedWrite, bool | None]:
        """Return a write, and whether its file has other bytes now. See `Writing.logged`.

        A file of another size is not read.
        """
        journal = self._journal
        logged = journal.log.get(write_id)
        if logged is None:
            raise NotFound("WRITE_NOT_FOUND", "There is no such write.")
        if len(logged.changes) != 1:
            return shown(logged), None
        change = logged.changes[0]
        is_move = change.kind == MOVE
        expected = change.hash_before if is_move else change.hash_after
        path = change.target or change.path
        size = change.size_before if is_move else change.size_after
        with coded(), journal.open_root() as root:
            status = root.status(path)
            if status is not None and stat.S_ISREG(status.st_mode) and status.st_size != size:
                return shown(logged), True
            now = journal.disk.hash(root, path)
        return shown(logged), now != expected

    def forget(self, write_id: str | None, before: int | None) -> int:
        """Delete the kept bytes of writes. No write may run. See `Writing.forget`."""
        log = self._journal.log
        if write_id is not None and log.get(write_id) is None:
            raise NotFound("WRITE_NOT_FOUND", "There is no such write.")
        return log.forget(write_id=write_id, before=before)

    # --- internals ------------------------------------------------------------------------------

    def _to_take_back(
        self, write_id: str | None, caller: Writer
    ) -> tuple[Logged, tuple[Warning, ...]]:
        """Return the write that an undo is about: the one with the ID, or the caller's own last.

        The owner is told whose the last write is, if it is somebody else's. An agent is not: that
        would name notes outside its folders.

        Raises:
            NotFound: `WRITE_NOT_FOUND`.
        """
        log = self._journal.log
        if write_id is not None:
            logged = log.get(write_id)
            if logged is None or not (caller.is_owner or logged.agent == caller.name):
                raise NotFound("WRITE_NOT_FOUND", "There is no such write of yours.")
            return logged, ()
        logged = log.last_of(caller)
        last = log.last() if caller.is_owner else None
        whose, details = ("", {}) if last is None else _whose(last)
        if logged is None:
            what = f"You have no write to take back.{whose}"
            raise NotFound("WRITE_NOT_FOUND", what, details)
        if last is None or last.seq == logged.seq:
            return logged, ()
        what = f"This took back your own last write.{whose}"
        return logged, (Warning.of("UNDO_NOT_LAST", what, details),)

    def _copy_beside(
        self, root: VaultRoot, write: Write, touched: Touched, before: bytes
    ) -> Transaction:
        """Return the change that puts the bytes before a write beside a file, if none has them."""
        self._journal.permission.check_right(replace(write, right=Right.CREATE))
        path = free_beside(root, self._journal.disk, touched.path, "before undo", before)
        what = f"{touched.what} The text before is beside it."
        warning = Warning("UNDO_CONFLICT", what, {"path": touched.path})
        changes = () if root.has(path) else (Create(path, before),)
        return Transaction(path, changes, created=True, warnings=(warning,))

    def _carry_out_all(
        self,
        root: VaultRoot,
        write: Write,
        transaction: Transaction,
        changes: list[FileChange],
        undoes: Logged | None = None,
    ) -> Written:
        write_id = None if write.dry_run else new_id()
        main = next(
            (each for each in changes if transaction.path in (each.path, each.target)), None
        )
        written = replies.of_change(
            write,
            write_id,
            main or changes[0],
            created=transaction.created,
            moved_from=transaction.moved_from,
            trash_path=transaction.trash_path,
            spans=sum(each.links for each in changes),
        )
        others = [each for each in changes if each is not main]
        warnings = (*transaction.warnings, *self._journal.warnings())
        written = replies.with_files(
            replace(written, path=transaction.path, warnings=warnings), others
        )
        shown = _with_diffs(written, transaction.changes)
        if write_id is None:
            return shown
        for change in changes:
            if change.kind == MOVE and change.hash_before is None:
                self._settle_below(root, change.path)
        self._journal.permission.count(write.caller)
        texts = [(_before(each), _after(each)) for each in transaction.changes]
        taken = None if undoes is None else undoes.id
        plans = {
            position: each.plan
            for position, each in enumerate(transaction.changes)
            if isinstance(each, Edit) and each.plan is not None
        }
        try:
            logged = self._journal.begin(root, write, write_id, written, changes, texts, taken)
        except Failed:
            with suppress(Failed):  # what it has kept until the disk was full is of no use
                self._journal.log.remove_unneeded()
            raise
        if left := self._journal.carry_out(root, logged, texts, plans):
            details = {"paths": [changes[position].path for position in left[:20]]}
            what = f"{len(left)} of its files were changed by somebody else, and are left alone."
            warning = Warning("RECOVERY_CONFLICT", what, details)
            return replace(shown, warnings=(*shown.warnings, warning))
        return shown

    def _settle_below(self, root: VaultRoot, folder: str) -> None:
        """Look at the displaced files in a folder that moves, which would move with it.

        Raises:
            Disturbed: it is too early to look at one of them.
        """
        journal = self._journal
        while (lingering := journal.linger.take_due()) is not None:
            journal.look(root, lingering)
        if journal.linger.is_below(folder):
            raise Disturbed

    def _logged_change(self, root: VaultRoot, write: Write, change: Change) -> FileChange:
        self._check_paths(write, change)
        if isinstance(change, MakeFolder | RemoveFolder):
            kind = FOLDER if isinstance(change, MakeFolder) else NO_FOLDER
            return FileChange(kind=kind, path=change.path)
        if isinstance(change, Create):
            self._journal.check_size(change.path, change.content)
            return file_change(CREATE, change.path, None, change.content)
        path = self._existing(root, write, change.path)
        if isinstance(change, Remove):
            return file_change(REMOVE, path, change.before, None)
        if isinstance(change, Edit):
            with suppress(OSError, CannotOpen):  # it comes into being before
                self._journal.disk.find(root, path, edits=True)
            if len(change.after) > len(change.before):
                self._journal.check_size(path, change.after)
            made = file_change(EDIT, path, change.before, change.after)
            return replace(made, links=change.links)
        return move_change(path, change.to, change.digest, change.size)

    def _check_paths(self, write: Write, change: Change) -> None:
        """Check the paths of a change. Only deletions and their undo may touch the trash."""
        is_dir = isinstance(change, MakeFolder | RemoveFolder) or (
            isinstance(change, Move) and change.is_folder
        )
        paths = [change.path, change.to] if isinstance(change, Move) else [change.path]
        for path in paths:
            if path.startswith(f"{TRASH}/") and (
                write.right is Right.DELETE or write.operation == UNDO
            ):
                continue
            self._journal.permission.check_path(write.caller, path, is_dir=is_dir)

    def _existing(self, root: VaultRoot, write: Write, path: str) -> str:
        """Return a path with its links followed, or as it is if it comes into being before."""
        if path.startswith(f"{TRASH}/"):
            return path
        try:
            return self._journal.real(root, write, path)
        except CannotOpen as error:
            if error.cause is not Cause.VANISHED:
                raise
            return path


def _whose(last: Logged) -> tuple[str, dict[str, str]]:
    """Return a sentence that says whose the last write of the vault is, and its details."""
    path = last.changes[0].target or last.changes[0].path
    who = _CLIENTS.get(last.client, last.client)
    if last.agent:
        who = f"the agent {last.agent} ({last.client})"
    what = f" The last write of the vault is by {who}: {last.operation} of {path} ({last.id})."
    details = {"writeId": last.id, "agent": last.agent, "client": last.client, "path": path}
    return what, details


def _before(change: Change) -> bytes | None:
    return change.before if isinstance(change, Edit | Remove) else None


def _after(change: Change) -> bytes | None:
    if isinstance(change, Edit):
        return change.after
    return change.content if isinstance(change, Create) else None


def _check_hash(write: Write, changes: Sequence[FileChange]) -> None:
    """Compare the hash that the caller expects with the first change of a file that exists."""
    hashes = (change.hash_before for change in changes)
    if (first := next(filter(None, hashes), None)) is not None:
        check_hash(write, first)


def _with_diffs(written: Written, changes: Sequence[Change]) -> Written:
    """Return a reply with the diffs of all edits, cut at their limit."""
    parts: list[str] = []
    size, cut = 0, False
    for each in changes:
        if size >= replies.MAX_DIFF_BYTES:
            cut = True
            break
        if not isinstance(each, Move | MakeFolder | RemoveFolder):
            text, is_cut = replies.diff(each.path, _before(each), _after(each))
            parts.append(text)
            size += len(text.encode("utf-8", "replace"))
            cut = cut or is_cut
    data = "".join(parts).encode("utf-8", "replace")
    text = data[: replies.MAX_DIFF_BYTES].decode("utf-8", "ignore")
    return replace(written, diff=text, diff_truncated=cut or len(data) > replies.MAX_DIFF_BYTES)
