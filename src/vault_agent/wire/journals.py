"""The requests and replies about the journals of agents' sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from vault_agent.wire.base import Model
from vault_agent.wire.memory import SessionId
from vault_agent.wire.queries import Text, whole

_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
_Section = Annotated[str, StringConstraints(max_length=20_000)]


class JournalsRequest(Model):
    """A request for the journals of the latest sessions."""

    project: Text | None = Field(default=None, description="Only sessions of this project.")
    state: Literal["pending", "incomplete", "complete", "draft", "skipped", "all"] | None = Field(
        default=None, description="Default: all but `skipped`."
    )
    limit: whole(1, 500) = 50  # type: ignore[valid-type]


class MakeJournalBody(Model):
    """A session whose journal is to be written now."""

    session_id: SessionId | None = Field(
        default=None, description="Default: the open session of the vault, if there is only one."
    )
    title: _Name | None = None
    sections: Annotated[dict[_Name, _Section], Field(max_length=20)] | None = Field(
        default=None,
        description="What the agent has written of its own session, by heading: Goal, Approach, Key"
        " Decisions, Problems Encountered, Outcome, Open Questions.",
    )


class JournalEntryBody(Model):
    """A line of the devlog for the journal of a session."""

    session_id: SessionId
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
    kind: Literal["impl", "problem", "insight", "verify"] = "insight"


class JournalReviewBody(Model):
    """Whether the draft of a session's journal is taken into the vault."""

    session_id: SessionId
    accept: bool


class JournalDraftRequest(Model):
    """A request for the draft of a session's journal."""

    session_id: SessionId
