"""Writes of one file: edits, new files, removals."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from vault_agent.errors import Conflict, TooLarge
from vault_agent.markdown.edit import spliced
from vault_agent.model.identifiers import content_hash
from vault_agent.model.write_state import Right
from vault_agent.text.names import is_note
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.writing import replies
from vault_agent.writing.dating import dating
from vault_agent.writing.disk import CREATE, EDIT, MAX_KEPT_BYTES, MOVE, REMOVE
from vault_agent.writing.failures import missing
from vault_agent.writing.finish import file_change, new_id
from vault_agent.writing.journal import (
    Journal,
    move_change,
)
from vault_agent.writing.permission import TRASH
from vault_agent.writing.placing import place_for_new
from vault_agent.writing.transaction import (
    Planned,
)

if TYPE_CHECKING:
    from vault_agent.model.writing import Write, Written
    from vault_agent.store.writes.record import FileChange
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.transaction import Plan


_MARKS: Final = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (rb"^<{7}[ \r\n]", rb"^={7}\r?$", rb"^>{7}[ \r\n]")
)
_NAMES_TRIED = 1_000


class OneFile:
    """The writes of one file at a time. Every method runs in a thread."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def read(self, path: str, write: Write) -> bytes:
        """Return the bytes of a file."""
        with self._journal.opened(write) as (root, _):
            real = self._journal.real(root, write, path)
            return self._journal.disk.find(root, real, edits=True).data

    def read_to_plan(self, path: str, write: Write, more_than: int) -> bytes | None:
        """Return the bytes of a note if there are `more_than` some, else None.

        None also if the write is done already under its key. Raises as `edit`.
        """
        with self._journal.opened(write) as (root, replayed):
            if replayed is not None:
                return None
            real = self._journal.real(root, write, path)
            status = root.status(real)
            if status is None or status.st_size <= more_than:
                return None
            return self._journal.find(root, real, write, edits=True).data

    def edit(self, path: str, write: Write, plan: Plan) -> Written:
        """Edit a note. Raises `Changed` or `Disturbed` if it is worth another try."""
        with self._journal.opened(write) as (root, replayed):
            if replayed is not None:
                return replayed
            real = self._journal.real(root, write, path)
            if not is_note(real):
                raise missing()
            before = self._journal.find(root, real, write, edits=True).data
            if all(mark.search(before) for mark in _MARKS):
                raise Conflict("NOTE_IN_CONFLICT", "The note has the marks of a conflict of git.")
            if self._journal.limits.dates and not write.by_itself:
                plan = dating(plan, datetime.now(UTC), whole=write.right is Right.OVERWRITE)
            made = plan(before)
            planned = made if isinstance(made, Planned) else Planned(made)
            after = spliced(before, planned.splices)
            said: dict[str, Any] = {"section_hash": planned.section_hash, "line": planned.line}
            if after == before:
                digest = content_hash(before)
                return replies.unchanged(write, path, before, digest, *planned.warnings, **said)
            self._journal.check_size(real, after)
            change = file_change(EDIT, real, before, after)
            said |= {
                "spans": len(planned.splices),
                "created": planned.created,
                "warnings": planned.warnings,
            }
            return self._carry_out(
                root, write, path, change, before, after, plan if write.retries else None, **said
            )

    def create(self, path: str, write: Write, content: bytes) -> Written:
        """Create a file and its folders."""
        with self._journal.opened(write) as (root, replayed):
            if replayed is not None:
                return replayed
            self._journal.permission.check_path(write.caller, path)
            real = place_for_new(root, path)
            self._journal.permission.check_path(write.caller, real)
            self._journal.check_size(real, content)
            change = file_change(CREATE, real, None, content)
            return self._carry_out(root, write, real, change, None, content, None, created=True)

    def remove(self, path: str, write: Write, *, permanent: bool) -> Written:
        """Move a file to the trash, or remove it."""
        with self._journal.opened(write) as (root, replayed):
            if replayed is not None:
                return replayed
            real = self._journal.real(root, write, path)
            if permanent:
                _check_kept(root, real)
                before = self._journal.find(root, real, write, edits=False).data
                change = file_change(REMOVE, real, before, None)
                return self._carry_out(root, write, real, change, before, None, None)
            shown = None  # only a note has a diff
            if is_note(real):
                shown = self._journal.find(root, real, write, edits=False).data
                digest, size = content_hash(shown), len(shown)
            else:
                file = self._journal.find_hash(root, real, write)
                digest, size = file.digest, file.stat.st_size
            target = self._free_in_trash(root, real)
            change = replace(move_change(real, target, digest, size), hash_after=None)
            written = self._carry_out(
                root, write, real, change, shown, None, None, trash_path=target
            )
            return replace(written, path=path)

    def _carry_out(  # noqa: PLR0917 - all of one write
        self,
        root: VaultRoot,
        write: Write,
        path: str,
        change: FileChange,
        before: bytes | None,
        after: bytes | None,
        plan: Plan | None,
        **said: Any,
    ) -> Written:
        """Log a write of one file, carry it out, and return its reply."""
        write_id = None if write.dry_run else new_id()
        written = replies.of_change(write, write_id, change, **said)
        written = replace(
            written, path=path, warnings=(*written.warnings, *self._journal.warnings())
        )
        text, cut = replies.diff(path, before, after)
        shown = replace(written, diff=text, diff_truncated=cut)
        if write_id is None:
            return shown
        self._journal.permission.count(write.caller)
        kept = (None, None) if change.kind == MOVE else (before, after)
        logged = self._journal.begin(root, write, write_id, written, (change,), [kept])
        self._journal.carry_out(root, logged, [(before, after)], {} if plan is None else {0: plan})
        return shown

    def _free_in_trash(self, root: VaultRoot, path: str) -> str:
        folder, _, name = f"{TRASH}/{path}".rpartition("/")
        stem, dot, extension = name.rpartition(".")
        if not stem:
            stem, dot, extension = name, "", ""
        for number in range(1, _NAMES_TRIED):
            suffix = "" if number == 1 else f" {number}"
            target = f"{folder}/{stem}{suffix}{dot}{extension}"
            try:
                with root.open_folder(folder) as opened:
                    if not opened.exists(target.rpartition("/")[2]):
                        return target
            except CannotOpen as error:
                if error.cause is not Cause.VANISHED:
                    raise
                return target
        raise Conflict("NAME_COLLISION", "The trash has too many files of this name.")


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
