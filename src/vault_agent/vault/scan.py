"""Walk a vault and return its notes and attachments, by `stat` alone.

It must be almost as fast as a bare walk, because every index run and every check for changes needs
it. Hence one loop with its most likely conditions first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING

from vault_agent.errors import counted
from vault_agent.model.warning import Warning as Notice
from vault_agent.text.names import is_note, lies_in
from vault_agent.vault import platform
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.vault.paths import Verdict
from vault_agent.vault.read import file_entry, not_opened, notice

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from vault_agent.model.notes import FileEntry
    from vault_agent.vault.opening import Entries
    from vault_agent.vault.root import VaultRoot

    Listing = Callable[[str], AbstractContextManager[Entries]]


# How many entries of a folder that is excluded by default are searched for notes to warn about.
MAX_EXCLUDED_ENTRIES = 20_000


@dataclass(slots=True)
class Scan:
    """The files of a vault, sorted by path, and what could not be read."""

    notes: list[FileEntry] = field(default_factory=list)
    attachments: list[FileEntry] = field(default_factory=list)
    warnings: list[Notice] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)  # folders with unknown content


def scan(
    root: VaultRoot,
    *,
    paths: Iterable[str] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Scan:
    """Walk the vault and return the files that are not excluded, sorted by path.

    With `paths`, return only the files at and below these, and list only the folders on the way to
    them. None of them may lie below another. The folders' listings decide how a name is spelled.
    No symbolic link is followed: what it leads to inside the vault has a path of its own.

    `on_progress` is called after each folder with the number of notes so far. A folder that cannot
    be listed causes a warning. It is named in `Scan.unlisted`, so that its notes do not count as
    deleted.
    """
    with root.descent() as listing:
        walk = _Walk(root, listing, None if paths is None else _ways(paths))
        while walk.folders:
            walk.list(walk.folders.pop())
            if on_progress is not None:
                on_progress(len(walk.scan.notes))
    by_path = attrgetter("path")
    walk.scan.notes.sort(key=by_path)
    walk.scan.attachments.sort(key=by_path)
    return walk.scan


class _Walk:
    """The state of one walk."""

    def __init__(
        self, root: VaultRoot, listing: Listing, ways: Mapping[str, set[str]] | None
    ) -> None:
        self.scan = Scan()
        self._listing = listing
        self._root = root
        self._ways = ways  # by folder, the only names wanted; in a folder without an entry, all
        self._exclusions = root.exclusions
        self.folders = [] if ways == {} else [""]  # to list; listing one adds its subfolders

    def list(self, folder: str) -> None:
        """Add one folder's entries."""
        try:
            with self._listing(folder) as entries:
                self._take(folder, entries)
        except CannotOpen as error:
            cause = error.cause
        except OSError:
            cause = Cause.UNREADABLE
        else:
            return
        if cause is Cause.VANISHED and folder:
            return  # deleted since its parent was listed
        self.scan.unlisted.append(folder)
        self.scan.warnings.append(not_opened(folder, cause))

    def _take(self, folder: str, entries: Iterator[os.DirEntry[str]]) -> None:
        prefix = folder + "/" if folder else ""
        by_pattern = self._exclusions.by_pattern
        verdict = self._exclusions.verdict
        notes, attachments = self.scan.notes, self.scan.attachments
        if self._ways and (wanted := self._ways.get(folder)):
            entries = (entry for entry in entries if entry.name in wanted)
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            path = prefix + name
            if not name.isascii() and not is_utf8(name):
                self.scan.warnings.append(notice("FILE_NAME_NOT_UTF8", path, "name"))
            elif entry.is_file(follow_symlinks=False):
                if by_pattern and verdict(path, name, is_dir=False):
                    continue
                if self._ways and path in self._ways:
                    continue  # one of the paths had a folder here
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                (notes if is_note(name) else attachments).append(file_entry(path, status))
            elif platform.is_link(entry):
                if not (verdict(path, name, is_dir=False) or verdict(path, name, is_dir=True)):
                    self.scan.warnings.append(notice("SYMLINK_SKIPPED", path, "link"))
            elif entry.is_dir(follow_symlinks=False):
                self._enter(path, name)
            elif is_note(name) and not verdict(path, name, is_dir=False):
                self.scan.warnings.append(not_opened(path, Cause.IRREGULAR))

    def _enter(self, path: str, name: str) -> None:
        verdict = self._exclusions.verdict(path, name, is_dir=True)
        if verdict is None:
            self.folders.append(path)
        elif verdict is Verdict.DEFAULT and self._ways is None:
            count, complete = self._count_notes(path)
            if count:
                self.scan.warnings.append(_notes_excluded(path, count, complete=complete))

    def _count_notes(self, path: str) -> tuple[int, bool]:
        """Count the notes below a folder. The second value is False if it has too many entries."""
        count = seen = 0
        folders = [path]
        with self._root.descent() as listing:
            while folders:
                folder = folders.pop()
                try:
                    with listing(folder) as entries:
                        for entry in entries:
                            seen += 1
                            if seen > MAX_EXCLUDED_ENTRIES:
                                return count, False
                            if entry.name[0] == "." or platform.is_link(entry):
                                continue
                            if entry.is_dir(follow_symlinks=False):
                                folders.append(f"{folder}/{entry.name}")
                            elif is_note(entry.name):
                                count += 1
                except (CannotOpen, OSError):
                    continue
        return count, True


