"""How the fields of a value are sent: what stands beside their types in `Annotated`.

A value of this package is a reply as it is. Its fields are sent in their order, under their names
in camelCase. `wire.values` writes and reads them, `wire.schema` describes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Doc:
    """What a field means, for the description of the interface."""

    text: str


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a field in JSON, if it is not the field's own."""

    key: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """The texts that a field can have."""

    texts: tuple[str, ...]

    def __init__(self, *texts: str) -> None:
        object.__setattr__(self, "texts", texts)


class Mark(Enum):
    """When a field is not sent."""

    NEVER = "never"
    IF_EMPTY = "if empty"


Unsent: TypeAlias = Annotated[T, Mark.NEVER]
"""The type of a field that is for the server alone. It has a default."""

IfAny: TypeAlias = Annotated[T, Mark.IF_EMPTY]
"""The type of a field that is left out while it is None, empty or false. It has a default."""
