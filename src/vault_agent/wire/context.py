"""The request and the reply of `POST /context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StringConstraints

from vault_agent.model.context import ContextQuery
from vault_agent.model.scope import EVERYTHING
from vault_agent.model.search import Filters
from vault_agent.wire.base import Model

if TYPE_CHECKING:
    from vault_agent.model.scope import Scope

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class ContextQueryBody(Model):
    """What to take: a note by its name, or the results of a search."""

    kind: Literal["search", "read"] = "search"
    query: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)
    ] = Field(description="A search's text, or a note's path, name, title or link.")
    limit: Annotated[int, Field(ge=1, le=20)] = Field(default=5, description="Results of a search.")
    path: _Text | None = Field(default=None, description="A folder or glob, for a search.")
    tags: Annotated[tuple[_Text, ...], Field(max_length=50)] = Field(
        default=(), description="All must match, for a search."
    )
    section: _Text | None = Field(
        default=None, description="A heading, or headings as `A > B`, of a note that is read."
    )

    def to_query(self, scope: Scope = EVERYTHING) -> ContextQuery:
        """Return the domain value, limited to the caller's scope."""
        paths = () if self.path is None else (self.path,)
        return ContextQuery(
            kind=self.kind,
            query=self.query,
            filters=Filters(paths=paths, tags=self.tags, scope=scope),
            limit=self.limit,
            section=self.section,
        )


class ContextBody(Model):
    """The body of `POST /context`."""

    queries: Annotated[tuple[ContextQueryBody, ...], Field(min_length=1, max_length=20)]
    max_tokens: Annotated[int, Field(ge=200, le=32_000)] = Field(
        default=4_000, description="The most tokens of the section, as estimated."
    )
