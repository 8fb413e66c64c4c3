"""Vault-relative paths from users, links and HTTP clients.

Nothing here accesses the disk. `validate` is the first of two checks: it refuses paths that are
malformed or lead out of the vault. The second, `VaultRoot`, is safe for any path, even without the
first.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from vault_agent.errors import Forbidden, InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_PATH_BYTES = 4096
MAX_NAME_LENGTH = 255
# A name with this many encoding levels is an attack.
_MAX_DECODINGS = 8

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_DRIVE = re.compile(r"[A-Za-z]:")
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPED_UTF16 = re.compile(r"%[uU][0-9A-Fa-f]{4}")
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)")


def outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths that do not lie below another, sorted, without duplicates."""
    given = set(paths)
    return sorted(path for path in given if not any(folder in given for folder in folders_of(path)))


def folders_of(path: str) -> Iterator[str]:
    """Yield the folders that contain a path, innermost first, without the vault itself."""
    while end := path.rfind("/") + 1:
        path = path[: end - 1]
        yield path


def validate(path: str) -> str:
    """Return `path` unchanged if it is a valid vault-relative path.

    The messages of the errors do not contain the path.

    Raises:
        Forbidden: PATH_OUTSIDE_VAULT if it leads out of the vault, as written or after any number
            of URL decodings.
        InvalidRequest: INVALID_PATH if it is otherwise malformed: empty, too long, or with control
            characters, backslashes, or empty, `.` or `..` segments.
    """
    try:
        encoded = path.encode("utf-8")
    except UnicodeEncodeError:
        raise _invalid("is not valid Unicode") from None
    if not path:
        raise _invalid("is empty")
    if len(encoded) > MAX_PATH_BYTES:
        raise _invalid("is too long")
    spellings = _decodings(path)
    for spelling in spellings:
        _check_inside(spelling)
    for spelling in spellings:
        _check_segments(spelling)
    # An encoded separator is refused even if the decoded path is harmless.
    if spellings[-1].count("/") != path.count("/"):
        raise _invalid("has an encoded separator")
    if any(len(name) > MAX_NAME_LENGTH for name in path.split("/")):
        raise _invalid("has a name that is too long")
    if os.name == "nt":
        check_windows_name(path)
    return path


def check_windows_name(path: str) -> None:
    """Refuse names with another meaning on Windows: streams, devices, trailing dots or spaces.

    Raises:
        InvalidRequest: INVALID_PATH.
    """
    for name in path.split("/"):
        if ":" in name or _DEVICE.match(name) or name != name.rstrip(" ."):
            raise _invalid("has a name that Windows reserves")


def _decodings(path: str) -> list[str]:
    """Return the path and the results of URL-decoding it repeatedly until nothing changes.

    A percent sign is valid in a name (`my%20image.png`, `100%.png`), so a path is refused only if
    decoding would change its structure.
    """
    spellings = [path]
    while _ESCAPED.search(path):
        if len(spellings) > _MAX_DECODINGS:
            raise _invalid("is encoded too often")
        try:
            path = unquote_to_bytes(path).decode("utf-8")
        except UnicodeDecodeError:
            raise _invalid("has escapes that are not UTF-8") from None
        spellings.append(path)
    if _ESCAPED_UTF16.search(path):
        raise _invalid("has escapes of an unknown kind")
    return spellings


def _check_inside(path: str) -> None:
    """Refuse a spelling that is absolute or leads above its start, on any system."""
    segments = path.replace("\\", "/").split("/")
    depth = 0
    for segment in segments:
        trimmed = segment.rstrip(" ")
        if trimmed == "..":
            depth -= 1
        elif trimmed not in ("", "."):
            depth += 1
        if depth < 0:
            raise _outside()
    if not segments[0] or _DRIVE.match(path):
        raise _outside()


def _check_segments(path: str) -> None:
    """Refuse a spelling that is not a plain sequence of names."""
    if "\\" in path:
        raise _invalid("has a backslash; separate folders with /")
    if _CONTROL.search(path):
        raise _invalid("has control characters")
    # Dots and spaces alone: `.`, `..`, `...`, `.. `. Windows drops them from the end of a name.
    if any(not segment.strip(" .") for segment in path.split("/")):
        raise _invalid("has an empty or dotted segment")


def _invalid(why: str) -> InvalidRequest:
    return InvalidRequest("INVALID_PATH", f"The path {why}.")


def _outside() -> Forbidden:
    return Forbidden(
        "PATH_OUTSIDE_VAULT",
        "The path leads out of the vault.",
    )
