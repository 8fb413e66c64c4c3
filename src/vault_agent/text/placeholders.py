"""Placeholders of templates: what is filled in when a note is made, such as `{{title}}`."""

from __future__ import annotations

import re
from typing import Final

_COMMAND: Final = r"<%(?:[^%<]|%(?!>)|<(?!%))*+%>"
"""A command of Templater. Linear: the search for an end stops at the next beginning."""
PLACEHOLDER: Final = r"\{\{[^{}\n]*+\}\}|" + _COMMAND
"""One of Obsidian's templates, or a command of Templater."""

_COMMANDS = re.compile(_COMMAND)
_PLACEHOLDER = re.compile(PLACEHOLDER)
_LETTER = re.compile(r"[^\W_]")


def has_command(text: str) -> bool:
    """Whether a text has a command of Templater."""
    return _COMMANDS.search(text) is not None


def has_placeholder(text: str) -> bool:
    """Whether a text has a placeholder."""
    return _PLACEHOLDER.search(text) is not None


def is_placeholder(text: str) -> bool:
    """Whether a text has a placeholder, and no letters or digits besides."""
    return has_placeholder(text) and not _LETTER.search(_PLACEHOLDER.sub("", text))
