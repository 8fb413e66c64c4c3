"""The requests and replies of promotion to the global vault."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from vault_agent.wire.base import Model
from vault_agent.wire.requests import NoteId

_Folder = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]


class PromoteBody(Model):
    """A note of a project's vault, and how it is copied to the global one."""

    note_id: NoteId
    folder: _Folder | None = Field(
        default=None, description="In the global vault. By default that of the note's type."
    )
    force: bool = Field(default=False, description="Copy it even if there is a similar note.")


class DemoteRequest(Model):
    """A note whose promotion is taken back."""

    note_id: NoteId
