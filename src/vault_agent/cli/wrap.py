"""Wraps text to the terminal's width. Wide characters count as two columns, styles as none."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from shutil import get_terminal_size
from typing import TextIO

from vault_agent.cli.terminal import is_terminal

_NARROWEST = 20

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


@cache
def _unit() -> re.Pattern[str]:
    """Return what matches a command in backticks, a word, or one character of an unspaced script.

    Spaces before it belong to it. Compiling takes 10 ms, and only a terminal needs it.
    """
    return re.compile(
        r"(?:\x1b\[[0-9;]*m)*"
        r"(?:[\u2e80-\uffef]|\s*`[^`\u2e80-\uffef]{1,60}`[^\s\u2e80-\uffef]*"
        r"|\s*[^\s\u2e80-\uffef]+|\s+)"
    )


def width(text: str) -> int:
    """Return the number of columns of a text."""
    return sum(map(_columns, _STYLE.sub("", text)))


def wrapped(text: str, columns: int) -> list[str]:
    """Return the lines of a text, at most `columns` wide unless a single word is longer."""
    lines, line, used = [], "", 0
    for unit in _unit().findall(text):
        needed = width(unit)
        if used and used + needed > columns:
            lines.append(line)
            line = unit.lstrip()
            used = width(line)
        else:
            line += unit
            used += needed
    return [*lines, line] if line else lines


def fitted(text: str, *, margin: int = 0, stream: TextIO | None = None) -> list[str]:
    """Return the lines of a text for a stream: wrapped at a terminal, otherwise a single line.

    The default stream is stdout.
    """
    if not is_terminal(stream or sys.stdout):
        return [text]
    return wrapped(text, max(get_terminal_size().columns - margin, _NARROWEST))


def shortened(text: str, *, margin: int = 0) -> str:
    """Return a text, cut at a terminal to what fits on the line behind `margin` columns."""
    if not is_terminal(sys.stdout):
        return text
    room = max(get_terminal_size().columns - margin, _NARROWEST)
    if width(text) <= room:
        return text
    shown, used = "", 1
    for character in text:
        used += _columns(character)
        if used > room:
            break
        shown += character
    return f"{shown.rstrip()}…"


def fits(text: str) -> bool:
    """Whether a text needs no second line of stdout. Without a terminal, all texts fit."""
    return not is_terminal(sys.stdout) or width(text) <= get_terminal_size().columns


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
