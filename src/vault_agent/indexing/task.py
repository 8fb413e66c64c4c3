"""What the indexing process is asked to do, and whom it tells how that goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from vault_agent.markdown.chunk import MAX_CHARS, TARGET_CHARS
from vault_agent.model.identifiers import identify
from vault_agent.text.names import NOTE_SUFFIXES
from vault_agent.text.terms import TEXT_VERSION

if TYPE_CHECKING:
    from vault_agent.model.jobs import JobSummary
    from vault_agent.model.warning import Warning
    from vault_agent.vault.exclude import Exclusions


@dataclass(frozen=True, slots=True)
class IndexTask:
    """What the server asks of the indexing process."""

    root: str
    directory: str
    vault: str  # identity of the root
    exclude: tuple[str, ...]
    max_note_bytes: int
    fingerprint: str  # of all that decides what is indexed and how
    rebuild: bool
    parallel: int  # batches in flight
    # Vault-relative places to look at, with all that is below them; None is everything.
    paths: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class IndexRun:
    """What a run did, and the revision that serves after it."""

    summary: JobSummary
    generation: int
    revision: int


class Report(Protocol):
    """Who is told how the run goes."""

    def phase(self, name: str, done: int, total: int | None, characters: int = 0) -> None:
        """Say how far a phase is, and how much text it has gone through where that counts."""

    def warn(self, warning: Warning) -> None:
        """Pass a warning on."""

    def published(self) -> None:
        """Say that readers may take up a new state."""


def fingerprint_of(exclusions: Exclusions, max_note_bytes: int) -> str:
    """Name everything that decides what is indexed and how: another value needs a rebuild."""
    parts = (
        NOTE_SUFFIXES,
        exclusions.fingerprint,
        max_note_bytes,
        (TARGET_CHARS, MAX_CHARS),
        TEXT_VERSION,
    )
    return identify(repr(parts))
