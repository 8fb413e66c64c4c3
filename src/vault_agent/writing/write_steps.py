"""What each kind of write does, under the locks of `VaultWriter`, and reads without locks.

They run in threads.
"""

from __future__ import annotations

import re
import stat
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vault_agent.errors import Conflict, Failed, NotFound, TooLarge, VaultAgentError
from vault_agent.markdown.edit import overwrite, spliced
from vault_agent.markdown.frontmatter_edit import read_keys, set_keys
from vault_agent.model.warning import Warning
from vault_agent.model.writing import (
    ChangeKind,
    LoggedWrite,
    Right,
    VaultChange,
    WriteState,
    Written,
)
from vault_agent.text.names import escaped, is_note
from vault_agent.vault.opening import CannotOpen
from vault_agent.writing import replies
from vault_agent.writing.disk import MAX_KEPT_BYTES, NoteBusy, coded, missing, naming
from vault_agent.writing.executor import WriteExecutor, check_hash
from vault_agent.writing.finish import free_beside, numbered
from vault_agent.writing.permission import TRASH
from vault_agent.writing.placing import folder_exists, place_for_new
from vault_agent.writing.plan import (
    NeedsJob,
    Overtaken,
    Planned,
    Transaction,
    run_plan,
    text_after,
)
from vault_agent.writing.undo import UNDO, Touched, plan_undo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.markdown.edit import Splice
    from vault_agent.model.writing import Write
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.plan import Plan

Done: TypeAlias = "tuple[Written, LoggedWrite | None]"
"""The reply to a write, and the entry of the log if it has changed something."""

_MARKS: Final = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (rb"^<{7}[ \r\n]", rb"^={7}\r?$", rb"^>{7}[ \r\n]")
)


