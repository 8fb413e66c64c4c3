"""Excerpts of notes for the prompt of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from vault_agent.model.fields import Query, Text, Texts
from vault_agent.model.sent import Between, Doc, Length, Unsent
from vault_agent.model.warning import Warning


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """A source of excerpts: a note by its name, or the results of a search."""

    kind: Literal["search", "read"] = "search"
    query: Annotated[Query, Doc("A search's text, or a note's path, name, title or link.")]
    limit: Annotated[int, Between(1, 20), Doc("Results of a search.")] = 5
    path: Annotated[Text | None, Doc("A folder or glob, for a search.")] = None
    tags: Annotated[Texts, Doc("All must match, for a search.")] = ()
    section: Annotated[
        Text | None, Doc("A heading, or headings as `A > B`, of a note that is read.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """A request for excerpts of notes."""

    queries: Annotated[tuple[ContextQuery, ...], Length(1, 20)]
    max_tokens: Annotated[
        int, Between(200, 32_000), Doc("The most tokens of the section, as estimated.")
    ] = 4_000


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
