"""Suggestions while a person types, and numbers of a vault."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from vault_agent.model.suggestions import KINDS, SuggestQuery
from vault_agent.wire.base import Model
from vault_agent.wire.queries import choices, whole
from vault_agent.wire.requests import NoteId


class SuggestRequest(Model):
    """What was typed."""

    q: Annotated[str, StringConstraints(max_length=200)] = Field(
        default="",
        description="A part of a name. After `#` headings of the note before it, after `#^` its"
        " blocks. Without any, the last changed notes.",
    )
    kinds: choices(*KINDS) = Field(  # type: ignore[valid-type]
        default=("note",), description="What to suggest, separated by commas."
    )
    from_: NoteId | None = Field(
        default=None, alias="from", description="The note in which it is typed."
    )
    limit: whole(1, 50) = 20  # type: ignore[valid-type]

    def to_query(self) -> SuggestQuery:
        """Return the domain value."""
        return SuggestQuery(self.q, self.kinds, self.from_, self.limit)
