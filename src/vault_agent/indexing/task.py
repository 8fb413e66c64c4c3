"""The task of an indexing run, its result, and the interface for its progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from vault_agent.markdown.chunk import MAX_CHARS, TARGET_CHARS
from vault_agent.model.identifiers import identify
from vault_agent.text.names import NOTE_SUFFIXES
from vault_agent.text.terms import TEXT_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.jobs import JobSummary
    from vault_agent.model.warning import Warning
    from vault_agent.vault.exclude import Exclusions


@dataclass(frozen=True, slots=True)
class IndexTask:
    """What the server asks the indexing process to do."""

    root: str
    directory: str
    vault: str  # identity of the root
    exclude: tuple[str, ...]
    max_note_bytes: int
    fingerprint: str  # from `fingerprint_of`
    rebuild: bool
    parallel: int  # batches in flight
    fields: tuple[str, ...] = ()  # names of properties whose values are searched; "*" for all
    # Vault-relative paths to index, with everything below them. None: the whole vault.
    paths: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class IndexRun:
    """What a run did, and the revision that is current after it."""

    summary: JobSummary
    generation: int
    revision: int


class Report(Protocol):
    """Receives the progress of a run."""

    def phase(self, name: str, done: int, total: int | None, characters: int = 0) -> None:
        """Report the progress of a phase; `characters` is the text embedded so far."""

    def warn(self, warning: Warning) -> None:
        """Report a warning."""

    def published(self) -> None:
        """Report that a new state is published."""


def fingerprint_of(exclusions: Exclusions, max_note_bytes: int, fields: Sequence[str] = ()) -> str:
    """Return a hash of everything that decides what is indexed and how.

    An index with another value must be rebuilt.
    """
    parts = (
        NOTE_SUFFIXES,
        exclusions.fingerprint,
        max_note_bytes,
        (TARGET_CHARS, MAX_CHARS),
        TEXT_VERSION,
        *sorted({field.lower() for field in fields}),
    )
    return identify(repr(parts))
