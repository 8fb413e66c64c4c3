"""The request and the reply of reading a note in parts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from vault_agent.model.reading import ReadingView
from vault_agent.wire.base import Model
from vault_agent.wire.requests import NoteId


class PartRequest(Model):
    """A request for a page of a part of a note."""

    note_id: NoteId
    view: ReadingView = "text"
    section: Annotated[str, StringConstraints(max_length=1000)] | None = None
    first_line: Annotated[int, Field(ge=1)] = 1
    last_line: Annotated[int, Field(ge=1)] | None = None
    max_bytes: Annotated[int, Field(ge=1)] = 24_000
    cursor: str | None = None
