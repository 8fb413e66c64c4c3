"""The requests and replies about names and lists of notes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from vault_agent.model.names import Match
from vault_agent.wire.base import Model

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
