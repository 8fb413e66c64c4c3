"""What changed between the files that were indexed and those a walk has found. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.vault.paths import lies_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from vault_agent.model.notes import FileEntry


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs, in the order given; removed paths in the order of what was stored."""

    added: list[FileEntry]
    maybe_changed: list[FileEntry]  # as found now; only the content can tell
    removed: list[str]  # none where nothing could be listed: nothing is known of those

    @property
    def differs(self) -> bool:
        """Whether anything has visibly changed."""
        return bool(self.added or self.maybe_changed or self.removed)


def diff(
    stored: Mapping[str, FileEntry],
    found: Iterable[FileEntry],
    unlisted: Collection[str] = (),
) -> Diff:
    """Compare by size, modification time, change time and inode.

    The change time gives away an edit that kept size and modification time (`touch -r`, a clock
    set back, a restore), the inode a file put in another's place. Both also differ where nothing
    changed (a backup restored, `chmod`): hence `maybe_changed`, to be settled by a hash.

    Not noticed: an edit of equal size within the same tick of the file system's clock as the
    read before it (some milliseconds; two seconds on FAT), and on Windows, where a walk is told
    neither inode nor change time, any edit that keeps size and modification time. A full
    reindex reads everything.
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
    """Whether a walk could not tell if a path is there, for what it could not list."""
    return any(lies_in(path, folder) for folder in unlisted)
