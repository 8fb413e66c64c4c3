"""Excerpts of notes for the prompt of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from vault_agent.model.search import Filters
from vault_agent.model.sent import Doc, Unsent
from vault_agent.model.warning import Warning


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """What to take: a note by its name, or the results of a search."""

    kind: Literal["search", "read"]
    query: str
    filters: Filters
    limit: int = 5  # results of a search
    section: str | None = None  # heading or `A > B`, of a note that is read


@dataclass(frozen=True, slots=True)
class ContextSource:
    """An excerpt of the section."""

    path: str
    lines: Annotated[tuple[int, int], Doc("The first and the last line, inclusive.")]
    query: Annotated[int, Doc("The number of its query, counted from 0.")]
    tokens: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Context:
    """A section of Markdown with excerpts of notes. It is empty if nothing was found."""

    section: str
    tokens: Annotated[int, Doc("An estimate that is above the number of common tokenizers.")]
    sources: tuple[ContextSource, ...]
    warnings: Unsent[tuple[Warning, ...]] = ()
