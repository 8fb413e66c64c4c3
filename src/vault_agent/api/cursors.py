"""Cursors: opaque texts that continue a list after the entries a caller has already seen.

A cursor belongs to one vault and one request, whatever its `limit`, and optionally to one revision
of the index. It is not secret. An operation must treat its position as input: any caller can make
one.
"""

from __future__ import annotations

import base64
import binascii
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import orjson

from vault_agent.errors import InvalidRequest
from vault_agent.model.values import as_object, dump

MAX_CURSOR_CHARACTERS = 300

Position: TypeAlias = "tuple[int | str, ...]"
"""Where a list continues. Each operation has its own form, such as the number of entries seen."""

_NOT_PART_OF_THE_REQUEST = {"cursor", "limit"}


class Cursor(NamedTuple):
    """A decoded cursor: the position, and the revision that it belongs to, if any."""

    position: Position
    revision: str | None


def encode_cursor(
    sent: object, position: Position, *, vault: str, revision: str | None = None
) -> str:
    """Return the cursor that continues the list of the request `sent` at `position`.

    `vault` is the vault's identity. With `revision` the cursor is valid for that revision only.

    Raises:
        ValueError: if the cursor has over 300 characters.
    """
    content = orjson.dumps([_digest(sent, vault), revision, *position])
    cursor = base64.urlsafe_b64encode(content).rstrip(b"=").decode()
    if len(cursor) > MAX_CURSOR_CHARACTERS:
        raise ValueError(f"a cursor of {len(cursor)} characters")
    return cursor


def decode_cursor(sent: object, cursor: str, *types: type[int | str], vault: str) -> Cursor:
    """Return the content of a cursor that came with the request `sent`.

    `types` are the types of the values of its position, for example `int`.

    Raises:
        InvalidRequest: `INVALID_CURSOR` if it is no cursor of this vault and this request.
    """
    content = _content(cursor)
    if len(content) != 2 + len(types) or content[0] != _digest(sent, vault):
        raise invalid_cursor()
    _, revision, *position = content
    known = all(type(value) is kind for value, kind in zip(position, types, strict=True))
    if not known or not (revision is None or isinstance(revision, str)):
        raise invalid_cursor()
    return Cursor(tuple(position), revision)


def invalid_cursor() -> InvalidRequest:
    """Return the error for a text that is no cursor of this request."""
    return InvalidRequest("INVALID_CURSOR", "This cursor does not belong to this request.")


def _digest(sent: object, vault: str) -> str:
    """Return a hash of the vault and the request."""
    fields = as_object(sent)
    arguments = {name: fields[name] for name in fields.keys() - _NOT_PART_OF_THE_REQUEST}
    content = dump([type(sent).__name__, vault, sorted(arguments.items())])
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
