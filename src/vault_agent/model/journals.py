"""The journal of a session: how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

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
