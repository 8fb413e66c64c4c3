"""The values of deliveries: what an agent got of the notes, when, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from vault_agent.model.journals import ShownState
from vault_agent.model.memory import RecalledNote, RecallSignals
from vault_agent.model.sent import Doc, OneOf, Unsent

START: Final = "start"
PROMPT: Final = "prompt"
MANUAL: Final = "manual"
"""An agent or a person has asked for it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What an agent got at one event, at seconds since 1970.

    An empty text was looked for, but nothing was found.
    """

    at: float
    event: str
    text: str
    tokens: int
    max_tokens: int
    signals: RecallSignals
    notes: tuple[RecalledNote, ...] = ()
    left_out: tuple[RecalledNote, ...] = ()


@dataclass(frozen=True, slots=True)
class ChosenNote:
    """A note that a person has put first."""

    vault: str
    note_id: str
    title: str
    path: str
    at: Unsent[float] = 0.0

    @property
    def address(self) -> tuple[str, str]:
        """What calls the note: its vault and its ID."""
        return self.vault, self.note_id


@dataclass(frozen=True, slots=True)
class MemoryNews:
    """News: an agent got notes, a person changed what it gets, or its journal has changed."""

    session_id: str
    agent: str
    event: Annotated[str, OneOf("start", "prompt", "manual", "chosen", "journal")]
    notes: int
    tokens: int


# --- what is shown of it ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionJournal:
    """The journal of a session."""

    state: ShownState
    path: Annotated[str | None, Doc("Its path in the project's vault.")]
    note_id: str | None


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A session, and the sums of what it got. Times are ISO 8601, UTC."""

    session_id: str
    agent: str
    project: Annotated[str | None, Doc("The name of the project; null if it has none.")]
    vault: Annotated[str, Doc("What requests call the project's vault, or its identity.")]
    title: str | None
    started_at: str
    last_event_at: str
    ended_at: str | None
    state: Literal["open", "ended"]
    notes: int
    tokens: int
    max_tokens: Annotated[int, Doc("What its deliveries might have had together.")]
    journal: SessionJournal | None


@dataclass(frozen=True, slots=True)
class SessionRow(ShownSession):
    """A session, and the sums of what it got."""

    deliveries: Annotated[int, Doc("How often it got notes.")]


@dataclass(frozen=True, slots=True)
class SessionsPage:
    """Sessions of agents, the one with the latest event first."""

    sessions: tuple[SessionRow, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class DeliveredNote(RecalledNote):
    """A note that a session got."""

    changed: Annotated[
        bool | None,
        Doc("Whether the note is another one now, or gone. Null if it cannot be read."),
    ] = None


@dataclass(frozen=True, slots=True)
class ShownDelivery:
    """What a session got at one event. With an empty text nothing was found."""

    at: str
    event: Annotated[str, OneOf(START, PROMPT, MANUAL)]
    text: str
    tokens: int
    max_tokens: int
    signals: RecallSignals
    notes: tuple[DeliveredNote, ...]
    left_out: Annotated[tuple[RecalledNote, ...], Doc("The best ones, each with the reason.")]


@dataclass(frozen=True, slots=True)
class SessionDetail(ShownSession):
    """A session with all that it got."""

    deliveries: Annotated[tuple[ShownDelivery, ...], Doc("Oldest first, at most 200.")]
    pinned: Annotated[tuple[ChosenNote, ...], Doc("They come first at the next event.")]


@dataclass(frozen=True, slots=True)
class OneSession:
    """One session."""

    session: SessionDetail


@dataclass(frozen=True, slots=True)
class SessionRefresh:
    """What a session has, and what would be recalled for it now."""

    before: tuple[DeliveredNote, ...]
    after: tuple[DeliveredNote, ...]
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class SessionsForgotten:
    """How many sessions were forgotten."""

    forgotten: int
