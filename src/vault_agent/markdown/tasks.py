"""Tasks: list items with a check box, except in code, HTML and comments."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT_CHARS = 1_000
_MAX_BEFORE = 200

_BOX = re.compile(r"\[([^\0\r\n])\](?=[ \t\r\n]|\Z)")
_MARKER = re.compile(r"((?:[ \t]*+>)*+[ \t]*+)(?:[-*+]|\d{1,9}[.)])[ \t]++\Z")


class TaskLine(NamedTuple):
    """Where a task is in a text. `start` and `end` are those of its line, without the line end."""

    start: int
    box: int  # of the "["
    end: int
    indent: int

    @property
    def symbol(self) -> int:
        """Where the character in the box is."""
        return self.box + 1

    @property
    def rest(self) -> int:
        """Where the text after the box starts."""
        return self.box + 3

    def moved(self, distance: int) -> TaskLine:
        """Return the place of the same task in a text with more characters before it."""
        return TaskLine(
            self.start + distance, self.box + distance, self.end + distance, self.indent
        )


class PlacedTask(NamedTuple):
    """A task of a note with its line number, from 1."""

    line: int
    place: TaskLine


def line_digest(line: str) -> str:
    """Return the hash of a task's line that its ID contains: 8 hexadecimal digits."""
    return sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def task_lines(source: str, text: str) -> Iterator[TaskLine]:
    """Yield the tasks of a body; `text` is `source` with code, HTML and comments masked."""
    for match in _BOX.finditer(text):
        at = match.start()
        # Line ends are those of the source: a mask may cover them.
        line_start = source.rfind("\n", max(0, at - _MAX_BEFORE), at) + 1
        if not line_start and at > _MAX_BEFORE:
            continue
        before = _MARKER.match(text, line_start, at)
        if before is None:
            continue
        line_end = source.find("\n", at)
        if line_end < 0:
            line_end = len(source)
        elif source[line_end - 1] == "\r":
            line_end -= 1
        indent = len(before[1].rpartition(">")[2].expandtabs(4))
        yield TaskLine(line_start, at, line_end, indent)
