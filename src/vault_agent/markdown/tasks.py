"""Tasks: list items with a check box, except in code, HTML and comments."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.markdown.lines import Lines

MAX_TEXT_CHARS = 1_000
_MAX_BEFORE = 200

_BOX = re.compile(r"\[([^\0\r\n])\](?=[ \t\r\n]|\Z)")
_MARKER = re.compile(r"((?:[ \t]*+>)*+[ \t]*+)(?:[-*+]|\d{1,9}[.)])[ \t]++\Z")


class TaskLine(NamedTuple):
    """A task of a note. `start` and `end` are those of its line, without the line end."""

    line: int  # from 1
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


def line_digest(line: str) -> str:
    """Return the hash of a task's line that its ID contains: 8 hexadecimal digits."""
    return sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def task_lines(source: str, text: str, lines: Lines, body: int) -> Iterator[TaskLine]:
    """Yield the tasks of a body that starts at an offset of a text with these lines.

    `text` is `source` with code, HTML and comments masked.
    """
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
        start = body + line_start
        yield TaskLine(lines.line(start), start, body + at, body + line_end, indent)
