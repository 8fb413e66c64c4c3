"""Places in a note: lines and columns for users, ranges of bytes for edits."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.notes import Chunk, Span

_BLOCK = 1024  # characters


class Lines:
    """Lines and columns of ascending offsets. Reads each character once."""

    __slots__ = ("_line", "_offset", "_source", "_start")

    def __init__(self, source: str, first_line: int) -> None:
        self._source = source
        self._offset = 0
        self._line = first_line
        self._start = 0  # of the line

    def at(self, offset: int) -> tuple[int, int]:
        """Return the line and the 1-based column of `offset`. Offsets must not decrease."""
        ends = self._source.count("\n", self._offset, offset)
        if ends:
            self._line += ends
            self._start = self._source.rfind("\n", self._offset, offset) + 1
        self._offset = offset
        return self._line, offset - self._start + 1


class Places:
    """Converts offsets of a part of a note to bytes of its file and to chunks."""

    __slots__ = ("_base", "_ends", "_sizes", "_text")

    def __init__(self, text: str, base: int | None, chunks: Sequence[Chunk] = ()) -> None:
        """Take the part, the number of bytes before it (None if unknown), and its chunks."""
        self._text = text
        self._base = base
        self._ends = list(accumulate(len(chunk.text) for chunk in chunks))
        self._sizes: list[int] | None = None  # of the blocks before each block, in bytes
        if base is not None and not text.isascii():
            blocks = range(0, len(text), _BLOCK)
            sizes = (len(text[start : start + _BLOCK].encode()) for start in blocks)
            self._sizes = list(accumulate(sizes, initial=0))

    def span(self, start: int, end: int) -> Span:
        """Return a range of characters as a range of the file's bytes, or None if unknown."""
        if self._base is None or start < 0:
            return None
        if self._sizes is None:
            return self._base + start, self._base + end
        block = start // _BLOCK
        before = len(self._text[block * _BLOCK : start].encode())
        first = self._base + self._sizes[block] + before
        return first, first + len(self._text[start:end].encode())

    def chunk(self, offset: int) -> int | None:
        """Return the index of the chunk that contains an offset, or None if it is not kept."""
        index = bisect_right(self._ends, offset)
        return index if index < len(self._ends) else None
