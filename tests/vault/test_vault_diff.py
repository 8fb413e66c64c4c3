"""Changes since the last run, from `stat` alone."""

from __future__ import annotations

import os
from pathlib import Path

from vault_agent.model.notes import FileEntry
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import diff, scan

A = FileEntry("a.md", 1, 2, 3, 4)
B = FileEntry("d/b.md", 1, 2, 3, 5)


def stored(*entries: FileEntry) -> dict[str, FileEntry]:
    return {entry.path: entry for entry in entries}


def test_differences_are_added_changed_or_removed() -> None:
    new, touched = A._replace(path="new.md"), B._replace(mtime_ns=9)
    gone = A._replace(path="gone.md")
    result = diff(stored(A, B, gone), [A, touched, new])
    assert (result.added, result.maybe_changed, result.removed) == ([new], [touched], ["gone.md"])


def test_a_change_of_size_time_or_inode_is_detected() -> None:
    for name in ("size", "mtime_ns", "ctime_ns", "inode"):
        assert diff(stored(A), [A._replace(**{name: 99})]).maybe_changed


def test_a_walk_returns_every_field_used_to_detect_changes(root: VaultRoot, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"text")
    now = (folder / "a.md").stat()
    told = FileEntry("a.md", 4, now.st_mtime_ns, now.st_ctime_ns, now.st_ino)
    assert scan(root).notes == [told]


def test_files_in_unlisted_folders_are_not_removed() -> None:
    result = diff(stored(A, B, B._replace(path="dd/c.md")), [A], unlisted=["d"])
    assert result.removed == ["dd/c.md"]
    assert not diff(stored(A, B), [], unlisted=[""]).differs


def test_a_file_moved_over_another_is_detected(root: VaultRoot, folder: Path) -> None:
    note, other = folder / "a.md", folder / "other"
    note.write_bytes(b"one")
    other.write_bytes(b"two")
    os.utime(other, ns=(note.stat().st_atime_ns, note.stat().st_mtime_ns))
    before = stored(*scan(root).notes)
    other.replace(note)
    assert [entry.path for entry in diff(before, scan(root).notes).maybe_changed] == ["a.md"]
