"""Properties: the typed values of the frontmatter, for filters and tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from vault_agent.model.notes import Property, PropertyType

from .scalars import Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .scalars import Value

MAX_PROPERTIES = 1_000
MAX_NAME_CHARS = 200
MAX_VALUE_CHARS = 500

_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*+(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?\Z")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[Tt ]\d{1,2}:\d{2}.{0,24})?\Z")
_BOOLEANS = frozenset(("true", "false"))

_Waiting: TypeAlias = "tuple[str, Value, bool]"


def properties(values: Mapping[str, Value]) -> Iterator[Property]:
    """Yield the values of the frontmatter in the order they are written.

    A list yields one property for each value. A mapping yields one for each key, named
    `outer.inner`.
    """
    waiting: list[_Waiting] = [(key, value, False) for key, value in [*values.items()][::-1]]
    line = 0
    while waiting:
        name, value, listed = waiting.pop()
        if isinstance(value, Scalar):
            line = value.line
            text = " ".join(value.split())[:MAX_VALUE_CHARS]
            yield Property(name[:MAX_NAME_CHARS], _type(value, text), text, listed, line)
        elif isinstance(value, list):
            waiting.extend((name, item, True) for item in reversed(value))
        elif isinstance(value, dict):
            waiting.extend(
                (f"{name}.{key.lower()}"[:MAX_NAME_CHARS], item, listed)
                for key, item in reversed(value.items())
            )
        elif value is None:
            yield Property(name[:MAX_NAME_CHARS], PropertyType.EMPTY, "", listed, line)


def _type(value: Scalar, text: str) -> PropertyType:
    if not text:
        return PropertyType.EMPTY
    if not value.plain:
        return PropertyType.TEXT
    first = text[0]
    if first.isdecimal() or first in "+-.":
        if _NUMBER.match(text):
            return PropertyType.NUMBER
        if _DATE.match(text):
            return PropertyType.DATE
    elif text.lower() in _BOOLEANS:
        return PropertyType.BOOLEAN
    return PropertyType.TEXT
