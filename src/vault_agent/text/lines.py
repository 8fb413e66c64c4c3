"""The line ends of a text, and its lines."""

from __future__ import annotations

import re

LINE_END = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends: LF, CR LF or CR, and no others."""
    return _LINE.findall(text)