def _ways(paths: Iterable[str]) -> dict[str, set[str]]:
    """Return the names in each folder that lead to one of `paths`."""
    ways: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        while name not in (names := ways.setdefault(folder, set())):
            names.add(name)
            if folder:
                folder, _, name = folder.rpartition("/")
    return ways


def is_utf8(name: str) -> bool:
    """Whether a name or path is UTF-8. Other bytes become lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _notes_excluded(path: str, count: int, *, complete: bool) -> Notice:
    name = path.rpartition("/")[2]
    notes = f"{'' if complete else 'at least '}{counted(count, 'note')}"
    what = f"A folder with {notes} was excluded because of its name."
    details = {"path": path, "count": count, "complete": complete, "pattern": f"!{name}/"}
    return Notice.of("NOTES_EXCLUDED", what, details)


@dataclass(frozen=True, slots=True)
class Diff:
    """The differences. Found files keep the order of the walk, removed paths that of the index."""

    added: list[FileEntry]
    maybe_changed: list[FileEntry]  # as found now; only a hash of the content can decide
    removed: list[str]  # without paths in folders that could not be listed

    @property
    def differs(self) -> bool:
        """Whether anything may have changed."""
        return bool(self.added or self.maybe_changed or self.removed)


def diff(
    stored: Mapping[str, FileEntry],
    entries: Iterable[FileEntry],
    unlisted: Collection[str] = (),
) -> Diff:
    """Compare by size, modification time, change time and inode.

    The change time reveals an edit that keeps size and modification time (`touch -r`, a clock
    set back, a restore). The inode reveals a file that replaced another. Both can also differ
    if the content is the same (a restored backup, `chmod`). Hence `maybe_changed`: the caller
    compares hashes.

    Two kinds of edits are not noticed. One is an edit of equal size within the same tick of the
    file system's clock as the last read (some milliseconds; two seconds on FAT). The other is,
    on Windows, any edit that keeps size and modification time, because a walk gets neither inode
    nor change time there. A full reindex reads everything.
    """
    added: list[FileEntry] = []
    maybe_changed: list[FileEntry] = []
    present: set[str] = set()
    for entry in entries:
        path = entry.path
        present.add(path)
        before = stored.get(path)
        if before is None:
            added.append(entry)
        elif before != entry:
            maybe_changed.append(entry)
    removed: list[str] = []
    if len(present) - len(added) < len(stored):
        removed = [
            path for path in stored if path not in present and not is_unknown(path, unlisted)
        ]
    return Diff(added, maybe_changed, removed)


def is_unknown(path: str, unlisted: Collection[str]) -> bool:
    """Whether a path lies in a folder that a walk could not list, so it may still exist."""
    return any(lies_in(path, folder) for folder in unlisted)
