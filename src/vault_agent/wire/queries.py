"""The types of parameters in a query string, where every value arrives as text."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

if TYPE_CHECKING:
    from vault_agent.wire.base import Model


def whole(least: int, most: int) -> Any:
    """Return the type of a whole number. In a query string it is written in digits."""
    return Annotated[
        int,
        BeforeValidator(_whole),
        Field(ge=least, le=most),
        WithJsonSchema({"type": "integer", "minimum": least, "maximum": most}),
    ]


def choices(*known: str) -> Any:
    """Return the type of a list of known names, separated by commas in a query string."""

    def split(value: object) -> tuple[str, ...]:
        names = value.split(",") if isinstance(value, str) else value
        if not isinstance(names, (list, tuple)) or not names or not set(names) <= set(known):
            raise PydanticCustomError(
                "choices",
                "must be one or more of {known}, separated by commas",
                {"known": ", ".join(known)},
            )
        return tuple(dict.fromkeys(names))

    schema = {"type": "string", "pattern": _pattern(known)}
    return Annotated[tuple[str, ...], BeforeValidator(split), WithJsonSchema(schema)]


class _Repeated:
    """Marks the type of a parameter that may be repeated in a query string."""


@cache
def repeatable(model: type[Model]) -> frozenset[str]:
    """Return the parameters of a request that may be repeated in a query string."""
    return frozenset(
        field.alias or name
        for name, field in model.model_fields.items()
        if any(isinstance(each, _Repeated) for each in field.metadata)
    )


def _whole(value: object) -> object:
    # One form only: no sign, no leading zero, only ASCII digits.
    if isinstance(value, str) and re.fullmatch(r"0|[1-9][0-9]{0,8}", value):
        return int(value)
    return value


def _pattern(known: tuple[str, ...]) -> str:
    one = f"({'|'.join(known)})"
    return f"^{one}(,{one})*$"


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Texts = Annotated[tuple[Text, ...], Field(max_length=50), _Repeated()]
"""A list of texts. In a query string the parameter is repeated."""

CursorText = Annotated[str, StringConstraints(max_length=300)]
