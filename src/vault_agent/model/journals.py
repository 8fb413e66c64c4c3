"""The journal of a session: how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from vault_agent.model.sent import Doc

ShownState = Literal["pending", "incomplete", "complete", "skipped"]
"""`pending`: to be written. `incomplete`: written, but something is missing. `skipped`: there is
none."""

PENDING: Final = "pending"
COMPLETE: Final = "complete"
INCOMPLETE: Final = "incomplete"
SKIPPED: Final = "skipped"
WRITING: Final = "writing"
"""The hash of a note is recorded, and the note may be there or not."""
FAILED: Final = "failed"
"""It could not be written, and is tried again. The reason is a code."""

EDITED: Final = "edited"
"""A person has changed the note, so that it is never rewritten."""
SHORT: Final = "short"
EXCLUDED: Final = "excluded"
ASKED: Final = "asked"
"""`journal.ask` is on: it is written when a person asks for it."""
CRASH: Final = "crash"
COMMAND_FAILED: Final = "command_failed"
TRANSCRIPT_MISSING: Final = "transcript_missing"
WAITING: Final = frozenset({COMMAND_FAILED, TRANSCRIPT_MISSING})
"""The reasons of an incomplete journal that is tried again."""


@dataclass(frozen=True, slots=True)
class ShownJournal:
    """The journal of a session. Times are ISO 8601, UTC."""

    session_id: str
    agent: str
    project: str | None
    vault: Annotated[str, Doc("What requests call the vault of the project.")]
    state: ShownState
    reason: Annotated[
        str | None,
        Doc("Why it is incomplete or skipped, or `edited`: a person has changed it."),
    ]
    title: str | None
    path: str | None
    note_id: Annotated[str | None, Doc("Null as long as it is not in the vault.")]
    generator: Annotated[str | None, Doc("`dialogue`, `command` or `agent`.")]
    started_at: str
    ended_at: str | None


@dataclass(frozen=True, slots=True)
class JournalList:
    """Journals, those of the latest sessions first."""

    journals: tuple[ShownJournal, ...]


@dataclass(frozen=True, slots=True)
class OneJournal:
    """The journal of a session."""

    journal: ShownJournal
