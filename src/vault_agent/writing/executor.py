"""Logs writes, carries them out, and recovers after a failure. Runs in threads.

One class changes both the log and the files, because they must agree after every failure.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.errors import (
    Conflict,
    Failed,
    Forbidden,
    InvalidRequest,
    TooLarge,
    VaultAgentError,
)
from vault_agent.model.identifiers import content_hash
from vault_agent.model.writing import SERVER, ChangeKind, VaultChange, WriteState
from vault_agent.text.names import is_note
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.replacing import Changed, FileInUse, probe
from vault_agent.writing import replies
from vault_agent.writing.disk import Disk, NoteBusy, coded, coded_error, hash_file, missing_folders
from vault_agent.writing.finish import Finisher, new_write, now_ms
from vault_agent.writing.linger import Linger
from vault_agent.writing.permission import Permission

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from vault_agent.model.writing import LoggedWrite, Write, WriteLimits, Written
    from vault_agent.store.write_log import WriteLog
    from vault_agent.vault.folder import FileHash
    from vault_agent.vault.paths import Exclusions
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.linger import Lingering


class WriteExecutor:
    """Logs and applies the changes of one vault. `VaultWriter` holds the locks of each change."""

    def __init__(
        self,
        open_root: Callable[[], VaultRoot],
        log: WriteLog,
        limits: WriteLimits,
        exclusions: Exclusions,
    ) -> None:
        self.open_root = open_root
        self.log = log
        self.limits = limits
        self.permission = Permission(limits, exclusions)
        self.disk = Disk()
        self.finisher = Finisher(self.disk, log, self.look_again_at)
        self.linger = Linger(self.disk, log, self.finisher, limits.times, self.rewrite)
        self.is_interrupted = False  # whether there is a write for `recover` to finish
        self._unrecorded: list[tuple[int, str | None]] = []  # ends of writes, not logged yet

    def prepare(self) -> None:
        """Prove that the vault can be written.

        Raises:
            Unavailable: `WRITE_UNSUPPORTED_HERE`.
            Misconfigured: `VAULT_NOT_FOUND`.
        """
        with self.open_root() as root:
            result = probe(root)
        self.disk.replacer.way = result.way
        self.disk.durable = result.durable

    def recover(self) -> None:
        """Finish what was interrupted, and look at all temporary files that the log names.

        Raises:
            VaultAgentError, CannotOpen, OSError: the disk fails. It can be called again.
        """
        self.is_interrupted = False
        try:
            with self.open_root() as root:
                for logged in self.log.unfinished():
                    self.may_have_changed(logged)
                    self.finisher.settle(root, logged)
                for logged, position in self.log.unswept():
                    if not self.linger.has(logged, position):
                        self.linger.add(logged, position, seconds=0.0)
                while (lingering := self.linger.take_due()) is not None:
                    self.look(root, lingering)
        except BaseException:
            self.is_interrupted = True
            raise

    def look_again_at(
        self, logged: LoggedWrite, position: int, change: VaultChange, removable_hash: bytes
    ) -> None:
        """Queue a look at the temporary file that a failed try of a change has left."""
        changes = [*logged.changes]
        changes[position] = change
        self.linger.add(
            replace(logged, changes=tuple(changes)), position, removable_hash=removable_hash
        )

    def may_have_changed(self, logged: LoggedWrite) -> None:
        """Remember the paths of a write that was interrupted, to index them again."""
        for change in logged.changes:
            self.finisher.unindexed += filter(None, (change.path, change.target))

    def take_unindexed(self) -> list[str]:
        """Return the paths to index: of interrupted writes since the last call, and of copies."""
        taken, self.finisher.unindexed = self.finisher.unindexed, []
        return list(dict.fromkeys(taken))

    def look(self, root: VaultRoot, lingering: Lingering) -> bool:
        """Look at a displaced file. Return whether somebody had saved into it."""
        try:
            return self.linger.look(root, lingering)
        except Exception as error:
            self.linger.look_later(lingering)
            if isinstance(error, (VaultAgentError, CannotOpen, Changed, FileInUse, OSError)):
                return False
            raise

    def expire(self) -> None:
        """Delete bytes and entries of the log that are beyond its limits. No write may run."""
        self.log.expire(now_ms(), days=self.limits.undo_days, size=self.limits.undo_bytes)

    @contextmanager
    def opened(self, write: Write) -> Iterator[tuple[VaultRoot, Written | None]]:
        """Open the vault's folder for a write, if its author has the right to it.

        Yield also the reply of an earlier request with the same idempotency key, if any.
        """
        self.permission.check_right(write)
        with coded(), self.open_root() as root:
            if self._unrecorded:
                self._log_ends()
            yield root, None if write.key is None or write.dry_run else self._replay(write)

    def _log_ends(self) -> None:
        """Log the ends of writes that could not be logged when the disk was full."""
        with suppress(IndexError):  # none is left: other threads may take some, too
            while True:
                seq, warning = self._unrecorded.pop()
                try:
                    self.log.finish(seq, warning=warning)
                except Failed:
                    self._unrecorded.append((seq, warning))
                    raise

    def _replay(self, write: Write) -> Written | None:
        earlier = self.log.with_key(write.author.name, write.key or "")
        if earlier is None:
            return None
        if earlier.request != write.request_hash:
            raise InvalidRequest("IDEMPOTENCY_KEY_REUSED", "This key was used for another request.")
        reply = replies.load_reply(earlier.reply)
        change = earlier.changes[0]
        if change.kind is ChangeKind.MOVE or not self.permission.allows(write.author, change.path):
            return reply
        texts = [self.log.bytes_of(digest) for digest in (change.hash_before, change.hash_after)]
        if change.hash_before is not None and texts[0] is None:
            return reply
        text, cut = replies.diff([(reply.path, texts[0], texts[1])])
        return replace(reply, diff=text, diff_truncated=cut)

    def read_to_change(self, root: VaultRoot, path: str, write: Write, *, edits: bool) -> bytes:
        """Read a file that is to be changed.

        Raises as `Disk.read_to_change`, `check_hash`, and `NoteBusy` while somebody changes it.
        """
        file = self.disk.read_to_change(root, path, edits=edits)
        self._check_file(write, path, content_hash(file.data), file.stat)
        return file.data

    def hash_to_remove(self, root: VaultRoot, path: str, write: Write) -> FileHash:
        """Hash a file that is to be moved to the trash. Raises as `read_to_change`."""
        self.disk.check(root, path, edits=False)
        file = hash_file(root, path)
        self._check_file(write, path, file.digest, file.stat)
        return file

    def _check_file(self, write: Write, path: str, digest: bytes, status: os.stat_result) -> None:
        """Check the hash of a file, and that nobody else has changed it within the quiet time."""
        check_hash(write, digest)
        age = time.time() - status.st_mtime
        if 0 <= age < self.limits.quiet_seconds and digest != self.log.hash_at(path):
            raise NoteBusy

    def check_size(self, path: str, data: bytes) -> None:
        """Raise `NOTE_TOO_LARGE` if a note would have too many bytes."""
        most = self.limits.max_written_bytes
        if len(data) > most and is_note(path):
            raise TooLarge(
                "NOTE_TOO_LARGE",
                f"The note would have {len(data)} bytes, and the most is {most}.",
                {"bytes": len(data), "maxBytes": most},
                remedy="Write to another note.",
            )

    def begin(
        self,
        root: VaultRoot,
        write: Write,
        reply: Written,
        changes: Sequence[VaultChange],
        undoes: str | None = None,
    ) -> LoggedWrite:
        """Keep the bytes of a write and log it, durably, before anything is changed."""
        kinds = (ChangeKind.CREATE, ChangeKind.MOVE, ChangeKind.MAKE_FOLDER)
        made = {
            folder: None
            for change in changes
            if change.kind in kinds
            for folder in missing_folders(root, change.path_after)
        }
        return self.log.begin(
            new_write(
                write.author.name,
                SERVER if write.by_server else write.author.client,
                write.operation,
                changes,
                write_id=reply.write_id,
                reply=replies.dump_reply(reply),
                key=write.key,
                request=write.request_hash if write.key is not None else None,
                undoes=undoes,
                folders=tuple(made),
            )
        )

    def apply(self, root: VaultRoot, logged: LoggedWrite) -> tuple[LoggedWrite, list[int]]:
        """Carry out a logged write. Return it as it is now, and the positions of changes left out.

        The first change decides: if it is not possible, nothing is changed and its error is raised.
        Once it is done, the write is always finished, if need be at the next start. A later change
        is left out if somebody else's save makes it impossible.

        Raises:
            Changed: the first change is not possible.
            VaultAgentError, OSError, CannotOpen: the disk fails.
        """
        first_has_displaced = self._apply_first(root, logged)
        done: list[VaultChange | None] = [logged.changes[0]]
        if len(logged.changes) > 1:
            done += self._apply_rest(root, logged)
        not_done = [position for position, change in enumerate(done) if change is None]
        warning = "RECOVERY_CONFLICT" if not_done else None
        try:
            self.log.finish(logged.seq, warning=warning)
        except Failed:  # the write is done all the same
            self._unrecorded.append((logged.seq, warning))
        changes = tuple(
            replace(made or planned, before=None, after=None)  # the bytes leave memory
            for made, planned in zip(done, logged.changes, strict=True)
        )
        logged = replace(logged, state=WriteState.DONE, warning=warning, changes=changes)
        for position, change in enumerate(changes):
            if position in not_done:
                continue
            replaces = change.kind in (ChangeKind.EDIT, ChangeKind.REMOVE)
            has_displaced = replaces and (position > 0 or first_has_displaced)
            if has_displaced:
                self.linger.add(logged, position)
            elif position == 0:  # later ones that displaced nothing are swept already
                self._sweep(root, logged)
        return logged, not_done

    def _apply_first(self, root: VaultRoot, logged: LoggedWrite) -> bool:
        """Carry out the change that decides. Return whether it has left a temporary file."""
        try:
            return self.disk.apply(root, logged.changes[0])
        except Changed as changed:
            with suppress(Failed):
                self.log.fail(logged.seq)
            if changed.removable_hash is not None:
                self.linger.add(logged, 0, removable_hash=changed.removable_hash)
            else:
                self._sweep(root, logged)
            raise
        except BaseException as error:
            self.may_have_changed(logged)
            state = self._settle(root, logged)
            if state is WriteState.DONE and isinstance(error, VaultAgentError):
                with suppress(Failed):  # the file was written, and not verified
                    self.log.warn(logged.seq, error.code)
            # A file that is missing, or there already, was somebody else's doing.
            is_by_others = isinstance(error, (FileNotFoundError, FileExistsError))
            if state is WriteState.DONE and isinstance(error, OSError) and not is_by_others:
                raise _unfinished(error) from error
            raise

    def _apply_rest(self, root: VaultRoot, logged: LoggedWrite) -> list[VaultChange | None]:
        try:
            self.log.commit(logged.seq)
            return self.finisher.finish(root, logged)
        except BaseException as error:
            self.may_have_changed(logged)
            self.is_interrupted = True
            if isinstance(error, (OSError, VaultAgentError)):
                raise _unfinished(error) from error
            raise

    def _settle(self, root: VaultRoot, logged: LoggedWrite) -> WriteState | None:
        """Settle a write that raised an error, and return its state: it may be done all the same.

        If the disk fails, return None: recovery settles the write later.
        """
        try:
            return self.finisher.settle(root, logged)
        except (VaultAgentError, Changed, FileInUse, CannotOpen, OSError):
            self.is_interrupted = True
            return None

    def _sweep(self, root: VaultRoot, logged: LoggedWrite) -> None:
        with suppress(Failed, OSError, CannotOpen):
            self.finisher.sweep(root, logged, 0)

    def rewrite(self, root: VaultRoot, lingering: Lingering, now: bytes | None, new: bytes) -> None:
        """Give a note the text that an editor has saved, with our edits. See `Linger.look`."""
        logged = lingering.logged
        path = lingering.change.path
        if now is None or self.disk.read_to_change(root, path, edits=True).data != now:
            raise Changed
        change = VaultChange.edit(path, now, new)
        again = new_write(logged.agent, logged.client, logged.operation, (change,))
        self.apply(root, self.log.begin(again))


def _unfinished(error: OSError | VaultAgentError) -> VaultAgentError:
    """Return the error of a write that is made at least in part, with no code that is retried."""
    failure = coded_error(error) if isinstance(error, OSError) else error
    if failure.code == "WRITE_NOT_VERIFIED":
        return failure
    what = "There is no room on the disk." if failure.code == "DISK_FULL" else failure.what
    what += " The change is made, or finished as soon as possible."
    if failure.code == "DISK_FULL":  # of the vault or of the log
        return Failed(failure.code, what, remedy="Free some space. Do not repeat the change.")
    return Forbidden("FILE_NOT_WRITABLE", what, remedy="Read the note before you repeat it.")


def check_hash(write: Write, digest: bytes) -> None:
    """Compare the hash of a file with the one that a write expects.

    Raises:
        Conflict: `HASH_MISMATCH` with `details.currentHash`.
        InvalidRequest: `EXPECTED_HASH_REQUIRED`.
    """
    current, expected = digest.hex(), write.expected_hash
    if expected is None and write.hash_required and not write.dry_run:
        raise InvalidRequest(
            "EXPECTED_HASH_REQUIRED", "This change needs the hash of the note as you know it."
        )
    if expected is not None and not current.startswith(expected):
        raise Conflict(
            "HASH_MISMATCH", "The note has changed since you read it.", {"currentHash": current}
        )
