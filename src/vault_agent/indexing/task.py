"""The task of an indexing run, its result, and the interface for its progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from vault_agent.markdown.chunk import MAX_CHARS, TARGET_CHARS
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import JobSummary  # noqa: TC001 - read by the protocol
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.text.names import NOTE_SUFFIXES, kind_of
from vault_agent.text.terms import TEXT_VERSION
from vault_agent.vault.paths import Exclusions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.notes import FileEntry
    from vault_agent.model.warning import Warning
    from vault_agent.vault.scan import Scan


MAX_NOTE_IDS = 100
"""How many of the notes that a run has touched its result names."""


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
    typed: bool = False  # whether notes get types from folders, and are linked by ID and type
    attachments: tuple[str, ...] = ()  # kinds whose text is indexed, see `text.names`
    fields: tuple[str, ...] = ()  # names of properties whose values are searched; "*" for all
    reads_attachments: bool = False  # whether attachments whose text is kept are stored
    # Vault-relative paths to index, with everything below them. None: the whole vault.
    paths: tuple[str, ...] | None = None
    # Whether nobody has asked for the run. Files that could not be read wait until they change.
    by_watch: bool = False
    scope: Scope = EVERYTHING  # of the agent whose index it is

    @property
    def exclusions(self) -> Exclusions:
        """What is never indexed. Raises Misconfigured `CONFIG_INVALID` for a bad pattern."""
        return Exclusions(self.exclude, self.scope)

    def to_index(self, scanned: Scan) -> list[FileEntry]:
        """Return the files of a scan whose text is indexed, by path: notes, and chosen kinds."""
        if not self.attachments:
            return scanned.notes
        chosen = [entry for entry in scanned.attachments if kind_of(entry.path) in self.attachments]
        return sorted((*scanned.notes, *chosen), key=lambda entry: entry.path)


@dataclass(frozen=True, slots=True)
class IndexRun:
    """What a run did, and the revision that is current after it."""

    summary: JobSummary
    generation: int
    revision: int
    note_ids: tuple[str, ...] = ()  # the first `MAX_NOTE_IDS` notes that were touched
    texts_differ: bool = False  # whether texts of attachments are to be read, or to be removed


class ProgressReport(Protocol):
    """Receives the progress of a run."""

    def phase(self, name: str, done: int, total: int | None, characters: int = 0) -> None:
        """Report the progress of a phase; `characters` is the text embedded so far."""

    def warn(self, warning: Warning) -> None:
        """Report a warning."""

    def published(self, run: IndexRun | None = None) -> None:
        """Report that a new state is published: the revision of a run, or else new vectors."""


def fingerprint_of(
    exclusions: Exclusions,
    max_note_bytes: int,
    fields: Sequence[str] = (),
    *,
    typed: bool = False,
    attachments: Sequence[str] = (),
) -> str:
    """Return hashes of everything that decides what is indexed and how, joined by a dot.

    The second is that of the exclusions and the kinds of attachments: an index with another one is
    brought up to date by the next run. An index with another first one must be rebuilt.
    """
    searched = sorted({field.lower() for field in fields})
    kinds = ((True,),) if typed else ()
    parts = (
        *(NOTE_SUFFIXES, max_note_bytes, (TARGET_CHARS, MAX_CHARS), TEXT_VERSION),
        *searched,
        *kinds,
    )
    included = exclusions.fingerprint
    if attachments:
        included = identify(repr((included, *sorted(attachments))))
    return f"{identify(repr(parts))}.{included}"
