"""What a user should know that did not stop the work."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_WARNINGS = 100
"""How many a job keeps and a reply shows; the others are counted."""


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001 - the field's word; the builtin of that name is never wanted here
    """Something the user should know, that did not stop the work."""

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
