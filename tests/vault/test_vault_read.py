"""Reading the bytes of a note and decoding them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.systems import posix

from vault_agent.vault import read as reading
from vault_agent.vault.read import MAX_ATTEMPTS, Skipped, decode, read_bytes
from vault_agent.vault.root import OpenedFile, VaultRoot


def test_a_file_is_returned_with_its_stat(root: VaultRoot, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"text\r\n\0\xff")
    content = read_bytes(root, "a.md", 100)
    assert content.data == b"text\r\n\0\xff"
    assert content.complete
    assert content.entry.size == 8
    assert content.entry.mtime_ns == (folder / "a.md").stat().st_mtime_ns
    assert not content.warnings


@pytest.mark.parametrize(("limit", "complete"), [(0, False), (4, False), (9, True), (10, True)])
def test_at_most_the_limit_is_read(
    root: VaultRoot, folder: Path, limit: int, complete: bool
) -> None:
    (folder / "a.md").write_bytes(b"123456789")
    content = read_bytes(root, "a.md", limit)
    assert content.data == b"123456789"[:limit]
    assert content.complete is complete
    assert not content.warnings


def test_an_empty_file_is_read(root: VaultRoot, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"")
    assert read_bytes(root, "a.md", 100).data == b""


def test_a_huge_file_is_read_only_up_to_the_limit(root: VaultRoot, folder: Path) -> None:
    with (folder / "a.md").open("wb") as file:
        file.truncate(1 << 30)
    content = read_bytes(root, "a.md", 1000)
    assert len(content.data) == 1000
    assert content.entry.size == 1 << 30
    assert not content.complete


@posix("pipes of POSIX")
@pytest.mark.parametrize(
    ("target", "code", "reason"),
    [
        (None, "FILE_VANISHED", "vanished"),
        ("../secret.txt", "SYMLINK_SKIPPED", "link"),
        ("folder", "SYMLINK_SKIPPED", "link"),
    ],
)
def test_an_unreadable_file_causes_a_warning_with_path_and_reason(
    root: VaultRoot, folder: Path, target: str | None, code: str, reason: str
) -> None:
    (folder / "folder").mkdir()
    if target:
        (folder / "a.md").symlink_to(target)
    with pytest.raises(Skipped) as caught:
        read_bytes(root, "a.md", 100)
    assert caught.value.warning.code == code
    assert caught.value.warning.details == {"path": "a.md", "reason": reason}


class Meddler:
    """Changes the vault after each read of a file, before its check."""

    def __init__(self, act: Callable[[int], None]) -> None:
        self.act = act
        self.readings = 0
        self.read = reading._read

    def __call__(self, file: OpenedFile, limit: int) -> bytes:
        data = self.read(file, limit)
        self.readings += 1
        self.act(self.readings)
        return data


def test_a_file_that_changes_while_read_is_read_again(
    root: VaultRoot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = folder / "a.md"
    note.write_bytes(b"one")
    meddler = Meddler(lambda n: note.write_bytes(b"other") and None if n == 1 else None)
    monkeypatch.setattr(reading, "_read", meddler)
    content = read_bytes(root, "a.md", 100)
    assert (content.data, content.warnings, meddler.readings) == (b"other", (), 2)


@pytest.mark.fault(
    "Note contents",
    "a file that changes or disappears while it is read",
    "read again at most twice, then a warning",
)
def test_a_file_that_keeps_changing_causes_a_warning_after_three_reads(
    root: VaultRoot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = folder / "a.md"
    note.write_bytes(b"")

    def grow(_: int) -> None:
        with note.open("ab") as file:
            file.write(b"x")

    meddler = Meddler(grow)
    monkeypatch.setattr(reading, "_read", meddler)
    content = read_bytes(root, "a.md", 100)
    assert meddler.readings == MAX_ATTEMPTS
    assert [w.code for w in content.warnings] == ["FILE_CHANGED_WHILE_READING"]
    assert content.data == b"xx"
    assert content.entry.size == 2  # the stat before that read: the next run detects a change


def test_a_changing_file_that_is_too_large_is_not_treated_as_complete(
    root: VaultRoot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = folder / "a.md"
    note.write_bytes(b"x" * 20)
    meddler = Meddler(lambda turn: os.utime(note, (turn, turn)))
    monkeypatch.setattr(reading, "_read", meddler)
    content = read_bytes(root, "a.md", 10)
    assert (content.data, content.complete) == (b"x" * 10, False)
    assert [w.code for w in content.warnings] == ["FILE_CHANGED_WHILE_READING"]


# --- text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"a\r\nb\rc\n", "a\r\nb\rc\n"),
        ("é 日本 😀".encode(), "é 日本 😀"),
        (b"\xef\xbb\xbf# T", "# T"),
        ("# é 😀".encode("utf-16"), "# é 😀"),
        (b"\xfe\xff" + "# é 😀".encode("utf-16-be"), "# é 😀"),
        (b"\xff\xfe", ""),
        (b"a\0b", "a\ufffdb"),
        (b"x" * 1000 + b"\0" * 10, "x" * 1000 + "\ufffd" * 10),
    ],
)
def test_text_is_decoded_without_a_warning(data: bytes, text: str) -> None:
    assert decode(data, "a.md") == (text, ())


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße".encode("latin-1"), "Gr\ufffd\ufffde"),
        (b"\xef\xbb\xbfa\xff", "a\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"\xff\xfea\0b", "a\ufffd"),
        (b"\xff\xfe\0\xd8a\0", "\ufffda"),
    ],
)
def test_invalid_utf8_is_replaced_with_a_warning(data: bytes, text: str) -> None:
    decoded, (warning,) = decode(data, "d/a.md")
    assert decoded == text
    assert warning.code == "FILE_NOT_UTF8"
    assert warning.details["path"] == "d/a.md"
    decoded.encode("utf-8")


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 10_000,
        b"\0" * 100,
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01",
        (b"x" * 90 + b"\0" * 2) * 1000,
        "text".encode("utf-32"),
        "text as UTF-16 without its mark".encode("utf-16-le"),
    ],
)
def test_a_file_full_of_nul_bytes_is_skipped(data: bytes) -> None:
    with pytest.raises(Skipped) as caught:
        decode(data, "a.md")
    assert caught.value.warning.code == "FILE_BINARY"


def test_only_the_first_bytes_decide_whether_a_file_is_binary() -> None:
    text, warnings = decode(b"x" * 8192 + b"\0" * 8192, "a.md")
    assert text.endswith("\ufffd")
    assert not warnings
