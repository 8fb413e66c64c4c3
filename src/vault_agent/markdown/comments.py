"""Obsidian's `%% comments %%`, as ranges of a body."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_BLANK_LINE = re.compile(r"\n[ \t]*+\n")
_NOT_LINE_END = re.compile(r"[^\n]")
_MAX_INDENTATION = 200


def keeps_code(source: str, start: int, end: int) -> bool:
    """Whether a comment does certainly not change where the code around it starts and ends.

    Its backticks, if any, must be in pairs, and nothing before it may pair with one of them.
    """
    if "`" not in (text := source[start:end]):
        return "~~~" not in text
    return (
        "\n" not in text
        and "``" not in text
        and text.count("`") % 2 == 0
        and (start == 0 or source.endswith("\n\n", 0, start))
    )


def find_comments(source: str, code: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges of `%% … %%` that do not open inside code.

    A comment that does not start its line must end within its paragraph. An unclosed one is text,
    so that a stray `%%` hides nothing.
    """
    comments = []
    fences = iter(sorted(code))
    fence = next(fences, None)
    at = source.find("%%")
    while at >= 0:
        while fence is not None and fence[1] <= at:
            fence = next(fences, None)
        if fence is not None and fence[0] <= at:
            at = source.find("%%", fence[1])
            continue
        close = source.find("%%", at + 2)
        if close < 0:
            break
        if not _starts_line(source, at) and _BLANK_LINE.search(source, at, close):
            at = close
            continue
        comments.append((at, close + 2))
        at = source.find("%%", close + 2)
    return comments


def _starts_line(source: str, at: int) -> bool:
    """Whether only indentation precedes `at` on its line."""
    if not at or source[at - 1] == "\n":
        return True
    floor = max(0, at - _MAX_INDENTATION)
    line = source.rfind("\n", floor, at) + 1
    return (line > 0 or floor == 0) and not source[line:at].strip()


def without_comments(source: str, comments: Iterable[tuple[int, int]]) -> str:
    """Replace the comments by letters. Spaces could turn a line into code."""
    pieces: list[str] = []
    done = 0
    for start, end in comments:
        text = source[start:end]
        blank = _NOT_LINE_END.sub("x", text) if "\n" in text else "x" * len(text)
        pieces += source[done:start], blank
        done = end
    pieces.append(source[done:])
    return "".join(pieces)
