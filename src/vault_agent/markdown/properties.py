"""Properties: the typed values of the frontmatter, for filters and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from vault_agent.model.notes import Property, PropertyType

from .yaml.values import Scalar, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .yaml.values import Value

MAX_PROPERTIES = 1_000
MAX_NAME_CHARS = 200
MAX_VALUE_CHARS = 500

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
            yield Property(
                name[:MAX_NAME_CHARS], type_of(text, plain=value.plain), text, listed, line
            )
        elif isinstance(value, list):
            waiting.extend((name, item, True) for item in reversed(value))
        elif isinstance(value, dict):
            waiting.extend(
                (f"{name}.{key.lower()}"[:MAX_NAME_CHARS], item, listed)
                for key, item in reversed(value.items())
            )
        elif value is None:
            yield Property(name[:MAX_NAME_CHARS], PropertyType.EMPTY, "", listed, line)
