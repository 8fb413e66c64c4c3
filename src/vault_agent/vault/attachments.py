"""Attachments: the files of a vault that are not notes. Their metadata, content and folders."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

from vault_agent.errors import Forbidden, NotFound, TooLarge, VaultAgentError
from vault_agent.model.reading import AttachmentInfo, FolderContents
from vault_agent.text.names import is_note
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.vault.paths import validate
from vault_agent.vault.scan import is_utf8

if TYPE_CHECKING:
    from vault_agent.vault.root import OpenedFile, VaultRoot


DOWNLOAD_LIMIT = 10 * 1024 * 1024
MAX_LISTED = 5_000
"""Maximum number of attachments, and of folders, in a reply."""

_FIRST_SECOND = int(datetime.min.replace(tzinfo=UTC).timestamp())
_LAST_SECOND = int(datetime.max.replace(tzinfo=UTC, microsecond=0).timestamp())


@dataclass(frozen=True, slots=True)
class OpenAttachment:
    """An attachment open for reading. The file is seekable and has the size in `info`."""

    info: AttachmentInfo
    file: BinaryIO

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.file.close()


def describe(root: VaultRoot, path: str) -> AttachmentInfo:
    """Return the metadata of the attachment at the exact vault-relative `path`.

    Raises:
        InvalidRequest: INVALID_PATH.
        Forbidden: PATH_OUTSIDE_VAULT, or ATTACHMENT_NOT_ALLOWED for a note or an excluded name,
            whether the file exists or not.
        NotFound: ATTACHMENT_NOT_FOUND.
    """
    with _open(root, path) as file:
        return _info(path, file.stat)


def open_attachment(root: VaultRoot, path: str, *, allow_large: bool = False) -> OpenAttachment:
    """Open the attachment at `path` for reading. The caller closes it.

    The size and ETag in `info` are those of the open file.

    Raises:
        TooLarge: ATTACHMENT_TOO_LARGE over 10 MiB, unless `allow_large`.
        VaultAgentError: the errors of `describe`.
    """
    with _open(root, path) as opened:
        info = _info(path, opened.stat)
        if info.size > DOWNLOAD_LIMIT and not allow_large:
            raise TooLarge(
                "ATTACHMENT_TOO_LARGE",
                "The attachment is over the limit for downloads.",
                {"size": info.size, "limit": DOWNLOAD_LIMIT},
            )
        return OpenAttachment(info, os.fdopen(opened.detach(), "rb"))


def list_folder(root: VaultRoot, path: str) -> FolderContents:
    """Return the attachments and folders in the folder at `path` ("" is the vault), by name.

    Hidden and excluded names are left out. So are links: their targets are listed where they are.

    Raises:
        InvalidRequest: INVALID_PATH.
        Forbidden: PATH_OUTSIDE_VAULT.
        NotFound: PATH_NOT_FOUND if there is no such folder, or it is excluded.
    """
    folders: list[str] = []
    attachments: list[AttachmentInfo] = []
    missing = NotFound("PATH_NOT_FOUND", "There is no such folder in the vault.")
    if path and root.exclusions.excludes(validate(path), is_dir=True):
        raise missing
    try:
        with root.listing(path) as entries:
            for entry in entries:
                place = f"{path}/{entry.name}" if path else entry.name
                is_dir = entry.is_dir(follow_symlinks=False)
                is_hidden = entry.name.startswith(".") or not is_utf8(entry.name)
                if is_hidden or root.exclusions.excludes(place, is_dir=is_dir):
                    continue
                if is_dir:
                    folders.append(place)
                elif entry.is_file(follow_symlinks=False) and not is_note(entry.name):
                    with suppress(FileNotFoundError):
                        attachments.append(_info(place, entry.stat(follow_symlinks=False)))
    except CannotOpen as error:
        if error.cause is Cause.OUTSIDE:
            raise _error(error.cause) from None
        raise missing from None
    truncated = max(len(folders), len(attachments)) > MAX_LISTED
    attachments.sort(key=attrgetter("path"))
    return FolderContents(
        path, tuple(sorted(folders)[:MAX_LISTED]), tuple(attachments[:MAX_LISTED]), truncated
    )


def _open(root: VaultRoot, path: str) -> OpenedFile:
    validate(path)
    if root.exclusions.excludes(path) or is_note(path):
        raise _not_allowed()
    try:
        return root.open_file(path)
    except CannotOpen as error:
        raise _error(error.cause) from None


def _info(path: str, status: os.stat_result) -> AttachmentInfo:
    name = path.rpartition("/")[2]
    version = f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"
    # A file can have any time, but `datetime` ends with the year 9999.
    seconds = min(max(status.st_mtime_ns // 1_000_000_000, _FIRST_SECOND), _LAST_SECOND)
    modified = datetime.fromtimestamp(seconds, UTC)
    return AttachmentInfo(
        path=path,
        name=name,
        size=status.st_size,
        media_type=media_type(name),
        modified=modified.isoformat().replace("+00:00", "Z"),
        etag=hashlib.sha256(version.encode()).hexdigest()[:32],
    )


def _error(cause: Cause) -> VaultAgentError:
    if cause is Cause.EXCLUDED:
        return _not_allowed()
    if cause is Cause.OUTSIDE:
        return Forbidden(
            "PATH_OUTSIDE_VAULT",
            "The path leads through a symbolic link, and none is followed.",
            remedy="",
        )
    return NotFound(
        "ATTACHMENT_NOT_FOUND", "There is no readable attachment at this path of the vault."
    )


def _not_allowed() -> Forbidden:
    return Forbidden(
        "ATTACHMENT_NOT_ALLOWED",
        "This is not an attachment that may be served: notes have their own call, and hidden and "
        "excluded paths are never served.",
    )


_DEFAULT = "application/octet-stream"
SNIFFED_BYTES = 1024
"""How much of a file tells its type."""


def _rows(name: str) -> list[list[str]]:
    """Return the rows of a table of this package. Tabs separate their columns."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


@cache
def _media_types() -> dict[str, str]:
    """Return the media types by the extension of a file."""
    rows = _rows("media_types.txt")
    return {suffix: media for media, suffixes in rows for suffix in suffixes.split()}


@cache
def _signatures() -> list[tuple[str, re.Pattern[bytes]]]:
    """Return the media types that browsers may show, with the beginning of their files."""
    rows = _rows("signatures.txt")
    return [(media, re.compile(pattern.encode(), re.DOTALL)) for media, pattern in rows]


def shown_type(first: bytes) -> str | None:
    """Return the media type that a file's first bytes tell, if browsers may show it, else None."""
    return next((media for media, pattern in _signatures() if pattern.match(first)), None)


def media_type(name: str) -> str:
    """Return the media type of a file by its name. Its content is not read."""
    suffix = name.rpartition(".")[2].lower()
    return _media_types().get(suffix, _DEFAULT)
