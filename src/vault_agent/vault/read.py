"""Read and decode notes: entries of files, their bytes and text, and warnings for skipped ones."""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.model.notes import FileEntry
from vault_agent.model.warning import Warning as Notice
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.vault.platform import inodes_are_known

if TYPE_CHECKING:
    from vault_agent.vault.root import OpenedFile, VaultRoot

MAX_ATTEMPTS = 3

# A file is binary if NUL bytes are more than a hundredth of its first `_SAMPLE_BYTES`. Up to
# `_STRAY_NULS` are accepted in any file as typing errors.
_SAMPLE_BYTES = 8192
_STRAY_NULS = 4


@dataclass(frozen=True, slots=True)
class Content:
    """A file's bytes with the `stat` they belong to."""

    data: bytes
    entry: FileEntry
    complete: bool  # False if the file is larger than the limit and `data` is its beginning
    warnings: tuple[Notice, ...] = ()


def read_bytes(root: VaultRoot, path: str, limit: int) -> Content:
    """Read at most `limit` bytes of the file at `path`.

    A file that changes meanwhile is read again at most twice. Then the last reading is returned
    with the warning FILE_CHANGED_WHILE_READING. Its `stat` is from before that reading, so that
    the next run finds the file changed.

    Raises:
        Skipped: with FILE_VANISHED, FILE_UNREADABLE or SYMLINK_SKIPPED.
    """
    for _ in range(MAX_ATTEMPTS):
        try:
            with root.open_file(path) as file:
                data = _read(file, limit)
                after = file_entry(path, os.fstat(file.fd))
        except CannotOpen as error:
            raise Skipped(not_opened(path, error.cause)) from None
        except OSError:
            raise Skipped(notice("FILE_UNREADABLE", path, "unreadable")) from None
        entry = file_entry(path, file.stat)
        complete = entry.size <= limit
        if entry == after and len(data) == min(entry.size, limit):
            return Content(data, entry, complete)
    changed = notice("FILE_CHANGED_WHILE_READING", path, "changing")
    return Content(data[:limit], entry, complete and len(data) <= limit, (changed,))


def _read(file: OpenedFile, limit: int) -> bytes:
    """Read to the end or the limit. Ask for one byte more than expected, to notice growth."""
    wanted = min(file.stat.st_size + 1, limit)
    data = os.read(file.fd, wanted)
    if len(data) == wanted or len(data) >= file.stat.st_size:
        return data
    parts = [data]  # a short read: a signal, or some network file systems
    wanted -= len(data)
    while wanted and (part := os.read(file.fd, wanted)):
        parts.append(part)
        wanted -= len(part)
    return b"".join(parts)


def decode(data: bytes, path: str) -> tuple[str, tuple[Notice, ...]]:
    """Return the text of a note: UTF-8 with or without BOM, or UTF-16 with one.

    Invalid bytes are replaced by U+FFFD with the warning FILE_NOT_UTF8. Stray NULs are replaced
    without a warning. Line ends stay as they are.

    Raises:
        Skipped: with FILE_BINARY.
    """
    encoding = "utf-8"
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    if encoding == "utf-8":
        _refuse_binary(data[:_SAMPLE_BYTES].count(0), len(data), path)
    warnings: tuple[Notice, ...] = ()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        warnings = (notice("FILE_NOT_UTF8", path, f"not valid {encoding.upper()}"),)
    if "\0" in text:
        if encoding == "utf-16":
            # UTF-32 begins with the same bytes, but every other unit of it is NUL.
            _refuse_binary(text[:_SAMPLE_BYTES].count("\0"), len(text), path)
        text = text.replace("\0", "\ufffd")
    return text, warnings


def _refuse_binary(nuls: int, length: int, path: str) -> None:
    if nuls > _STRAY_NULS and nuls * 100 > min(length, _SAMPLE_BYTES):
        raise Skipped(notice("FILE_BINARY", path, "NUL bytes"))


_INODES = inodes_are_known()
_SIGN = 1 << 63


def file_entry(path: str, status: os.stat_result) -> FileEntry:
    """Return the entry for `path`. It is the same for the `stat` of a walk and of an open file.

    Larger times and inodes wrap around: a year after 2262, an inode of a network drive. The index
    stores each as a signed 64-bit number, and they are only compared.
    """
    return FileEntry(
        path,
        status.st_size,
        _folded(status.st_mtime_ns),
        _folded(status.st_ctime_ns),
        _folded(status.st_ino) if _INODES else 0,
    )


def _folded(number: int) -> int:
    return number if -_SIGN <= number < _SIGN else (number + _SIGN) % (2 * _SIGN) - _SIGN


def printable(path: str) -> str:
    """Return a path that is valid in JSON. Bytes that are not UTF-8 become U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


_MESSAGES = {
    "FILE_VANISHED": "A file disappeared before it could be read.",
    "FILE_UNREADABLE": "A file or folder could not be read and was skipped: {why}.",
    "FILE_NAME_NOT_UTF8": "A name is not UTF-8. Rename the file to index it.",
    "FILE_BINARY": "A file with a note's name contains binary data and was skipped.",
    "FILE_NOT_UTF8": "A note is not UTF-8. The invalid bytes were replaced.",
    "FILE_CHANGED_WHILE_READING": "A file kept changing while it was read. It may be read again.",
    "SYMLINK_SKIPPED": "A symbolic link was not followed: what it leads to in the vault is indexed "
    "at its own path.",
}
_WHY: dict[str, str] = {
    Cause.DIRECTORY: "it is now a folder",
    Cause.IRREGULAR: "it is a pipe, a socket or a device",
    Cause.FORBIDDEN: "permission denied",
    Cause.UNREADABLE: "the system cannot read it",
}


class Skipped(Exception):
    """The file was skipped. `warning` contains its path and the reason."""

    def __init__(self, warning: Notice) -> None:
        super().__init__(warning.code)
        self.warning = warning


def notice(code: str, path: str, reason: str) -> Notice:
    """Return the warning `code` for a vault-relative path, with a short reason."""
    message = _MESSAGES[code].format(why=_WHY.get(reason))
    return Notice(code, message, {"path": printable(path), "reason": reason})


def not_opened(path: str, cause: Cause) -> Notice:
    """Return the warning for a path that could not be opened."""
    if cause in (Cause.OUTSIDE, Cause.EXCLUDED):
        return notice("SYMLINK_SKIPPED", path, "link")
    code = "FILE_VANISHED" if cause is Cause.VANISHED else "FILE_UNREADABLE"
    return notice(code, path, cause.value)
