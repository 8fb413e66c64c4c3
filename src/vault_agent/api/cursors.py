"""Pages of lists: cursors that continue them, and as many entries as fit into a reply.

A cursor belongs to one vault and one request, whatever `limit` that has, and optionally to one
revision of the index. It is not secret, and any caller can make one: an operation must treat its
position as input.
"""

from __future__ import annotations

import base64
import binascii
from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import orjson

from vault_agent.api.replies import REPLY_BYTES
from vault_agent.errors import InvalidRequest
from vault_agent.model.graph import Entry, Listed, Page
from vault_agent.model.values import as_object, dump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.vaults.open_vault import OpenVault

PAGE_BYTES = REPLY_BYTES - 64 * 1024
"""The most bytes of JSON in the entries of a page. The rest of a reply is for its other fields."""


MAX_CURSOR_CHARACTERS = 300
_MAX_NUMBER = 1 << 53

Position: TypeAlias = "tuple[int | str, ...]"
"""Where a list continues. Each operation has its own form, such as the number of entries seen."""

_NOT_PART_OF_THE_REQUEST = {"cursor", "limit"}


class Cursor(NamedTuple):
    """A decoded cursor: the position, and the revision that it belongs to, if any."""

    position: Position
    revision: str | None


def page_of(vault: OpenVault, request: Any, positions: int = 1) -> Page:
    """Return the part of a list that a request asks for.

    `positions` is how many numbers the cursor of this list has.

    Raises:
        InvalidRequest: `INVALID_CURSOR`.
    """
    if request.cursor is None:
        return Page(request.limit)
    cursor = decode_cursor(request, request.cursor, *[int] * positions, vault=vault.identity)
    start = tuple(number for number in cursor.position if isinstance(number, int))
    return Page(request.limit, start, cursor.revision or "")


def entries_that_fit(entries: Sequence[object]) -> int:
    """Return how many entries a page has room for, at least one.

    The next page begins with the rest, so that a cursor never skips an entry.
    """
    sizes = accumulate(len(dump(entry)) + 1 for entry in entries)
    return max(sum(size <= PAGE_BYTES for size in sizes), min(1, len(entries)))


def fit_page(
    vault: OpenVault, request: object, listed: Listed[Entry]
) -> tuple[tuple[Entry, ...], dict[str, Any]]:
    """Return the entries that fit into a reply, and the fields that each page of a list has.

    The cursor continues after the last of the entries.
    """
    entries = listed.entries[: entries_that_fit(listed.entries)]
    more = listed.more or len(entries) < len(listed.entries)
    following = None
    if more and entries:
        following = encode_cursor(
            request, listed.ends[len(entries) - 1], vault=vault.identity, revision=listed.revision
        )
    fields = {"revision": listed.revision, "has_more": more, "next_cursor": following}
    return entries, fields


def encode_cursor(
    request: object, position: Position, *, vault: str, revision: str | None = None
) -> str:
    """Return the cursor that continues the list of `request` at `position`.

    `vault` is the vault's identity. With `revision` the cursor is valid for that revision only.

    Raises:
        ValueError: if the cursor has over 300 characters.
    """
    content = orjson.dumps([_digest(request, vault), revision, *position])
    cursor = base64.urlsafe_b64encode(content).rstrip(b"=").decode()
    if len(cursor) > MAX_CURSOR_CHARACTERS:
        raise ValueError(f"a cursor of {len(cursor)} characters")
    return cursor


def decode_cursor(request: object, cursor: str, *types: type[int | str], vault: str) -> Cursor:
    """Return the content of a cursor that came with `request`.

    `types` are the types of the values of its position, for example `int`.

    Raises:
        InvalidRequest: `INVALID_CURSOR` if it is no cursor of this vault and this request.
    """
    content = _content(cursor)
    if len(content) != 2 + len(types) or content[0] != _digest(request, vault):
        raise invalid_cursor()
    _, revision, *position = content
    has_types = all(type(value) is kind for value, kind in zip(position, types, strict=True))
    if not has_types or not (revision is None or isinstance(revision, str)):
        raise invalid_cursor()
    if any(isinstance(value, int) and not 0 <= value < _MAX_NUMBER for value in position):
        raise invalid_cursor()  # the database can take no such number
    return Cursor(tuple(position), revision)


def position_of(vault: OpenVault, request: Any, *types: type[int | str]) -> Position | None:
    """Return where the list of a request continues, or None for its beginning.

    Raises:
        InvalidRequest: `INVALID_CURSOR`.
    """
    if request.cursor is None:
        return None
    return decode_cursor(request, request.cursor, *types, vault=vault.identity).position


def invalid_cursor() -> InvalidRequest:
    """Return the error for a text that is no cursor of this request."""
    return InvalidRequest("INVALID_CURSOR", "This cursor does not belong to this request.")


def _digest(request: object, vault: str) -> str:
    """Return a hash of the vault and the request."""
    fields = as_object(request)
    arguments = {name: fields[name] for name in fields.keys() - _NOT_PART_OF_THE_REQUEST}
    content = dump([type(request).__name__, vault, sorted(arguments.items())])
    return blake2b(content, digest_size=8).hexdigest()


def _content(cursor: str) -> list[Any]:
    if len(cursor) > MAX_CURSOR_CHARACTERS or not cursor.isascii():
        raise invalid_cursor()
    padded = cursor.encode() + b"=" * (-len(cursor) % 4)
    try:
        content = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, orjson.JSONDecodeError):
        raise invalid_cursor() from None
    if not isinstance(content, list):
        raise invalid_cursor()
    return content
