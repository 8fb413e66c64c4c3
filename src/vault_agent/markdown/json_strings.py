"""The strings of a JSON text with their places, so that an edit keeps every other byte."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],]|:', re.DOTALL)
_PIECE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]+",
    re.DOTALL,
)


class JsonString(NamedTuple):
    """A value that is a string: the keys and indexes that lead to it, and its bytes."""

    place: tuple[str | int, ...]
    start: int  # of the text between its quotes
    end: int


class Decoded(NamedTuple):
    """What a string says, and where each of its bytes comes from."""

    text: str
    starts: list[int]
    """The place of each byte of the UTF-8 text in the JSON, and of its end."""


def strings(content: bytes) -> Iterator[JsonString]:
    """Yield all values that are strings of a text that is known to be JSON."""
    place: list[str | int] = []  # of the value that comes next
    is_object: list[bool] = []
    awaits_key = False
    for match in _TOKEN.finditer(content):
        token = match[0]
        if token in b"{[":
            is_object.append(token == b"{")
            place.append("" if token == b"{" else 0)
            awaits_key = token == b"{"
        elif token in b"}]":
            is_object.pop()
            place.pop()
            awaits_key = False
        elif token == b",":
            awaits_key = is_object[-1]
            if not awaits_key:
                index = place[-1]
                place[-1] = index + 1 if isinstance(index, int) else 0
        elif token == b":":
            awaits_key = False
        elif awaits_key:
            place[-1] = str(json.loads(token))
        else:
            yield JsonString(tuple(place), match.start() + 1, match.end() - 1)


def decoded(content: bytes, string: JsonString) -> Decoded | None:
    """Return the text of a string, or None if it has half of a character."""
    pieces: list[str] = []
    starts: list[int] = []
    for match in _PIECE.finditer(content, string.start, string.end):
        text = str(json.loads(b'"' + match[0] + b'"', strict=False))
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            return None
        escaped = match[0].startswith(b"\\")
        starts += [match.start()] * size if escaped else range(match.start(), match.end())
        pieces.append(text)
    return Decoded("".join(pieces), [*starts, string.end])


def encoded(text: str, *, ascii_only: bool) -> bytes:
    """Return a text as the inside of a string."""
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode()
