"""Plans the undo of a write: its changes in reverse, as changes of a new write."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vault_agent.errors import NotFound
from vault_agent.model.identifiers import content_hash
from vault_agent.model.writing import ChangeKind, VaultChange, WriteState
from vault_agent.text.names import escaped, lies_in
from vault_agent.writing.disk import MAX_KEPT_BYTES, hash_file
from vault_agent.writing.merge import merge_texts
from vault_agent.writing.permission import TRASH
from vault_agent.writing.plan import Transaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.model.writing import LoggedWrite
    from vault_agent.store.write_log import WriteLog
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.disk import Disk

UNDO: Final = "undo"


class Touched(Exception):
    """A file was changed after the write, and the write's change of it cannot be taken back.

    `before` are the bytes before the write, or None if there are none to put beside the file.
    `what` is a sentence.
    """

    def __init__(
        self,
        path: str,
        before: bytes | None,
        what: str = "The note has been changed at the same place since.",
    ) -> None:
        super().__init__(what)
        self.path = path
        self.before = before
        self.what = what


def plan_undo(root: VaultRoot, disk: Disk, log: WriteLog, logged: LoggedWrite) -> Transaction:
    """Return the changes that take a write back.

    Raises:
        NotFound: `WRITE_NOT_FOUND` if the write is not done, or is taken back already;
            `UNDO_EXPIRED` if its bytes are not kept.
        Touched: a file was changed after the write.
    """
    if logged.state is not WriteState.DONE:
        raise NotFound("WRITE_NOT_FOUND", "This write was already taken back, or never done.")
    if not logged.kept:
        raise _undo_expired()
    changes: list[VaultChange] = []
    later = _Later(root, disk)
    for change in reversed(logged.changes):
        for back in _reverse(root, log, later, change):
            changes.append(back)
            later.change(back)
    main = next(
        (change for change in logged.changes if change.kind is ChangeKind.MOVE), logged.changes[0]
    )
    return Transaction(main.path, tuple(_edits_after_folders(changes)), moved_from=_moved_to(main))


def _moved_to(change: VaultChange) -> str | None:
    """Return where a write has moved a file or folder, or None if that is the trash."""
    target = change.target
    return None if target is None or lies_in(target, TRASH) else target


def _edits_after_folders(changes: list[VaultChange]) -> list[VaultChange]:
    """Return the changes with each edit after the move of its folder, at its new path.

    The file that an edit displaces is looked at again after some seconds, by the path of its note.
    A move of the folder right after the edit would change this path.
    """
    ordered: list[VaultChange] = []
    for change in changes:
        if not (change.kind is ChangeKind.MOVE and change.is_of_folder):
            ordered.append(change)
            continue
        inside: list[VaultChange] = []
        others: list[VaultChange] = []
        for edit in ordered:
            if edit.kind is ChangeKind.EDIT and lies_in(edit.path, change.path):
                path = change.path_after + edit.path[len(change.path) :]
                inside.append(replace(edit, path=path))
            else:
                others.append(edit)
        ordered = [*others, change, *inside]
    return ordered


class _Later:
    """The files as they are after the changes planned so far."""

    def __init__(self, root: VaultRoot, disk: Disk) -> None:
        self._root = root
        self._disk = disk
        self._moves: list[VaultChange] = []
        self._texts: dict[str, bytes] = {}  # by the path on the disk

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, or None if there is none."""
        place = self.place(path)
        text = self._texts.get(place)
        return text if text is not None else self._disk.read(self._root, place)

    def size(self, path: str) -> int:
        """Return the number of bytes of a file, 0 if there is none."""
        place = self.place(path)
        if place in self._texts:
            return len(self._texts[place])
        status = self._root.status(place)
        return 0 if status is None else status.st_size

    def hash(self, path: str) -> tuple[bytes, int]:
        """Return the hash and the size of a file."""
        place = self.place(path)
        text = self._texts.get(place)
        if text is not None:
            return content_hash(text), len(text)
        file = hash_file(self._root, place)
        return file.digest, file.stat.st_size

    def has(self, path: str) -> bool:
        """Whether there is anything at a path."""
        return self._root.has(self.place(path))

    def place(self, path: str) -> str:
        """Return the path on the disk, before these changes, of the file at `path` after them."""
        for move in reversed(self._moves):
            if lies_in(path, move.path_after):
                path = move.path + path[len(move.path_after) :]
        return path

    def change(self, change: VaultChange) -> None:
        """Add a change."""
        if change.kind is ChangeKind.EDIT and change.after is not None:
            self._texts[self.place(change.path)] = change.after
        elif change.kind is ChangeKind.MOVE:
            self._moves.append(change)


def _reverse(
    root: VaultRoot, log: WriteLog, later: _Later, change: VaultChange
) -> Iterator[VaultChange]:
    before = log.bytes_of(change.hash_before)
    if before is None and change.hash_before is not None and change.kind is not ChangeKind.MOVE:
        raise _undo_expired()
    path = change.path
    match change.kind:
        case ChangeKind.EDIT:
            yield from _reverse_edit(log, change, before or b"", _read_now(later, change, before))
        case ChangeKind.CREATE:
            now = _read_now(later, change, before)
            if now is not None and content_hash(now) != change.hash_after:
                raise Touched(path, None, "The new note has been changed since. Delete it instead.")
            if now is not None:
                yield VaultChange.remove(path, now)
        case ChangeKind.REMOVE:
            if later.has(path):
                raise Touched(path, before, "Another file is there now.")
            yield VaultChange.create(path, before or b"")
        case ChangeKind.MOVE:
            is_taken = root.has(path) and not root.is_one_file(path, change.path_after)
            if is_taken:
                raise Touched(path, None, "Another file is there now. Move it, then undo again.")
            if not later.has(change.path_after):
                raise Touched(path, None, f"It is no longer at {escaped(change.path_after)}.")
            is_folder = change.is_of_folder
            yield VaultChange.move(
                change.path_after,
                path,
                *((None, None) if is_folder else later.hash(change.path_after)),
            )
        case ChangeKind.MAKE_FOLDER:
            yield VaultChange.remove_folder(path)
        case ChangeKind.REMOVE_FOLDER:
            yield VaultChange.make_folder(path)


def _read_now(later: _Later, change: VaultChange, before: bytes | None) -> bytes | None:
    """Return the bytes of a file as it is now, or None if there is none.

    Raises:
        Touched: the file has been replaced by one that is too large to be read.
    """
    path = change.path
    size = later.size(path)
    if size > max(MAX_KEPT_BYTES, change.size_before or 0, change.size_after or 0):
        raise Touched(path, before, f"The file has been replaced by one of {size:,} bytes.")
    return later.read(path)


def _reverse_edit(
    log: WriteLog, change: VaultChange, before: bytes, now: bytes | None
) -> Iterator[VaultChange]:
    if now is None:
        raise Touched(change.path, before, "The note is gone.")
    text: bytes | None = before
    if content_hash(now) != change.hash_after:
        after = log.bytes_of(change.hash_after)
        text = None if after is None else merge_texts(after, before, now)
    if text is None:
        raise Touched(change.path, before)
    if text != now:
        yield VaultChange.edit(change.path, now, text)


def _undo_expired() -> NotFound:
    return NotFound("UNDO_EXPIRED", "The bytes before this write are no longer kept, or damaged.")
