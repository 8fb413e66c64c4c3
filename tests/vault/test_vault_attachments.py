"""Attachments: metadata, reading and refused paths."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.support.systems import posix
from tests.vault.spellings import SECRET, refused

from vault_agent.errors import Forbidden, NotFound, TooLarge, VaultAgentError
from vault_agent.model.reading import FolderContents
from vault_agent.vault.attachments import (
    DOWNLOAD_LIMIT,
    _info,
    describe,
    list_folder,
    media_type,
    open_attachment,
    shown_type,
)
from vault_agent.vault.root import VaultRoot


def refusal(root: VaultRoot, path: str) -> VaultAgentError:
    with pytest.raises(VaultAgentError) as described:
        describe(root, path)
    with pytest.raises(VaultAgentError) as opened, open_attachment(root, path):
        pass
    assert str(described.value) == str(opened.value)
    return described.value


def test_attachment_metadata(root: VaultRoot, folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "d" / "Pic.PNG").write_bytes(b"12345")
    os.utime(folder / "d" / "Pic.PNG", (0, 1_700_000_000))
    info = describe(root, "d/Pic.PNG")
    assert (info.path, info.name, info.size) == ("d/Pic.PNG", "Pic.PNG", 5)
    assert info.media_type == "image/png"
    assert info.modified == "2023-11-14T22:13:20Z"
    assert describe(root, "d/Pic.PNG") == info


@pytest.mark.parametrize(
    ("claimed", "told"),
    [
        (-1, "1969-12-31T23:59:59Z"),
        (-(2**40), "0001-01-01T00:00:00Z"),
        (253402300800, "9999-12-31T23:59:59Z"),
        (2**55, "9999-12-31T23:59:59Z"),
    ],
)
def test_any_file_timestamp_is_accepted(claimed: int, told: str) -> None:
    # Not from a file: many file systems cannot keep these.
    fields = {"st_ino": 1, "st_size": 1, "st_ctime_ns": 1, "st_mtime_ns": claimed * 10**9}
    assert _info("a.png", SimpleNamespace(**fields)).modified == told


def test_bytes_can_be_read_from_any_offset(root: VaultRoot, folder: Path) -> None:
    (folder / "a.bin").write_bytes(b"0123456789")
    with open_attachment(root, "a.bin") as attachment:
        assert attachment.info == describe(root, "a.bin")
        attachment.file.seek(4)
        assert attachment.file.read(3) == b"456"
    assert attachment.file.closed


def test_the_etag_changes_with_the_file(root: VaultRoot, folder: Path) -> None:
    (folder / "a.bin").write_bytes(b"one")
    first = describe(root, "a.bin").etag
    (folder / "b.bin").write_bytes(b"two")
    (folder / "b.bin").replace(folder / "a.bin")
    assert describe(root, "a.bin").etag != first


def test_an_attachment_replaced_while_open_is_read_as_it_was(root: VaultRoot, folder: Path) -> None:
    (folder / "a.bin").write_bytes(b"one")
    with open_attachment(root, "a.bin") as attachment:
        (folder / "b.bin").write_bytes(b"longer")
        (folder / "b.bin").replace(folder / "a.bin")
        assert attachment.file.read() == b"one"


def test_a_large_attachment_needs_permission(root: VaultRoot, folder: Path) -> None:
    for name, size in (("at.bin", DOWNLOAD_LIMIT), ("over.bin", DOWNLOAD_LIMIT + 1)):
        with (folder / name).open("wb") as file:
            file.truncate(size)
    with open_attachment(root, "at.bin"):
        pass
    with pytest.raises(TooLarge) as caught, open_attachment(root, "over.bin"):
        pass
    assert caught.value.code == "ATTACHMENT_TOO_LARGE"
    assert describe(root, "over.bin").size == DOWNLOAD_LIMIT + 1
    with open_attachment(root, "over.bin", allow_large=True) as attachment:
        assert attachment.info.size == DOWNLOAD_LIMIT + 1


def test_notes_are_never_attachments(root: VaultRoot, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"text")
    (folder / "B.MARKDOWN").write_bytes(b"text")
    for path in ("a.md", "B.MARKDOWN", "none.md"):
        error = refusal(root, path)
        assert (type(error), error.code) == (Forbidden, "ATTACHMENT_NOT_ALLOWED")


@pytest.mark.fault(
    "Paths",
    "hidden and excluded paths",
    "refused by their name, whether or not they exist",
)
@pytest.mark.parametrize("exists", [True, False])
def test_errors_do_not_reveal_whether_excluded_paths_exist(
    open_root: Callable[..., VaultRoot], folder: Path, exists: bool
) -> None:
    root = open_root("private/", "*.key")
    paths = [".env", ".obsidian/app.json", "d/.git/config", "node_modules/a/b.js"]
    paths += ["private/a.png", "d/server.key"]
    if exists:
        for path in paths:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(SECRET)
    assert {str(refusal(root, path)) for path in paths} == {str(refusal(root, ".none"))}
    assert refusal(root, ".env").code == "ATTACHMENT_NOT_ALLOWED"


@posix("pipes of POSIX")
def test_missing_paths_and_folders_are_not_found(root: VaultRoot, folder: Path) -> None:
    (folder / "folder.png").mkdir()
    os.mkfifo(folder / "fifo.png")
    for path in ("none.png", "folder.png", "folder.png/x.png", "fifo.png"):
        error = refusal(root, path)
        assert (type(error), error.code) == (NotFound, "ATTACHMENT_NOT_FOUND")


def test_a_path_through_a_symlink_is_refused(root: VaultRoot, folder: Path) -> None:
    (folder / "in.txt").write_bytes(b"text")
    (folder / "link.txt").symlink_to("in.txt")
    (folder / "out.txt").symlink_to("../secret.txt")
    (folder / "away").symlink_to("../outside")
    for path in ("link.txt", "out.txt", "away/secret.txt", "away/none.txt"):
        assert refusal(root, path).code == "PATH_OUTSIDE_VAULT"


def test_hostile_paths_are_refused_and_not_quoted(root: VaultRoot) -> None:
    for spelling, code in refused():
        error = refusal(root, spelling)
        assert error.code == code
        assert len(spelling) < 4 or spelling not in error.message


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.svg", "image/svg+xml"),
        ("a.b.PDF", "application/pdf"),
        ("png", "image/png"),
        ("a.unknown", "application/octet-stream"),
        ("a", "application/octet-stream"),
        ("a.", "application/octet-stream"),
    ],
)
def test_the_media_type_depends_on_the_name(name: str, expected: str) -> None:
    assert media_type(name) == expected


@pytest.mark.parametrize(
    ("first", "media"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8", "image/webp"),
        (b"\0\0\0\x1cftypavif", "image/avif"),
        (b"<svg xmlns='x'>", "image/svg+xml"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a -->\n<!DOCTYPE svg>\n<svg>", "image/svg+xml"),
        (b"ID3\x04", "audio/mpeg"),
        (b"\xff\xfb\x90\x64", "audio/mpeg"),
        (b"OggS", "audio/ogg"),
        (b"RIFF\0\0\0\0WAVE", "audio/wav"),
        (b"\0\0\0\x1cftypM4A ", "audio/mp4"),
        (b"\0\0\0\x1cftypisom", "video/mp4"),
        (b"\x1aE\xdf\xa3\x01B\x82\x84webm", "video/webm"),
        (b"%PDF-1.7", "application/pdf"),
        (b"<html><script>", None),
        (b"<!-- <svg> --><script>", None),
        (b" %PDF-1.7", None),
        (b"<svgx>", None),
        (b"RIFF\0\0\0\0AVI ", None),
        (b"MZ", None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell_what_browsers_may_show(first: bytes, media: str | None):
    assert shown_type(first) == media


def test_a_folder_is_listed_without_its_notes(root: VaultRoot, folder: Path) -> None:
    for name in ("d/a.png", "d/Plan.canvas", "d/Note.md", "d/.hidden", "d/.obsidian/x", "d/e/f.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"12")
    (folder / "d" / "empty").mkdir()
    (folder / "d" / "node_modules").mkdir()
    listed = list_folder(root, "d")
    assert listed.folders == ("d/e", "d/empty")
    assert [(each.path, each.size) for each in listed.attachments] == [
        ("d/Plan.canvas", 2),
        ("d/a.png", 2),
    ]
    assert not listed.truncated
    assert "d" in list_folder(root, "").folders


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("none", "PATH_NOT_FOUND"),
        ("d/Note.md", "PATH_NOT_FOUND"),
        (".obsidian", "PATH_NOT_FOUND"),
        ("d/node_modules", "PATH_NOT_FOUND"),
        ("../d", "PATH_OUTSIDE_VAULT"),
        ("d//e", "INVALID_PATH"),
    ],
)
def test_a_folder_that_may_not_be_listed(
    root: VaultRoot, folder: Path, path: str, code: str
) -> None:
    for name in (".obsidian", "d/node_modules", "d/e"):
        (folder / name).mkdir(parents=True)
    (folder / "d" / "Note.md").write_bytes(b"12")
    with pytest.raises(VaultAgentError) as refused:
        list_folder(root, path)
    assert refused.value.code == code


def test_links_of_a_folder_are_not_listed(root: VaultRoot, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "secret.png").write_bytes(b"1")
    (folder / "way").symlink_to(outside)
    (folder / "secret.png").symlink_to(outside / "secret.png")
    assert list_folder(root, "") == FolderContents("", (), (), truncated=False)
    with pytest.raises(VaultAgentError) as refused:
        list_folder(root, "way")
    assert refused.value.code == "PATH_OUTSIDE_VAULT"
