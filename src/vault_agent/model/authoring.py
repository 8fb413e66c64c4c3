"""What an agent writes by rules: templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from vault_agent.model.sent import Doc


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """A template for new notes."""

    name: str
    built_in: bool
    path: Annotated[str | None, Doc("Its note, unless it is built in.")]
    variables: Annotated[tuple[str, ...], Doc("The variables that it needs.")]


@dataclass(frozen=True, slots=True)
class TemplateList:
    """The templates for new notes."""

    templates: tuple[TemplateRow, ...]
