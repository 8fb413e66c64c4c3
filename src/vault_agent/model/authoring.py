"""What an agent writes by rules: templates, the devlog, and decision records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
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


class DevlogKind(StrEnum):
    """What an entry is about: something made, gone wrong, learned, or seen to work."""

    IMPL = "impl"
    PROBLEM = "problem"
    INSIGHT = "insight"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class DevlogEntry:
    """A line of the devlog: what was done or learned."""

    topic: str
    path: str
    line: int
    kind: DevlogKind
    date: Annotated[str, Doc("YYYY-MM-DD.")]
    text: str


@dataclass(frozen=True, slots=True)
class Devlog:
    """The last lines of the devlog, in the order of their days."""

    entries: tuple[DevlogEntry, ...]


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision record."""

    number: int
    note_id: str
    path: str
    title: str
    status: str | None


@dataclass(frozen=True, slots=True)
class DecisionList:
    """The decision records, in the order of their numbers."""

    decisions: tuple[DecisionRecord, ...]
