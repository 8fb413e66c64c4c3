"""Suggestions while a person types, and numbers of a vault."""

from __future__ import annotations

from typing import Annotated, Literal

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


class SuggestionData(Model):
    """A suggestion."""

    kind: Literal["note", "heading", "block", "tag", "folder", "attachment"]
    label: str
    detail: str = Field(description="The path of its note.")
    insert: str = Field(description="The shortest text within `[[ ]]` that leads there.")
    match: tuple[tuple[int, int], ...] = Field(description="Ranges of the label that match.")
    note_id: str | None
    path: str | None
    line: int | None
    type: str | None = Field(description="Of a note, as its frontmatter or folder says.")


class SuggestionsData(Model):
    """Suggestions, best first."""

    suggestions: list[SuggestionData]


class TypeData(Model):
    """The number of notes of a type."""

    type: str | None
    count: int


class StatsData(Model):
    """Numbers of a vault."""

    revision: str
    notes: int
    types: list[TypeData] = Field(description="The most frequent first; null has no type.")
    attachments: int
    links: int
    unresolved_links: int
    external_links: int
    tags: int
    open_tasks: int
    chunks: int
    indexed_at: str | None = Field(description="When the last run had read all notes.")
    stale: bool
