"""Differences between the indexed files and those that a walk has found. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.text.names import lies_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from vault_agent.model.notes import FileEntry


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
    found: Iterable[FileEntry],
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
    for entry in found:
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
