"""The requests and replies about what agents' sessions got of the notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vault_agent.wire.base import Model
from vault_agent.wire.memory import RecalledNoteData, SessionId
from vault_agent.wire.queries import CursorText, Text, whole
from vault_agent.wire.requests import NoteId

if TYPE_CHECKING:
    from vault_agent.model.deliveries import MemoryNews


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


class SessionJournalData(Model):
    """The journal of a session."""

    state: Literal["complete", "incomplete", "draft", "skipped", "pending"]
    path: str | None = Field(description="Its path in the project's vault.")
    note_id: str | None


class _Session(Model):
    session_id: str
    agent: str
    project: str | None = Field(description="The name of the project; null if it has none.")
    vault: str = Field(description="What requests call the project's vault, or its identity.")
    title: str | None
    started_at: str
    last_event_at: str
    ended_at: str | None
    state: Literal["open", "ended"]
    notes: int
    tokens: int
    max_tokens: int = Field(description="What its deliveries might have had together.")
    journal: SessionJournalData | None


class MemorySessionRow(_Session):
    """A session, and the sums of what it got."""

    deliveries: int = Field(description="How often it got notes.")


class MemorySessionsData(Model):
    """Sessions of agents, the one with the latest event first."""

    sessions: list[MemorySessionRow]
    next_cursor: str | None


class DeliverySignalsData(Model):
    """What the notes were compared with. The prompt itself is not kept."""

    files: tuple[str, ...]
    tags: tuple[str, ...]
    prompt: bool
    branch: str | None


class DeliveredNoteData(RecalledNoteData):
    """A note that a session got."""

    changed: bool | None = Field(
        default=None,
        description="Whether the note is another one now, or gone. Null if it cannot be read.",
    )


class DeliveryData(Model):
    """What a session got at one event. With an empty text nothing was found."""

    at: str
    event: Literal["start", "prompt", "refresh", "manual"]
    text: str
    tokens: int
    max_tokens: int
    signals: DeliverySignalsData
    notes: list[DeliveredNoteData]
    left_out: list[RecalledNoteData] = Field(description="The best ones, each with the reason.")


class ChosenNoteData(Model):
    """A note that a person has put first, or taken out."""

    vault: str
    note_id: str
    title: str
    path: str


class MemorySessionDetails(_Session):
    """A session with all that it got."""

    deliveries: list[DeliveryData] = Field(description="Oldest first, at most 200.")
    pinned: list[ChosenNoteData] = Field(description="They come first at the next event.")
    removed: list[ChosenNoteData]
    refreshing: bool = Field(description="Whether what has changed comes at the next event.")


class OneMemorySession(Model):
    """One session."""

    session: MemorySessionDetails


class RefreshData(Model):
    """What a session has, and what would be recalled for it now."""

    before: list[DeliveredNoteData]
    after: list[DeliveredNoteData]
    text: str
    tokens: int


class ForgottenMemoryData(Model):
    """How many sessions were forgotten."""

    forgotten: int


class MemoryEvent(Model):
    """An event `memory` of `GET /events`: an agent got notes, or a person changed what it gets."""

    session_id: str
    agent: str
    event: Literal["start", "prompt", "refresh", "manual", "chosen"]
    notes: int
    tokens: int


def memory_event(news: MemoryNews) -> MemoryEvent:
    """Return news of memory as an event."""
    return MemoryEvent.model_validate(news, from_attributes=True)
