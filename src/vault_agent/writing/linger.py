"""Displaced files that stay for some seconds, because an editor may have them open.

An editor that opened a note before an exchange saves into the displaced file. Therefore that file
is read again before it is removed. If its bytes have changed, they are a person's newest: they go
into the note, and our edit is made of them anew. If that is not possible, both texts are kept, one
of them as a copy.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vault_agent.errors import VaultAgentError
from vault_agent.model.identifiers import content_hash
from vault_agent.text.names import lies_in
from vault_agent.writing.merge import merge_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.model.writing import LoggedWrite, VaultChange, WriteTimes
    from vault_agent.store.write_log import WriteLog
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.disk import Disk
    from vault_agent.writing.finish import Finisher


_AT_ONCE = 100
"""Notes of one write whose displaced files are looked at together."""


@dataclass(frozen=True, slots=True)
class Lingering:
    """A change whose displaced file still exists.

    Args:
        remake: makes our edit anew of another text; None if the edit means nothing in another one.
        base: the hash of the text that our edit was made of.
        result: the hash of the note after our edit.
        expected: the hashes of the displaced file if nobody has saved into it since the last look.
        due: when to look, by the monotonic clock.
    """

    logged: LoggedWrite
    position: int
    remake: Callable[[bytes], bytes] | None
    base: bytes | None
    result: bytes | None
    expected: frozenset[bytes]
    due: float = 0.0

    @property
    def change(self) -> VaultChange:
        """The change."""
        return self.logged.changes[self.position]


class Linger:
    """The displaced files of one vault. Safe to share between threads."""

    def __init__(
        self,
        disk: Disk,
        log: WriteLog,
        finisher: Finisher,
        times: WriteTimes,
        rewrite: Callable[[VaultRoot, Lingering, bytes | None, bytes], None],
    ) -> None:
        """Take what reads and finishes writes.

        `rewrite(root, lingering, now, new)` changes the bytes of a note from `now` to `new`, by a
        logged write. `now` is None if there is no note.
        """
        self._rewrite = rewrite
        self._disk = disk
        self._log = log
        self._finisher = finisher
        self._times = times
        self._lock = threading.Lock()
        self._files: list[Lingering] = []

    def add(
        self,
        logged: LoggedWrite,
        position: int,
        *,
        removable_hash: bytes | None = None,
        seconds: float | None = None,
    ) -> None:
        """Look at the displaced file of a change again after some seconds (`times.linger`).

        The file is removed then if it has the bytes before the change, those after it, or those
        of `removable_hash`. All other bytes are a save of somebody else.
        """
        change = logged.changes[position]
        expected = frozenset(filter(None, (change.hash_before, change.hash_after, removable_hash)))
        of_change = (logged, position, change.remake, change.hash_before, change.hash_after)
        self.look_later(Lingering(*of_change, expected), seconds)

    def look_later(self, lingering: Lingering, seconds: float | None = None) -> None:
        """Queue a file for a look: the first, or one after a late save or a failed disk."""
        due = time.monotonic() + (self._times.linger if seconds is None else seconds)
        with self._lock:
            self._files.append(replace(lingering, due=due))

    def hurry(self) -> None:
        """Make the look at all waiting files due now."""
        with self._lock:
            self._files = [replace(file, due=0.0) for file in self._files]

    def has(self, logged: LoggedWrite, position: int) -> bool:
        """Whether the displaced file of a change waits to be looked at."""
        wanted = (logged.seq, position, logged.changes[position].temporary)
        with self._lock:
            return any(
                (file.logged.seq, file.position, file.change.temporary) == wanted
                for file in self._files
            )

    def is_below(self, folder: str) -> bool:
        """Whether a change of a file in a folder waits to be looked at."""
        with self._lock:
            return any(lies_in(file.change.path, folder) for file in self._files)

    def __len__(self) -> int:
        return len(self._files)

    @property
    def due_paths(self) -> list[str]:
        """The paths of notes whose displaced files are due, all of one write: the next to look at.

        They are all locked at once. With the paths of several writes, one locked note would delay
        the looks at all others.
        """
        with self._lock:
            first = self._first_due()
            if first is None:
                return []
            now = time.monotonic()
            of_write = [file for file in self._files if file.logged.seq == first.logged.seq]
            paths = dict.fromkeys(file.change.path for file in of_write if file.due <= now)
        return [*paths][:_AT_ONCE]

    def take_due(self, path: str | None = None) -> Lingering | None:
        """Remove and return the next file to look at, if one is due. With `path`, of that note.

        Lock the path first: until then, a move of its folder may look at the file.
        """
        with self._lock:
            first = self._first_due(path)
            if first is not None:
                self._files.remove(first)
        return first

    def _first_due(self, path: str | None = None) -> Lingering | None:
        files = (file for file in self._files if path in (None, file.change.path))
        first = min(files, key=lambda file: file.due, default=None)
        return first if first is not None and first.due <= time.monotonic() else None

    def look(self, root: VaultRoot, lingering: Lingering) -> bool:
        """Look at a displaced file, and remove it. Return whether somebody had saved into it.

        The path of the note must be locked.

        Raises:
            OSError, CannotOpen, VaultAgentError: the file stays, and can be looked at later.
        """
        change = lingering.change
        displaced = self._disk.read_temporary(root, change)
        if displaced is None or content_hash(displaced) in lingering.expected:
            self._finisher.sweep(root, lingering.logged, lingering.position)
            return False
        # The editor may still have the file open: look once more.
        self.look_later(self._put_in_place(root, lingering, displaced))
        return True

    def _put_in_place(self, root: VaultRoot, lingering: Lingering, saved: bytes) -> Lingering:
        """Put saved text into its note. Return what is to be looked at after that."""
        change = lingering.change
        base = content_hash(saved)
        self._log.keep([saved])
        now = self._disk.read(root, change.path)
        new = self._merge(lingering, saved, now)
        if new is None and now is not None and content_hash(now) == lingering.result:
            # The note has our text alone: the person's goes into the note, ours beside it.
            self._finisher.keep_beside(root, lingering.logged, change.path, now)
            new = saved
        if new is None:
            self._finisher.keep_beside(root, lingering.logged, change.path, saved)
        elif new != now:
            self._rewrite(root, lingering, now, new)
        return replace(
            lingering,
            base=base,
            result=None if new is None else content_hash(new),
            expected=lingering.expected | {base},
        )

    def _merge(self, lingering: Lingering, saved: bytes, now: bytes | None) -> bytes | None:
        """Return the saved text with our edit, or None if that is not possible."""
        if now is None or now == saved:
            return now
        if lingering.remake is not None and content_hash(now) == lingering.result:
            with suppress(VaultAgentError):
                return lingering.remake(saved)
        base = self._log.bytes_of(lingering.base)
        return None if base is None else merge_texts(base, now, saved)
