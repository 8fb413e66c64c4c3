"""The values of deliveries: what an agent got of the notes, when, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from vault_agent.model.memory import RecalledNote

START: Final = "start"
PROMPT: Final = "prompt"
REFRESH: Final = "refresh"
MANUAL: Final = "manual"
"""An agent or a person has asked for it."""

KEPT_LEFT_OUT: Final = 20
"""Notes that a delivery left out and that are kept, the best first."""


@dataclass(frozen=True, slots=True)
class DeliverySignals:
    """What the notes were compared with. `prompt` says whether there was one that counted."""

    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    prompt: bool = False
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """What an agent got at one event. An empty text was looked for, but nothing was found.

    `vault` is the identity of the project's vault, `at` seconds since 1970, and `prompt_hash` the
    SHA-256 of the prompt: the prompt itself is never kept.
    """

    session_id: str
    agent: str
    vault: str
    at: float
    event: str
    text: str
    tokens: int
    max_tokens: int
    signals: DeliverySignals
    notes: tuple[RecalledNote, ...] = ()
    left_out: tuple[RecalledNote, ...] = ()
    prompt_hash: bytes | None = None


@dataclass(frozen=True, slots=True)
class ChosenNote:
    """A note that a person has put first in a session, or taken out of it."""

    vault: str
    note_id: str
    removed: bool
    at: float
    path: str
    title: str
    told: bool = False

    @property
    def address(self) -> tuple[str, str]:
        """What calls the note: its vault and its ID."""
        return self.vault, self.note_id


class ContextState(NamedTuple):
    """Since when an agent still has what it got, and whether it gets what has changed."""

    since: float = 0.0
    refresh: bool = False


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """A session and the sums of its deliveries. Times are seconds since 1970."""

    session_id: str
    agent: str
    vault: str
    title: str | None
    started_at: float
    last_event_at: float
    ended_at: float | None
    deliveries: int
    notes: int
    tokens: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class MemoryNews:
    """News: an agent got notes, or what it gets was changed by a person."""

    session_id: str
    agent: str
    event: str
    notes: int
    tokens: int
