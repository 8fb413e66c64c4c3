"""The lines that a client sends, and the IDs of requests in lines that are too long to hold."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK_BYTES: Final = 64 * 1024
_MOST_KEPT: Final = 4 * 1024
_PIECES: Final = re.compile(rb'[\\"{}\[\]]|[^\\"{}\[\]]+')


class TooLong:
    """A line that is too long. Only bytes outside nested values are kept.

    So its ID is found even behind `params`.
    """

    def __init__(self) -> None:
        self._kept = bytearray()
        self._depth = 0
        self._is_text = False
        self._is_escaped = False

    def add(self, part: bytes) -> None:
        """Add the next bytes of the line."""
        for piece in _PIECES.findall(part):
            if len(self._kept) > _MOST_KEPT:
                return
            outer = self._depth
            if self._is_text:
                if self._is_escaped:
                    self._is_escaped = False
                elif piece == b"\\":
                    self._is_escaped = True
                elif piece == b'"':
                    self._is_text = False
            elif piece == b'"':
                self._is_text = True
            elif piece in (b"{", b"["):
                self._depth += 1
            elif piece in (b"}", b"]"):
                self._depth -= 1
            if min(outer, self._depth) <= 1:
                self._kept += piece

    @property
    def message(self) -> object:
        """The message without what is in inner objects and lists, None if it is not known."""
        if len(self._kept) > _MOST_KEPT:
            return None
        try:
            return json.loads(self._kept)
        except (ValueError, RecursionError):
            return None


def lines(source: int, longest: int) -> Iterator[bytes | TooLong]:
    """Yield the lines of a descriptor. One that has more than `longest` bytes is not held."""
    held = bytearray()
    long: TooLong | None = None
    while part := os.read(source, _BLOCK_BYTES):
        *ends, rest = part.split(b"\n")
        for end in ends:
            long = _longer(long, held, end, longest)
            yield bytes(held) if long is None else long
            held.clear()
            long = None
        long = _longer(long, held, rest, longest)
    if held or long is not None:
        yield bytes(held) if long is None else long


def _longer(long: TooLong | None, held: bytearray, part: bytes, longest: int) -> TooLong | None:
    """Add a part of a line to what is held of it, or to the line that has become too long."""
    if long is None and len(held) + len(part) <= longest:
        held += part
        return None
    if long is None:
        long = TooLong()
        long.add(bytes(held))
        held.clear()
    long.add(part)
    return long
