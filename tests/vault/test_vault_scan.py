"""The walk: its entries, exclusions and warnings."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.clocks import assert_linear
from tests.support.systems import posix

from vault_agent.model.identifiers import identify
from vault_agent.vault import scan as scanning
from vault_agent.vault.opening import Cause
from vault_agent.vault.paths import Exclusions
from vault_agent.vault.platform import inodes_are_known
from vault_agent.vault.read import file_entry, not_opened, read_bytes
from vault_agent.vault.root import VaultRoot
from vault_agent.vault.scan import Scan, scan


def make(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path, encoding="utf-8")


def notes(found: Scan) -> list[str]:
    return [entry.path for entry in found.notes]


def attachments(found: Scan) -> list[str]:
    return [entry.path for entry in found.attachments]


def warned(found: Scan) -> list[tuple[str, str, Any]]:
    return sorted(
        (w.code, w.details["path"], w.details.get("reason", w.details.get("count")))
        for w in found.warnings
    )


def test_notes_and_attachments_are_sorted_and_have_their_stat(
    root: VaultRoot, folder: Path
) -> None:
    make(folder, "b.md", "a/z.MD", "a/b.markdown", "A.md", "a/pic.png", "x.mdx", "md", "a.md/c.md")
    found = scan(root)
    assert notes(found) == ["A.md", "a.md/c.md", "a/b.markdown", "a/z.MD", "b.md"]
    assert attachments(found) == ["a/pic.png", "md", "x.mdx"]
    assert not found.warnings
    for entry in found.notes:
        assert entry == file_entry(entry.path, (folder / entry.path).stat())
        assert entry == read_bytes(root, entry.path, 100).entry


@pytest.mark.parametrize(
    ("given", "kept"),
    [(2**63 - 1, 2**63 - 1), (2**63, -(2**63)), (2**64 - 1, -1), (-(2**63) - 1, 2**63 - 1)],
)
def test_a_time_or_inode_beyond_64_bits_fits_into_the_index(given: int, kept: int) -> None:
    status = SimpleNamespace(st_size=1, st_mtime_ns=given, st_ctime_ns=given, st_ino=given)
    assert file_entry("a.md", status)[2:] == (kept, kept, kept if inodes_are_known() else 0)


def test_an_empty_vault_is_empty(root: VaultRoot) -> None:
    assert scan(root) == Scan()


def test_hidden_default_and_user_exclusions_are_skipped(
    open_root: Callable[..., VaultRoot], folder: Path
) -> None:
    make(folder, "a.md", ".hidden.md", ".obsidian/b.md", "x/.trash/c.md", ".git/d.md")
    make(folder, "private/e.md", "x/f.tmp.md", "x/pic.tmp.png", "x/g.md")
    found = scan(open_root("private/", "*.tmp.*"))
    assert notes(found) == ["a.md", "x/g.md"]
    assert attachments(found) == []
    assert not found.warnings


@posix("pipes of POSIX")
def test_excluded_symlinks_and_pipes_are_skipped_silently(
    open_root: Callable[..., VaultRoot], folder: Path
) -> None:
    make(folder, "real/a.md", "real/pic.png")
    for name in (".hidden.md", "private.md", "x.tmp.png"):
        (folder / name).symlink_to("real/a.md" if name.endswith("md") else "real/pic.png")
    for name in (".hidden", "private", "node_modules"):
        (folder / name).symlink_to("real")
    os.mkfifo(folder / "private-pipe.md")
    found = scan(open_root("private*", "*.tmp.*"))
    assert notes(found) == ["real/a.md"]
    assert attachments(found) == ["real/pic.png"]
    assert not found.warnings


def test_notes_in_default_exclusions_are_counted(root: VaultRoot, folder: Path) -> None:
    make(folder, "a.md", "build/one.md", "build/x/two.MD", "build/x/pic.png", "build/.git/no.md")
    make(folder, "x/node_modules/p/build/readme.md", "dist/app.js")
    found = scan(root)
    assert notes(found) == ["a.md"]
    assert warned(found) == [
        ("NOTES_EXCLUDED", "build", 2),
        ("NOTES_EXCLUDED", "x/node_modules", 1),
    ]
    assert found.warnings[0].details["complete"] is True
    assert "2 notes" in found.warnings[0].message
    assert "add !build/ to vault.exclude" in found.warnings[0].message


def test_the_pattern_in_the_warning_includes_the_folder_again(
    open_root: Callable[..., VaultRoot], folder: Path
) -> None:
    make(folder, "build/one.md", "build/node_modules/two.md")
    (warning,) = scan(open_root()).warnings
    found = scan(open_root(warning.details["pattern"]))
    assert notes(found) == ["build/one.md"]
    assert warned(found) == [("NOTES_EXCLUDED", "build/node_modules", 1)]


def test_counting_excluded_notes_has_a_limit(
    root: VaultRoot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "MAX_EXCLUDED_ENTRIES", 5)
    make(folder, *(f"build/{number}.md" for number in range(9)))
    (warning,) = scan(root).warnings
    assert warning.details["count"] == 5
    assert warning.details["complete"] is False


@pytest.mark.parametrize("name", [b"latin-\xe9.md", b"cut-\xe2\x82.md"])
def test_a_name_that_is_not_utf8_is_skipped_and_shown_safely(
    root: VaultRoot, folder: Path, name: bytes
) -> None:
    try:
        os.close(os.open(os.fsencode(folder) + b"/" + name, os.O_CREAT | os.O_WRONLY))
    except OSError:
        pytest.skip("this file system has only names that are UTF-8")
    make(folder, "日本語.md")
    found = scan(root)
    assert notes(found) == ["日本語.md"]
    (warning,) = found.warnings
    assert warning.code == "FILE_NAME_NOT_UTF8"
    assert "\ufffd" in warning.details["path"]
    warning.details["path"].encode("utf-8")


@pytest.mark.fault(
    "Paths",
    "names that are not UTF-8, or contain line ends, ESC or direction marks; names "
    "that differ only by normal form or case",
    "indexed with one ID each, or skipped with a warning; escaped in terminals and headers",
)
def test_unusual_names_are_notes_with_one_id_each(root: VaultRoot, folder: Path) -> None:
    names = ["new\nline.md", "\x1b[31m.md", "\u202edm.md", "caf\u00e9.md", "cafe\u0301.md"]
    names += ["Note.md", "note.md", "a\\b.md", "%2e%2e.md"]
    make(folder, *names)
    if len(list(folder.iterdir())) < len(names):
        pytest.skip("this file system takes such names for one")
    found = scan(root)
    assert notes(found) == sorted(names)
    assert len({identify(path) for path in notes(found)}) == len(names)


@posix("pipes of POSIX")
def test_special_files_are_skipped_with_warnings_only_for_notes(
    root: VaultRoot, folder: Path
) -> None:
    os.mkfifo(folder / "fifo.md")
    os.mkfifo(folder / "fifo.png")
    found = scan(root)
    assert not found.notes
    assert not found.attachments
    assert warned(found) == [
        ("FILE_UNREADABLE", "fifo.md", "irregular"),
    ]


def test_no_symlink_is_followed(root: VaultRoot, folder: Path) -> None:
    make(folder, "real/a.md", "real/pic.png", ".hidden/b.md")
    links = {
        "again": str(folder.resolve() / "real"),
        "broken.md": "none.md",
        "here": ".",
        "link": "real",
        "one.md": "real/a.md",
        "away": "../outside",
        "out.md": "../secret.txt",
        "pic.png": "real/pic.png",
        "unseen": ".hidden",
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
    found = scan(root)
    assert notes(found) == ["real/a.md"]
    assert attachments(found) == ["real/pic.png"]
    assert warned(found) == [("SYMLINK_SKIPPED", name, "link") for name in sorted(links)]
    assert not found.unlisted
    assert notes(scan(root, paths=["link/a.md", "one.md"])) == []


def make_nested(folder: Path, *names: str) -> str:
    """Create nested folders with a note in the last, for any path length. Return the path."""
    here = os.open(folder, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(os.open("a.md", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    return "/".join((*names, "a.md"))


def test_a_very_deep_vault_is_walked(root: VaultRoot, folder: Path) -> None:
    path = make_nested(folder, *["d"] * 150)
    assert notes(scan(root)) == [path]
    assert read_bytes(root, path, 1).data == b""


def test_a_path_too_long_for_the_system_is_walked_or_causes_a_warning(
    root: VaultRoot, folder: Path, strategy: str
) -> None:
    path = make_nested(folder, *["d" * 200] * 30)
    found = scan(root)
    if strategy == "portable":
        assert found.unlisted
        assert [w.code for w in found.warnings] == ["FILE_UNREADABLE"]
    else:
        assert notes(found) == [path]
        assert read_bytes(root, path, 1).data == b""


LONG_NAME = "d" * 40
"""A hundred folders of this name have a path that is too long for one call."""


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Create a vault of nested folders with a note in each."""

    def make_chain(levels: int) -> Path:
        vault = tmp_path / str(levels)
        vault.mkdir()
        here = os.open(vault, os.O_RDONLY)
        for _ in range(levels):
            os.close(os.open("note.md", os.O_CREAT | os.O_WRONLY, dir_fd=here))
            os.mkdir(LONG_NAME, dir_fd=here)
            deeper = os.open(LONG_NAME, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = deeper
        os.close(here)
        return vault

    yield make_chain
    # pytest cannot remove a tree this deep.
    subprocess.run(["rm", "-rf", *map(str, tmp_path.iterdir())], check=True)


@pytest.mark.fault(
    "Paths",
    "folders nested by the thousand; paths over 4,096 bytes",
    "walked in time linear in the depth, with one folder open",
)
@pytest.mark.skipif(sys.platform == "win32", reason="paths cannot be as long")
@pytest.mark.parametrize("patterns", [(), ("*.tmp", "private/", "!keep/", "/x/**/y")], ids=len)
def test_walking_time_is_linear_in_depth(
    chain: Callable[[int], Path], strategy: str, patterns: tuple[str, ...]
) -> None:
    if strategy == "portable":
        pytest.skip("opens by name, which the system makes as slow as the name is long")

    def walk(vault: Path) -> None:
        with VaultRoot.open(vault, Exclusions(patterns)) as root:
            assert len(scan(root).notes) == int(vault.name)

    assert_linear(lambda n: chain(100 * n), walk)


@pytest.mark.skipif(sys.platform == "win32", reason="paths cannot be as long")
def test_a_deep_walk_keeps_one_folder_open(chain: Callable[[int], Path]) -> None:
    with VaultRoot.open(chain(150)) as root:
        before = open_descriptors()
        seen = []
        scan(root, on_progress=lambda _: seen.append(open_descriptors() - before))
        assert max(seen) == 1
        assert open_descriptors() == before


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_every_cause_has_a_message() -> None:
    for cause in set(Cause) - {Cause.VANISHED}:
        assert "None" not in not_opened("a.md", cause).message


def test_a_disk_error_while_listing_is_not_an_empty_folder(
    root: VaultRoot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(folder, "a.md")

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "x")

    monkeypatch.setattr(scanning._Walk, "_take", fail)
    assert scan(root).unlisted == [""]


def test_a_folder_deleted_during_the_walk_is_skipped(root: VaultRoot, folder: Path) -> None:
    make(folder, "a.md", "z/b.md")

    def remove(_: int) -> None:
        if (folder / "z").exists():
            (folder / "z" / "b.md").unlink()
            (folder / "z").rmdir()

    found = scan(root, on_progress=remove)
    assert notes(found) == ["a.md"]
    assert not found.warnings
    assert not found.unlisted


def test_progress_is_reported(root: VaultRoot, folder: Path) -> None:
    make(folder, *(f"d{number}/a.md" for number in range(5)))
    seen: list[int] = []
    scan(root, on_progress=seen.append)
    assert seen[-1] == 5
    assert seen == sorted(seen)
