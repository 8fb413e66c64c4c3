"""The journal of a session: how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from vault_agent.model.sent import Doc

JournalState = Literal["pending", "incomplete", "complete", "draft", "skipped"]
"""`pending`: to be written. `incomplete`: written, and perhaps tried again. `draft`: waits for a
review, outside the vault. `skipped`: there is none."""


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal of a session. Times are seconds since 1970, hashes hex.

    `reason` says why it is incomplete or skipped: of an incomplete one it is the value in its
    frontmatter, or a code if it could not be written at all. `edited` means that a person has
    changed the note, so that it is never rewritten.
    """

    session_id: str
    agent: str
    vault: str  # the identity of the project's vault
    state: JournalState
    reason: str | None
    title: str | None
    path: str | None  # of the note in the vault, or of the one that a draft would be
    hash: str | None  # of the note as it was written last
    hash_next: str | None  # of the note that is being written
    generator: str | None
    started_at: float
    ended_at: float | None
    since: float  # when it was first to be written
    attempts: int
    next_at: float | None  # when it is tried again


EDITED: Final = "edited"
SHORT: Final = "short"
EMPTY: Final = "empty"
"""Nothing but its goal is known of the session."""
EXCLUDED: Final = "excluded"
REJECTED: Final = "rejected"
CRASH: Final = "crash"
PENDING: Final = "pending"
MODEL_UNAVAILABLE: Final = "model_unavailable"
MODEL_INVALID: Final = "model_invalid"
TRANSCRIPT_MISSING: Final = "transcript_missing"


@dataclass(frozen=True, slots=True)
class ShownJournal:
    """The journal of a session. Times are ISO 8601, UTC."""

    session_id: str
    agent: str
    project: str | None
    vault: Annotated[str, Doc("What requests call the vault of the project.")]
    state: JournalState
    reason: Annotated[
        str | None,
        Doc("Why it is incomplete or skipped, or `edited`: a person has changed it."),
    ]
    title: str | None
    path: str | None
    note_id: Annotated[str | None, Doc("Null as long as it is not in the vault.")]
    generator: Annotated[str | None, Doc("`extract`, `model` or `agent`.")]
    started_at: str
    ended_at: str | None
    attempts: int
    next_try_at: str | None


@dataclass(frozen=True, slots=True)
class JournalList:
    """Journals, those of the latest sessions first."""

    journals: tuple[ShownJournal, ...]


@dataclass(frozen=True, slots=True)
class OneJournal:
    """The journal of a session. Null: the line waits for the end of the session."""

    journal: ShownJournal | None


@dataclass(frozen=True, slots=True)
class JournalDraft:
    """A journal that waits for its review, as the note that it would be."""

    journal: ShownJournal
    text: str
