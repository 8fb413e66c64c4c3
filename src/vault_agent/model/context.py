"""Excerpts of notes for the prompt of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from vault_agent.model.search import Filters
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
    """An excerpt. `query` is the number of its query, from 0."""

    path: str
    lines: tuple[int, int]
    query: int
    tokens: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Context:
    """A section of Markdown with excerpts, empty if there are none. `tokens` is an estimate."""

    section: str
    tokens: int
    sources: tuple[ContextSource, ...]
    warnings: tuple[Warning, ...] = ()