class WriteSteps:
    """What `VaultWriter` runs in threads for the writes of one vault.

    A method that takes the root of the vault, such as `edit`, does one kind of write: it checks the
    path, reads the file and runs the plan, and `_log_and_apply` does the rest. `VaultWriter` holds
    the locks meanwhile, and gives the method to `run` as its `step`.
    """

    def __init__(self, executor: WriteExecutor) -> None:
        self._executor = executor

    def run(self, write: Write, step: Callable[[VaultRoot], Done]) -> Done:
        """Open the vault's folder and take the step of a write.

        If an earlier request with the same idempotency key has made the write, return its reply.
        """
        with self._executor.opened(write) as (root, replayed):
            return step(root) if replayed is None else (replayed, None)

    # --- one file -------------------------------------------------------------------------------

    def read(self, path: str, write: Write) -> bytes:
        """Return the bytes of a file."""
        with self._executor.opened(write) as (root, _):
            self._executor.permission.check_path(write.author, path)
            return self._executor.disk.read_to_change(root, path, edits=True).data

    def read_to_plan(self, path: str, write: Write, more_than: int) -> bytes | None:
        """Return the bytes of a note that has more than `more_than` bytes, or None.

        Return None also if there is no note, or if an earlier request with the same idempotency key
        has made the write. Raises as `edit`.
        """
        with self._executor.opened(write) as (root, replayed):
            if replayed is not None:
                return None
            self._executor.permission.check_path(write.author, path)
            status = root.status(path)
            if status is None or status.st_size <= more_than:
                return None
            return self._executor.read_to_change(root, path, write, edits=True)

    def edit(self, path: str, write: Write, plan: Plan, root: VaultRoot) -> Done:
        """Edit a note. Raises `Changed` or `NoteBusy` if another try may succeed."""
        self._executor.permission.check_path(write.author, path)
        if not is_note(path):
            raise missing()
        before = self._executor.read_to_change(root, path, write, edits=True)
        if all(mark.search(before) for mark in _MARKS):
            raise Conflict("NOTE_IN_CONFLICT", "The note has the marks of a conflict of git.")
        if self._executor.limits.sets_updated and not write.by_server:
            plan = dating(plan, datetime.now(UTC), whole=write.right is Right.OVERWRITE)
        planned = run_plan(plan, before)
        after = spliced(before, planned.splices)
        if after != before:
            self._executor.check_size(path, after)
        remake = partial(text_after, plan) if write.may_replan else None
        return self._log_and_apply(
            root,
            write,
            path,
            [VaultChange.edit(path, before, after, remake=remake)],
            planned.warnings,
            section_hash=planned.section_hash,
            line=planned.line,
            spans=len(planned.splices) if after != before else 0,
            created=planned.created,
        )

    def create(self, path: str, write: Write, content: bytes, root: VaultRoot) -> Done:
        """Create a file and its folders."""
        self._executor.permission.check_path(write.author, path)
        real = place_for_new(root, path)
        self._executor.permission.check_path(write.author, real)
        self._executor.check_size(real, content)
        change = VaultChange.create(real, content)
        return self._log_and_apply(root, write, real, [change], created=True)

    def upsert(self, path: str, write: Write, content: bytes, plan: Plan, root: VaultRoot) -> Done:
        """Create a file with `content`, or edit it if it exists."""
        try:
            with coded():
                return self.create(path, write, content, root)
        except Conflict as error:
            if error.code not in ("NOTE_EXISTS", "NAME_COLLISION"):
                raise
            existing = error.details.get("path", path)
        return self.edit(existing, write, plan, root)

    def remove(self, path: str, write: Write, root: VaultRoot, *, permanent: bool) -> Done:
        """Move a file, or for the owner a folder, to the trash; with `permanent` remove a file."""
        self._executor.permission.check_path(write.author, path)
        if permanent:
            _check_kept(root, path)
            before = self._executor.read_to_change(root, path, write, edits=False)
            change = VaultChange.remove(path, before)
            return self._log_and_apply(root, write, path, [change])
        target = self._free_in_trash(root, path)
        if write.author.is_owner and folder_exists(root, path):
            move = VaultChange.move(path, target)
            return self._log_and_apply(root, write, path, [move], trash_path=target)
        file = self._executor.hash_to_remove(root, path, write)
        move = VaultChange.move(path, target, file.digest, file.stat.st_size)
        text = self._executor.disk.read(root, path) if is_note(path) else None  # for its diff
        gone = replace(move, before=text, hash_after=None)
        return self._log_and_apply(root, write, path, [gone], trash_path=target)

    # --- several files --------------------------------------------------------------------------

    def last_write(self, write: Write) -> int | None:
        """Return the number of the last write. See `VaultWriter.last_write`."""
        with self._executor.opened(write) as (_, replayed):
            return None if replayed is not None else self._executor.log.last_seq()

    def transact(
        self, write: Write, plan: Callable[[], Transaction], since: int | None, root: VaultRoot
    ) -> Done:
        """Change several files. See `VaultWriter.transact`."""
        if since is not None and since != self._executor.log.last_seq():
            raise Overtaken
        return self._transact(root, write, plan())

    def undo(
        self,
        write_id: str | None,
        write: Write,
        root: VaultRoot,
        *,
        copy_beside: bool,
        at_once: int | None,
    ) -> Done:
        """Take back a write. See `VaultWriter.undo`."""
        logged: LoggedWrite | None
        logged, warnings = self._to_take_back(write_id, write)
        if at_once is not None and len(logged.changes) > at_once:
            raise NeedsJob
        for change in logged.changes:  # before a file is read: its path may be denied by now
            self._check_paths(write, change)
        try:
            transaction = plan_undo(root, self._executor.disk, self._executor.log, logged)
        except Touched as touched:
            if not copy_beside or touched.before is None:
                remedy = "" if touched.before is None else None  # no text to put beside
                details = {"writeId": logged.write_id}
                refusal = Conflict("UNDO_CONFLICT", touched.what, details, remedy=remedy)
                raise refusal.again(escaped(touched.path)) from None
            transaction = self._copy_beside(root, write, touched, touched.before)
            logged = None
        transaction = replace(transaction, warnings=(*transaction.warnings, *warnings))
        undoes = None if logged is None else logged.write_id
        return self._transact(root, write, transaction, undoes)

    # --- the log --------------------------------------------------------------------------------

    def logged(self, write_id: str) -> tuple[LoggedWrite, bool | None]:
        """Return a write, and whether its file has other bytes now. See `VaultWriter.logged`.

        For a write that was taken back, the file is compared with what the last write to its path
        left. For others, a file of another size has other bytes, and is not read.
        """
        executor = self._executor
        logged = executor.log.get(write_id)
        if logged is None:
            raise NotFound("WRITE_NOT_FOUND", "There is no such write.")
        if len(logged.changes) != 1:
            return logged, None
        change = logged.changes[0]
        is_move = change.kind is ChangeKind.MOVE
        expected = change.hash_before if is_move else change.hash_after
        path = change.path_after
        size = change.size_before if is_move else change.size_after
        with coded(), executor.open_root() as root:
            if logged.state is WriteState.UNDONE:
                left = executor.log.hash_at(change.path)
                return logged, executor.disk.hash(root, change.path) != left
            status = root.status(path)
            if status is not None and stat.S_ISREG(status.st_mode) and status.st_size != size:
                return logged, True
            now = executor.disk.hash(root, path)
        return logged, now != expected

    def forget(self, write_id: str | None, before: int | None) -> int:
        """Delete the kept bytes of writes. No write may run. See `VaultWriter.forget`."""
        log = self._executor.log
        if write_id is not None and log.get(write_id) is None:
            raise NotFound("WRITE_NOT_FOUND", "There is no such write.")
        return log.forget(write_id=write_id, before=before)

    # --- internals ------------------------------------------------------------------------------

    def _to_take_back(
        self, write_id: str | None, write: Write
    ) -> tuple[LoggedWrite, tuple[Warning, ...]]:
        """Return the write that an undo is about: the one with the ID, or the author's own last.

        The owner may take back any write by its ID, and an agent only its own.

        If the last write is somebody else's, the author is told whose. A named agent is not told:
        that would name notes outside its folders.

        Raises:
            NotFound: `WRITE_NOT_FOUND`.
        """
        log, author = self._executor.log, write.author
        if write_id is not None:
            logged = log.get(write_id)
            if logged is None or not (write.by_server or author.may_take_back(logged)):
                raise NotFound("WRITE_NOT_FOUND", "There is no such write of yours.")
            return logged, ()
        logged = log.last_of(author)
        last = None if author.name else log.last_of(None)
        whose, details = ("", {}) if last is None else _whose(last)
        if logged is None:
            what = f"You have no write to take back.{whose}"
            # The remedy is to list the writes: with no write at all, there is none.
            raise NotFound("WRITE_NOT_FOUND", what, details, remedy=None if whose else "")
        if last is None or last.seq == logged.seq:
            return logged, ()
        what = f"This took back your own last write.{whose}"
        return logged, (Warning.of("UNDO_NOT_LAST", what, details),)

    def _copy_beside(
        self, root: VaultRoot, write: Write, touched: Touched, before: bytes
    ) -> Transaction:
        """Return the transaction that puts the bytes from before a write beside their file.

        It has no changes if such a file is there already.
        """
        self._executor.permission.check_right(replace(write, right=Right.CREATE))
        path = free_beside(root, self._executor.disk, touched.path, "before undo", before)
        what = f"{touched.what} Nothing was taken back: the text before is beside it."
        warning = Warning("UNDO_CONFLICT", what, {"path": touched.path})
        changes = () if root.has(path) else (VaultChange.create(path, before),)
        return Transaction(path, changes, created=True, warnings=(warning,))

    def _transact(
        self, root: VaultRoot, write: Write, transaction: Transaction, undoes: str | None = None
    ) -> Done:
        """Check the changes of a transaction, and carry them out."""
        changes = list(transaction.changes)
        for change in changes:
            with naming(change.path_after):
                self._check(root, write, change)
        path, warnings = transaction.path, transaction.warnings
        hashes = (change.hash_before for change in changes)
        if (first := next(filter(None, hashes), None)) is not None:
            check_hash(write, first)
        changes = changes or [VaultChange.edit(path, b"", b"")]  # the reply is made of one
        return self._log_and_apply(
            root,
            write,
            path,
            changes,
            warnings,
            undoes,
            created=transaction.created,
            moved_from=transaction.moved_from,
            spans=sum(change.links for change in changes),
        )

    def _log_and_apply(  # noqa: PLR0917 - all of one write
        self,
        root: VaultRoot,
        write: Write,
        path: str,
        changes: Sequence[VaultChange],
        warnings: Sequence[Warning] = (),
        undoes: str | None = None,
        **fields: Any,
    ) -> Done:
        """Log a write and carry it out. Return its reply and the entry of the log.

        The reply names `path` and has the other `fields`.
        """
        executor = self._executor
        if not executor.disk.durable:
            what = "The vault is on a drive that may upload or keep the change only later."
            warnings = (*warnings, Warning("WRITE_NOT_DURABLE", what))
        reply = replies.make_reply(write, path, changes, warnings=warnings, **fields)
        if write.dry_run or not reply.changed:
            return reply, None
        for change in changes:
            if change.kind is ChangeKind.MOVE and change.is_of_folder:
                self._settle_below(root, change.path)
        executor.permission.count(write.author)
        try:
            logged = executor.begin(root, write, reply, changes, undoes)
        except Failed:
            if len(changes) > 1:  # no other write runs
                with suppress(Failed):  # bytes that were kept until the disk was full are of no use
                    executor.log.remove_unneeded()
            raise
        logged, not_done = executor.apply(root, logged)
        if not_done:
            details = {"paths": [changes[position].path for position in not_done[:20]]}
            what = f"Files that somebody else has changed, which are left alone: {len(not_done)}."
            warning = Warning("RECOVERY_CONFLICT", what, details)
            reply = replace(reply, warnings=(*warnings, warning))
        return reply, logged

    def _settle_below(self, root: VaultRoot, folder: str) -> None:
        """Look at the displaced files of notes in a folder that is about to move.

        Later looks would not find these notes at their old paths.

        Raises:
            NoteBusy: it is too early to look at one of the files.
        """
        executor = self._executor
        while (lingering := executor.linger.take_due()) is not None:
            executor.look(root, lingering)
        if executor.linger.is_below(folder):
            raise NoteBusy

    def _check(self, root: VaultRoot, write: Write, change: VaultChange) -> None:
        """Check the paths and the size of a change."""
        executor = self._executor
        self._check_paths(write, change)
        if change.after is not None and len(change.after) > (change.size_before or 0):
            executor.check_size(change.path, change.after)
        if change.kind is ChangeKind.EDIT:
            with suppress(OSError, CannotOpen):  # an earlier change may create the file
                executor.disk.check(root, change.path, edits=True)

    def _check_paths(self, write: Write, change: VaultChange) -> None:
        """Check the paths of a change. Only deletions and their undo may touch the trash."""
        permission = self._executor.permission
        for path in filter(None, (change.path, change.target)):
            in_trash = path.startswith(f"{TRASH}/")
            if not (in_trash and (write.right is Right.DELETE or write.operation == UNDO)):
                permission.check_path(write.author, path, is_dir=change.is_of_folder)

    def _free_in_trash(self, root: VaultRoot, path: str) -> str:
        marks = ("" if number == 1 else f" {number}" for number in count(1))
        paths = (numbered(f"{TRASH}/{path}", mark) for mark in marks)
        return next(target for target in paths if not root.has(target))


