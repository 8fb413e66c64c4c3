"""Which text a note can contain, its line ends, and its table of offsets.

The table has lines and columns for users, and ranges of bytes for edits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, AnyStr

from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.notes import Span

_BLOCK = 1024  # characters
LINE_END = re.compile(r"\r\n|\r|\n")
_LONE_CR = re.compile(r"\r(?!\n)")


def insertable(content: str) -> None:
    """Check that a note can contain a text.

    Raises:
        InvalidRequest: `INVALID_REQUEST` for NUL and for unpaired surrogates.
    """
    if "\0" in content:
        raise InvalidRequest("INVALID_REQUEST", "The text contains a NUL character.")
    try:
        content.encode()
    except UnicodeEncodeError:
        raise InvalidRequest("INVALID_REQUEST", "The text contains half of a character.") from None


def with_line_ends(text: str) -> str:
    """Return a text whose lines all end in LF or CR LF. No offset changes."""
    return _LONE_CR.sub("\n", text) if "\r" in text else text


def line_ends(text: str) -> int:
    """Return the number of line ends of a text."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def equal_lines(one: Sequence[AnyStr], other: Sequence[AnyStr]) -> int:
    """Return how many lines at the start are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    shorter = min(len(one), len(other))
    return next((number for number, (line, its) in pairs if line != its), shorter)


class Lines:
    """The lines, columns and bytes of the characters of a text. Each table is made at first use.

    The lines of the text end in LF or CR LF.
    """

    def __init__(self, text: str, origin: int | None = 0) -> None:
        """Take the text, and the number of bytes before it in its file (None if unknown)."""
        self._text = text
        self._origin = origin

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line."""
        pieces = self._text.split("\n")
        starts = [0, *accumulate([len(piece) + 1 for piece in pieces[:-1]])]
        if len(starts) > 1 and not pieces[-1]:
            starts.pop()  # the text ends with a line end
        return starts

    @cached_property
    def _sizes(self) -> list[int]:
        """The number of bytes before each block of characters."""
        text = self._text
        blocks = (text[start : start + _BLOCK] for start in range(0, len(text), _BLOCK))
        return list(accumulate((len(block.encode()) for block in blocks), initial=0))

    def line(self, offset: int) -> int:
        """Return the line of an offset, from 1."""
        return bisect_right(self.starts, offset) or 1

    def byte(self, offset: int) -> int:
        """Return the number of bytes before a character."""
        if self._text.isascii():
            return offset
        block = offset // _BLOCK
        return self._sizes[block] + len(self._text[block * _BLOCK : offset].encode())

    def character(self, byte: int) -> int:
        """Return the number of characters before a byte."""
        if self._text.isascii():
            return byte
        block = min(bisect_right(self._sizes, byte), len(self._sizes) - 1) - 1
        text = self._text[block * _BLOCK : (block + 1) * _BLOCK]
        return block * _BLOCK + len(text.encode()[: byte - self._sizes[block]].decode())

    @property
    def shift(self) -> int | None:
        """What to add to an offset for its byte in the file, if it is always the same."""
        return self._origin if self._text.isascii() else None

    def span(self, start: int, end: int) -> Span:
        """Return a range of characters as a range of the file's bytes, or None if unknown."""
        if self._origin is None or start < 0:
            return None
        if self._text.isascii():
            return self._origin + start, self._origin + end
        first = self._origin + self.byte(start)
        return first, first + len(self._text[start:end].encode())
