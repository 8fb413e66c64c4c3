"""The values of frontmatter: scalars as written, with their places, in lists and mappings."""

from __future__ import annotations

from typing import TypeAlias

Value: TypeAlias = "Scalar | list[Value] | dict[str, Value] | None"

NULLS = frozenset(("", "~", "null", "Null", "NULL"))
"""Scalars without quotes that are no value."""


class Scalar(str):
    """A scalar as written, and its place in the file and in the block."""

    __slots__ = ("column", "end", "line", "plain", "start")
    line: int  # 1-based, of the file
    column: int  # 1-based
    start: int  # offset in the block, its quotes included
    end: int
    plain: bool  # without quotes: may be a number, a date or a boolean

    @classmethod
    def at(cls, text: str, line: int, column: int, start: int, end: int, *, plain: bool) -> Scalar:
        """Return a scalar with its place."""
        scalar = cls(text)
        scalar.line, scalar.column = line, column
        scalar.start, scalar.end = start, end
        scalar.plain = plain
        return scalar
