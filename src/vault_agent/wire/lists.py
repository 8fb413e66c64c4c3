"""The requests and replies about names and lists of notes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from vault_agent.model.grep import GrepQuery
from vault_agent.model.names import Match
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.wire.base import Model
from vault_agent.wire.queries import CursorText
from vault_agent.wire.requests import FiltersBody

# --- names ------------------------------------------------------------------------------------


class ResolveRequest(Model):
    """A request for the notes that a name means."""

    name: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096)
    ] = Field(
        description="An ID, a path, the end of a path, a note's name, alias or title, a"
        " `[[wikilink]]`, or an `obsidian://` or `file://` address."
    )


class NamedNoteData(Model):
    """A note found by a name. `match` says how."""

    note_id: str
    path: str
    title: str
    match: Match


class NamedData(Model):
    """The notes that a name means, at most ten."""

    notes: list[NamedNoteData]
    has_more: bool
    line: int | None = Field(description="The line that the name contains, as in `Note.md:12`.")
    heading: str | None = Field(description="The heading that a link contains.")


# --- lines by regular expression ----------------------------------------------------------------


class GrepBody(Model):
    """The body of `POST /grep`."""

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=1000)] = Field(
        description="A regular expression in the syntax of RE2. It is matched line by line."
    )
    ignore_case: bool = False
    context: Annotated[int, Field(ge=0, le=3)] = Field(
        default=0, description="Lines to return before and after each matching line."
    )
    limit: Annotated[int, Field(ge=1, le=200)] = Field(
        default=50, description="Lines. A JSON integer: 10, not 10.0."
    )
    filters: FiltersBody = FiltersBody()
    cursor: CursorText | None = Field(default=None, description="`nextCursor` of the last page.")

    def to_query(self, scope: Scope = EVERYTHING) -> GrepQuery:
        """Return the domain value for a caller with this scope."""
        return GrepQuery(
            pattern=self.pattern,
            ignore_case=self.ignore_case,
            context=self.context,
            limit=self.limit,
            filters=self.filters.to_filters(scope),
        )


class GrepLineData(Model):
    """A matching line, cut to 240 characters around its first match."""

    note_id: str
    path: str
    line: int = Field(description="The line in the note's file, counted from 1.")
    text: str
    matches: tuple[tuple[int, int], ...] = Field(
        description="Ranges of the text that match, in characters, the end exclusive."
    )
    before: tuple[str, ...]
    after: tuple[str, ...]
    more_in_note: bool = Field(description="Whether further lines of this note are left out.")


class GrepData(Model):
    """Matching lines, in the order of paths and lines."""

    lines: list[GrepLineData]
    incomplete: bool = Field(description="Whether the time was over before all was searched.")
    has_more: bool
    next_cursor: str | None
