"""What requests and replies of long lists have in common."""

from __future__ import annotations

from pydantic import Field

from vault_agent.model.search import Filters
from vault_agent.wire.base import Model
from vault_agent.wire.queries import Texts
from vault_agent.wire.requests import CalendarDate

CURSOR = Field(default=None, description="`nextCursor` of the page before.")


class FilteredRequest(Model):
    """A request with the filters of a search as query parameters."""

    paths: Texts = Field(
        default=(), description="Folders or glob patterns, relative to the vault. One must match."
    )
    tags: Texts = Field(
        default=(), description="All must match. A tag includes those nested under it."
    )
    types: Texts = Field(
        default=(), description="Values of `type` in the frontmatter. One must match."
    )
    after: CalendarDate | None = Field(default=None, description="The first day, inclusive.")
    before: CalendarDate | None = Field(default=None, description="The last day, inclusive.")

    def to_filters(self) -> Filters:
        """Return the domain value."""
        return Filters(
            paths=self.paths,
            tags=self.tags,
            types=self.types,
            after=self.after,
            before=self.before,
        )