def _whose(last: LoggedWrite) -> tuple[str, dict[str, str]]:
    """Return a sentence that says whose the last write of the vault is, and its details."""
    path, who = last.changes[0].path_after, last.agent or last.client
    what = (
        f" The last write of the vault is by {who}: {last.operation} of {path} ({last.write_id})."
    )
    details = {"writeId": last.write_id, "agent": last.agent, "client": last.client, "path": path}
    return what, details


def _check_kept(root: VaultRoot, path: str) -> None:
    """Refuse to remove an attachment whose bytes would be too many for the log.

    Raises:
        TooLarge: `ATTACHMENT_TOO_LARGE`.
    """
    status = root.status(path)
    if status is not None and status.st_size > MAX_KEPT_BYTES and not is_note(path):
        raise TooLarge(
            "ATTACHMENT_TOO_LARGE",
            "The file is too large for a deletion that can be undone.",
            {"size": status.st_size, "limit": MAX_KEPT_BYTES},
            remedy="Delete it without `permanent`, then remove it from .trash/ yourself.",
        )


_UPDATED: Final = "updated"
_DAY: Final = len("2026-01-01")


def dating(plan: Plan, now: datetime, *, whole: bool = False) -> Plan:
    """Return a plan that also sets `updated` to `now`, if the note has that key and changes.

    An `updated` that the plan itself changes is kept. With `whole`, the plan replaces the whole
    text: an `updated` earlier than the note's is left over from an older copy, and set to `now`.
    """

    def dated(note: bytes) -> Planned:
        planned = run_plan(plan, note)
        return replace(planned, splices=_add_date(note, planned.splices, now, whole=whole))

    return dated


def _add_date(
    note: bytes, splices: Sequence[Splice], now: datetime, *, whole: bool
) -> Sequence[Splice]:
    after = spliced(note, splices)
    if after == note:
        return splices
    try:
        value = read_keys(note).get(_UPDATED)
        planned = read_keys(after).get(_UPDATED)
        if not isinstance(value, str) or not value:
            return splices
        if planned != value and not (whole and _is_before(planned, value)):
            return splices
        utc = now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        wanted = {_UPDATED: utc[:_DAY] if len(value) == _DAY else utc}
        together = sorted(
            (*splices, *set_keys(note, wanted)), key=lambda splice: (splice.start, splice.end)
        )
        apart = all(first.end < second.start for first, second in pairwise(together))
        if apart and planned == value:
            return together
        return overwrite(note, spliced(after, set_keys(after, wanted)).decode())
    except (VaultAgentError, UnicodeDecodeError):
        return splices  # its frontmatter cannot be edited


def _is_before(one: object, other: str) -> bool:
    """Whether a property is an earlier time than another one."""
    try:
        return isinstance(one, str) and _time(one) < _time(other)
    except ValueError:
        return False


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
