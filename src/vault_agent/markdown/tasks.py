"""Tasks: list items with a check box, except in code, HTML and comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_agent.model.notes import Task

from .places import Lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .places import Places

MAX_TASKS = 10_000
MAX_TEXT_CHARS = 1_000
_MAX_BEFORE = 200

_BOX = re.compile(r"\[([^\0\r\n])\](?=[ \t\r\n]|\Z)")
_MARKER = re.compile(r"((?:[ \t]*+>)*+[ \t]*+)(?:[-*+]|\d{1,9}[.)])[ \t]++\Z")


def tasks(source: str, text: str, places: Places, first_line: int) -> Iterator[Task]:
    """Yield the tasks of a body in the order they are written.

    `text` is `source` with code, HTML and comments masked.
    """
    lines = Lines(source, first_line)
    for match in _BOX.finditer(text):
        at = match.start()
        line_start = text.rfind("\n", max(0, at - _MAX_BEFORE), at) + 1
        if not line_start and at > _MAX_BEFORE:
            continue
        before = _MARKER.match(text, line_start, at)
        if before is None:
            continue
        line_end = text.find("\n", at)
        if line_end < 0:
            line_end = len(text)
        elif text[line_end - 1] == "\r":
            line_end -= 1
        rest = source[match.end() : line_end].strip()[:MAX_TEXT_CHARS]
        yield Task(
            match[1],
            rest,
            len(before[1].rpartition(">")[2].expandtabs(4)),
            lines.at(line_start)[0],
            places.span(line_start, line_end),
            places.chunk(at),
        )
