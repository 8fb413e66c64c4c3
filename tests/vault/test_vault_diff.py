"""What changed since the last run, told from `stat` alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from vault_agent.model.notes import FileEntry
from vault_agent.vault.diff import diff
from vault_agent.vault.scan import scan

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.vault.root import VaultRoot

A = FileEntry("a.md", 1, 2, 3, 4)
B = FileEntry("d/b.md", 1, 2, 3, 5)


def stored(*entries: FileEntry) -> dict[str, FileEntry]:
    return {entry.path: entry for entry in entries}


def test_what_differs_is_added_changed_or_removed() -> None:
    new, touched = A._replace(path="new.md"), B._replace(mtime_ns=9)
    gone = A._replace(path="gone.md")
    result = diff(stored(A, B, gone), [A, touched, new])
    assert (result.added, result.maybe_changed, result.removed) == ([new], [touched], ["gone.md"])


def test_any_of_size_times_and_inode_gives_a_change_away() -> None:
    for name in ("size", "mtime_ns", "ctime_ns", "inode"):
        assert diff(stored(A), [A._replace(**{name: 99})]).maybe_changed


def test_a_walk_tells_of_a_file_all_that_gives_a_change_away(root: VaultRoot, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"text")
    now = (folder / "a.md").stat()
    told = FileEntry("a.md", 4, now.st_mtime_ns, now.st_ctime_ns, now.st_ino)
    assert scan(root).notes == [told]


def test_what_lies_in_a_folder_that_was_not_listed_is_not_removed() -> None:
    result = diff(stored(A, B, B._replace(path="dd/c.md")), [A], unlisted=["d"])
    assert result.removed == ["dd/c.md"]
    assert not diff(stored(A, B), [], unlisted=[""]).differs


def test_nothing_found_and_nothing_stored() -> None:
    assert diff({}, []).removed == []
    assert diff(stored(A), []).removed == ["a.md"]


def test_an_edit_that_keeps_size_and_mtime_is_noticed(root: VaultRoot, folder: Path) -> None:
    note = folder / "a.md"
    note.write_bytes(b"one")
    before = stored(*scan(root).notes)
    times = note.stat()
    while note.stat().st_ctime_ns == times.st_ctime_ns:  # the clock of a file system has ticks
        note.write_bytes(b"two")
        os.utime(note, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert [entry.path for entry in diff(before, scan(root).notes).maybe_changed] == ["a.md"]


def test_a_file_moved_into_anothers_place_is_noticed(root: VaultRoot, folder: Path) -> None:
    note, other = folder / "a.md", folder / "other"
    note.write_bytes(b"one")
    other.write_bytes(b"two")
    os.utime(other, ns=(note.stat().st_atime_ns, note.stat().st_mtime_ns))
    before = stored(*scan(root).notes)
    other.replace(note)
    assert [entry.path for entry in diff(before, scan(root).notes).maybe_changed] == ["a.md"]


def test_an_untouched_vault_is_unchanged(root: VaultRoot, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"one")
    before = stored(*scan(root).notes)
    assert not diff(before, scan(root).notes).differs
