"""The requests and replies about what agents' sessions got of the notes."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vault_agent.wire.base import Model
from vault_agent.wire.memory import SessionId
from vault_agent.wire.queries import CursorText, Text, whole
from vault_agent.wire.requests import NoteId


class MemorySessionsRequest(Model):
    """A request for the sessions of agents, the one with the latest event first."""

    project: Text | None = Field(default=None, description="Only sessions of this project.")
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    cursor: CursorText | None = Field(default=None, description="`nextCursor` of the page before.")


class MemorySessionRequest(Model):
    """A request about one session."""

    session_id: SessionId


class RefreshBody(Model):
    """Whether the session gets what would be recalled now, at its next event."""

    session_id: SessionId
    apply: bool = False


class PinBody(Model):
    """A note that comes first at the next event of a session."""

    session_id: SessionId
    vault: Text
    note_id: NoteId


class UnpinRequest(Model):
    """A note that a session gets no more."""

    session_id: SessionId
    note_vault: Text
    note_id: NoteId


class ForgetMemoryBody(Model):
    """Which entries of the log are removed. One of the three says which."""

    session_id: SessionId | None = None
    older_than_days: Annotated[int, Field(ge=0, le=36_500)] | None = None
    all: bool = False

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        if (self.session_id is not None) + (self.older_than_days is not None) + self.all != 1:
            raise PydanticCustomError(
                "one_of", "must have one of `sessionId`, `olderThanDays` and `all`"
            )
        return self
