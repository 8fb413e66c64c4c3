"""Markdown that all pages of the reference use."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH = 118


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop. Code stays as it is."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?")) else f"{text}."


def wrapped(text: str) -> str:
    """Return a paragraph in lines."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, or an empty text without rows."""
    lines = [f"| {' | '.join(_cell(text) for text in row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines]) if lines else ""


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def joined(parts: Iterable[str]) -> str:
    """Return a page: its parts, with an empty line between them."""
    return "\n\n".join(part for part in parts if part) + "\n"
