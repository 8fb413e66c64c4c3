"""How the fields of a value are sent and read: what stands beside their types in `Annotated`.

A value of this package is a request or a reply as it is. Its fields are sent in their order, under
their names in camelCase. `model.values` writes and reads them, `api.schema` describes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, TypeAlias, TypeVar

T = TypeVar("T")


class Unreadable(Exception):
    """A value that is not of its type, or breaks a rule. `place` is that of the field.

    The text says what a value must be. It never repeats the input.
    """

    def __init__(self, rule: str, text: str, place: tuple[str, ...] = ()) -> None:
        super().__init__(rule)
        self.rule = rule
        self.text = text
        self.place = place

    def inside(self, name: str) -> Unreadable:
        """Return the error with the place of a value that contains the wrong one."""
        return Unreadable(self.rule, self.text, (name, *self.place))


# --- what a field means, and when it is sent ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Doc:
    """What every field of a type means, for the description of the interface."""

    text: str


@dataclass(frozen=True, slots=True)
class JsonKey:
    """The name of a field in JSON, if it is not the field's own."""

    key: str


class OneOf:
    """The texts that a field can have."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts


class Mark(Enum):
    """When a field is sent."""

    NEVER = "never"
    IF_ANY = "if any"


Internal: TypeAlias = Annotated[T, Mark.NEVER]
"""The type of a field that is for the server alone. It has a default, and is never read."""

IfAny: TypeAlias = Annotated[T, Mark.IF_ANY]
"""The type of a field that is left out while it is None, empty or false. It has a default."""

# --- what a value must be -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Between:
    """The least and the most that a number can be."""

    least: float
    most: float

    def check(self, value: float) -> float:
        """Return a number within the limits."""
        if value < self.least:
            raise Unreadable("greater_than_equal", f"must be at least {self.least}")
        if value > self.most:
            raise Unreadable("less_than_equal", f"must be at most {self.most}")
        return value

    def schema(self, _kind: str) -> dict[str, Any]:
        """Return the limits as JSON Schema."""
        most = {"maximum": self.most} if self.most != float("inf") else {}
        return {"minimum": self.least, **most}


@dataclass(frozen=True, slots=True)
class Length:
    """The least and the most characters of a text, or entries of a list or an object."""

    least: int
    most: int | None = None

    def check(self, value: T) -> T:
        """Return a text or a list of such a length."""
        length = len(value)  # type: ignore[arg-type]
        is_text = isinstance(value, str)
        if length < self.least:
            rule = "string_too_short" if is_text else "too_short"
            raise Unreadable(rule, "must not be empty")
        if self.most is not None and length > self.most:
            unit = "characters" if is_text else "items"
            rule = "string_too_long" if is_text else "too_long"
            raise Unreadable(rule, f"must have at most {self.most:,} {unit}")
        return value

    def schema(self, kind: str) -> dict[str, Any]:
        """Return the limits as JSON Schema."""
        unit = {"array": "Items", "object": "Properties"}.get(kind, "Length")
        least = {f"min{unit}": self.least} if self.least else {}
        most = {f"max{unit}": self.most} if self.most is not None else {}
        return {**least, **most}


@dataclass(frozen=True, slots=True)
class Form:
    """A regular expression that the whole text must match, and what an error says."""

    pattern: str
    text: str

    def check(self, value: str) -> str:
        """Return a text of this form."""
        if re.fullmatch(self.pattern, value) is None:
            raise Unreadable("form", self.text)
        return value

    def schema(self, _kind: str) -> dict[str, Any]:
        """Return the pattern as JSON Schema."""
        return {"pattern": f"^({self.pattern})$"}


@dataclass(frozen=True, slots=True)
class ReadAs:
    """The type that a field has in JSON, if a rule then makes another of it."""

    kind: Any


@dataclass(frozen=True, slots=True, eq=False)
class Validator:
    """A function that returns a value or raises Unreadable, and what a schema says of it."""

    check: Callable[[Any], Any]
    of_schema: Mapping[str, Any] = field(default_factory=dict)

    def schema(self, _kind: str) -> dict[str, Any]:
        """Return what JSON Schema can say of it."""
        return dict(self.of_schema)


TRIMMED = Validator(str.strip)
"""Marks a text whose white space at both ends does not count. JSON Schema cannot say it."""

RULES = (Between, Length, Form, Validator)
