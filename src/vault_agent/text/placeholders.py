"""Placeholders of templates: what is filled in when a note is made, such as `{{title}}`."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

BUILT_IN: Final = {
    file.name.removesuffix(".md"): file.read_text("utf-8")
    for file in files(__package__).joinpath("templates").iterdir()
}
"""The texts of the built-in templates by their names."""
# Lines below the headings of a built-in template are to be replaced.
_UNFILLED: Final = {
    line
    for text in BUILT_IN.values()
    for line in text.partition("\n---\n")[2].split("\n")
    if "[" in line and not line.startswith("#")
}

_COMMAND: Final = r"<%(?:[^%<]|%(?!>)|<(?!%))*+%>"
"""A command of Templater. Linear: the search for an end stops at the next beginning."""
PLACEHOLDER: Final = r"\{\{[^{}\n]*+\}\}|" + _COMMAND
"""One of Obsidian's templates, or a command of Templater."""

_COMMANDS = re.compile(_COMMAND)
_PLACEHOLDER = re.compile(PLACEHOLDER)
_LETTER = re.compile(r"[^\W_]")


def is_unfilled(line: str) -> bool:
    """Whether a line of a note is one of a built-in template that nobody has filled in."""
    return line.strip() in _UNFILLED


def without_unfilled(text: str) -> str:
    """Return a text without the lines of a built-in template that nobody has filled in."""
    lines = text.split("\n")
    if _UNFILLED.isdisjoint(lines):  # nearly always
        return text
    return "\n".join("" if line in _UNFILLED else line for line in lines)


def unfilled_lines(text: str) -> list[tuple[int, int]]:
    """Return the ranges of lines of a built-in template that nobody has filled in."""
    lines = text.split("\n")
    if _UNFILLED.isdisjoint(lines):  # nearly always
        return []
    ranges, start = [], 0
    for line in lines:
        if line in _UNFILLED:
            ranges.append((start, start + len(line)))
        start += len(line) + 1
    return ranges


def has_command(text: str) -> bool:
    """Whether a text has a command of Templater."""
    return _COMMANDS.search(text) is not None


def has_placeholder(text: str) -> bool:
    """Whether a text has a placeholder."""
    return _PLACEHOLDER.search(text) is not None


def is_placeholder(text: str) -> bool:
    """Whether a text has a placeholder, and no letters or digits besides."""
    return has_placeholder(text) and not _LETTER.search(_PLACEHOLDER.sub("", text))
