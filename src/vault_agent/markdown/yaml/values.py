"""The values of frontmatter, and which type a scalar has.

A plain scalar is read by the core schema of YAML 1.2, as Obsidian reads it. Dates stay text: those
that Obsidian takes for dates (help.obsidian.md, Properties) have a type of their own in the index.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from vault_agent.model.notes import PropertyType

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Value: TypeAlias = "Scalar | list[Value] | dict[str, Value] | None"

NULLS = frozenset(("", "~", "null", "Null", "NULL"))
"""Scalars without quotes that are no value."""


_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NUMBER_STARTS = frozenset("+-.0123456789")
_MOST_DIGITS = 4_000  # Python refuses to convert more
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?\Z",
    re.ASCII,
)


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


def scalar_value(text: str, *, plain: bool) -> Json:
    """Return what a scalar means. Anything but null, booleans and finite numbers is text."""
    if not plain:
        return text
    if text in NULLS:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if text[0] not in _NUMBER_STARTS or len(text) > _MOST_DIGITS:
        return text
    if _INTEGER.match(text):
        return int(text)  # also with zeros before it
    if _OCTAL.match(text) or _HEXADECIMAL.match(text):
        return int(text, 0)
    if _FLOAT.match(text):
        value = float(text)
        return value if abs(value) != float("inf") else text
    return text


def type_of(text: str, *, plain: bool) -> PropertyType:
    """Return the type of a scalar that is on one line."""
    if not text:
        return PropertyType.EMPTY
    value = scalar_value(text, plain=plain)
    if isinstance(value, bool):
        return PropertyType.BOOLEAN
    if isinstance(value, (int, float)):
        return PropertyType.NUMBER
    return PropertyType.DATE if plain and _DATE.match(text) else PropertyType.TEXT


def same(one: Json, other: Json) -> bool:
    """Whether two values are equal as JSON: 1 is 1.0, but not true."""
    return identity(one) == identity(other)


def identity(value: Json) -> object:
    """Return a hashable object that is equal for equal values."""
    if isinstance(value, list):
        return ("list", tuple(map(identity, value)))
    if isinstance(value, dict):
        return ("map", frozenset((key, identity(member)) for key, member in value.items()))
    return (isinstance(value, bool), value)


def json_of(value: Value) -> Json:
    """Return what a value means."""
    if isinstance(value, Scalar):
        return scalar_value(str(value), plain=value.plain)
    if isinstance(value, list):
        return [json_of(item) for item in value]
    return None if value is None else {key: json_of(item) for key, item in value.items()}
