"""The request and the reply of `POST /memory`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, StringConstraints

from vault_agent.model.memory import NoteQuery, RecallQuery
from vault_agent.wire.base import Model

if TYPE_CHECKING:
    from vault_agent.model.scope import Scope

_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
SessionId = Annotated[
    str, StringConstraints(pattern=r"^[0-9A-Za-z][0-9A-Za-z._:-]*$", max_length=200)
]
"""An agent's own name of a session."""


class MemoryBody(Model):
    """What a task is about."""

    project: _Name | None = Field(
        default=None, description="A project's name. By default the vault that the request is to."
    )
    prompt: Annotated[str, Field(max_length=20_000)] = ""
    files: Annotated[tuple[_Name, ...], Field(max_length=20)] = Field(
        default=(), description="Paths of files, relative to the project."
    )
    tags: Annotated[tuple[_Name, ...], Field(max_length=20)] = ()
    max_notes: Annotated[int, Field(ge=1, le=20)] | None = None
    max_tokens: Annotated[int, Field(ge=100, le=2_000)] | None = None
    explain: bool = Field(default=False, description="Whether to say what was left out, and why.")
    start: bool = Field(
        default=False,
        description="Whether to add what a session's start looks at: the files of the last commit"
        " and of the last journal, and the branch.",
    )
    session_id: SessionId | None = Field(
        default=None,
        description="The session that this is for: it is logged, and what was put first or taken"
        " out in it counts.",
    )
    agent: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,31}$")] | None = Field(
        default=None, description="The agent of the session, such as `claude-code`."
    )

    def to_query(self, scope: Scope) -> RecallQuery:
        """Return the domain value for a caller that may see `scope`."""
        return RecallQuery(
            prompt=self.prompt,
            files=self.files,
            tags=self.tags,
            max_notes=self.max_notes,
            max_tokens=self.max_tokens,
            explain=self.explain,
            start=self.start,
            scope=scope,
        )


class NoteSearchBody(Model):
    """A search for notes."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
    files: Annotated[tuple[_Name, ...], Field(max_length=200)] = ()
    tags: Annotated[tuple[_Name, ...], Field(max_length=200)] = ()
    limit: Annotated[int, Field(ge=1, le=50)] = 5
    recency_days: Annotated[float, Field(gt=0, le=36_500)] | None = None
    project: _Name | None = Field(default=None, description="Only the notes of this project.")
    alone: bool = Field(default=False, description="Whether to leave out the global vault.")

    def to_query(self, scope: Scope) -> NoteQuery:
        """Return the domain value for a caller that may see `scope`."""
        return NoteQuery(
            text=self.text,
            files=self.files,
            tags=self.tags,
            limit=self.limit,
            recency_days=self.recency_days,
            alone=self.alone or self.project is not None,
            scope=scope,
        )
