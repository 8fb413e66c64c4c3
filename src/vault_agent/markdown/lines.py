"""Which text a note can contain, and its table of lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, AnyStr

from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """The lines of a text. They end in LF or CR LF."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line."""
        pieces = self._text.split("\n")
        starts = [0, *accumulate([len(piece) + 1 for piece in pieces[:-1]])]
        if len(starts) > 1 and not pieces[-1]:
            starts.pop()  # the text ends with a line end
        return starts

    def line(self, offset: int) -> int:
        """Return the line of an offset, from 1."""
        return bisect_right(self.starts, offset) or 1
