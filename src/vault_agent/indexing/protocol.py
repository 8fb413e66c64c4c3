"""The messages between the server and the keeper: frozen dataclasses.

`IndexSpec`, which is part of most requests, comes last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from vault_agent.errors import VaultAgentError
from vault_agent.markdown.chunk import MAX_CHARS, TARGET_CHARS
from vault_agent.model.graph import Clusters
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import JobSummary  # noqa: TC001 - read by the protocol
from vault_agent.model.warning import Warning
from vault_agent.text.names import NOTE_SUFFIXES, kind_of
from vault_agent.text.terms import TEXT_VERSION

if TYPE_CHECKING:
    from vault_agent.model.notes import FileEntry
    from vault_agent.models.settings import EndpointSettings
    from vault_agent.system.crash import CrashReport
    from vault_agent.vault.paths import Exclusions
    from vault_agent.vault.scan import Scan

# --- what the server sends ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UpdateIndex:
    """Update the index. Answered by `RunResult`."""

    spec: IndexSpec
    # Vault-relative paths to index, with everything below them. None: the whole vault.
    paths: tuple[str, ...] | None = None
    rebuild: bool = False
    # Whether the watch has started the run. If so, unread files are tried again only if changed.
    by_watch: bool = False
    indexes_attachments: bool = False  # those whose texts `ReadAttachments` has kept


@dataclass(frozen=True, slots=True)
class Embed:
    """Embed the chunks without a vector. Answered by `EmbeddingCounts`."""

    directory: str
    endpoint: EndpointSettings
    require: bool = False  # fail if a chunk has no vector
    fresh: bool = False  # embed all chunks again
    doubted: bool = False  # ask which model the endpoint serves, even if no vector is missing


@dataclass(frozen=True, slots=True)
class ShareVectors:
    """Let an agent's index use the vectors of the owner's index. Answered by `EmbeddingCounts`."""

    directory: str
    source: str  # the directory of the owner's index
    endpoint: EndpointSettings


@dataclass(frozen=True, slots=True)
class ReadAttachments:
    """Read the attachments that wait, whose path follows `after`. Answered by `AttachmentsRead`."""

    spec: IndexSpec
    after: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about an index, which changes nothing in it."""

    spec: IndexSpec


class Compare(Question):
    """Check whether the vault has changed since the last run. Answered by `Compared`."""


class Cluster(Question):
    """Find the communities of the notes. Answered by `Clusters`."""


class LayOut(Question):
    """Compute positions for a drawing of the graph. Answered by `LaidOut`."""


@dataclass(frozen=True, slots=True)
class QueryAnnounced:
    """A search is about to use the embedding endpoint. Not answered."""


Request = UpdateIndex | Embed | ShareVectors | ReadAttachments | Question | QueryAnnounced

# --- what the keeper sends ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Phase:
    """Progress of a phase."""

    name: str
    done: int
    total: int | None
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Published:
    """A new state is published; readers may open it."""

    run: RunResult | None = None  # of the run that published; None: only vectors are new


@dataclass(frozen=True, slots=True)
class Crashed:
    """A process failed unexpectedly. If it is the keeper, it ends after this event."""

    process: str  # "keeper" or "worker"
    report: CrashReport


MAX_NOTE_IDS = 100
"""The most notes that the result of a run names, of those that the run has touched."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did, and the revision that is current after it."""

    summary: JobSummary
    generation: int
    revision: int
    note_ids: tuple[str, ...] = ()  # the first `MAX_NOTE_IDS` notes that were touched
    attachments_due: bool = False  # whether texts of attachments are to be read, or to be removed


@dataclass(frozen=True, slots=True)
class EmbeddingCounts:
    """The numbers of chunks by the origin of their vector. The sum is the number of all chunks."""

    embedded: int
    reused: int
    failed: int


@dataclass(frozen=True, slots=True)
class AttachmentsRead:
    """The attachments that an index run can take, and the last one that was tried."""

    paths: tuple[str, ...]
    last: str | None  # None: no more are waiting


@dataclass(frozen=True, slots=True)
class Compared:
    """Whether the vault has visibly changed since the last run."""

    stale: bool


@dataclass(frozen=True, slots=True)
class LaidOut:
    """The positions of one revision are in their file."""

    generation: int
    revision: int


KeeperAnswer = (
    RunResult | EmbeddingCounts | AttachmentsRead | Compared | Clusters | LaidOut | VaultAgentError
)
"""The last event of a request: a result, or the error that ended it."""
Event = Phase | Warning | Published | Crashed | KeeperAnswer


# --- what an index is of --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """A vault, what of it is indexed, and where the index lies."""

    root: str
    directory: str  # of the index
    identity: str  # of the vault: a hash of its resolved root
    exclusions: Exclusions = field(compare=False)  # a pickled copy is another object
    max_note_bytes: int
    parallel: int  # batches in flight
    has_note_types: bool = False  # from folders; links may name notes by ID and type
    attachments: tuple[str, ...] = ()  # kinds whose text is indexed, see `text.names`
    fields: tuple[str, ...] = ()  # names of properties whose values are searched; "*" for all

    @property
    def fingerprint(self) -> str:
        """A hash of everything that decides what is indexed and how.

        An index with another fingerprint is not searched, and must be rebuilt.
        """
        searched = sorted({name.lower() for name in self.fields})
        text = (NOTE_SUFFIXES, self.max_note_bytes, TARGET_CHARS, MAX_CHARS, TEXT_VERSION)
        kinds = sorted(self.attachments)
        return identify(
            repr((text, searched, self.has_note_types, self.exclusions.fingerprint, kinds))
        )

    def to_index(self, scanned: Scan) -> list[FileEntry]:
        """Return the files of a scan whose text is indexed, by path: notes, and chosen kinds."""
        if not self.attachments:
            return scanned.notes
        chosen = [entry for entry in scanned.attachments if kind_of(entry.path) in self.attachments]
        return sorted((*scanned.notes, *chosen), key=lambda entry: entry.path)


class ProgressReport(Protocol):
    """Receives the progress of a run."""

    def phase(self, name: str, done: int, total: int | None, characters: int = 0) -> None:
        """Report the progress of a phase; `characters` is the text embedded so far."""

    def warn(self, warning: Warning) -> None:
        """Report a warning."""

    def published(self, run: RunResult | None = None) -> None:
        """Report that a new state is published: the revision of a run, or else new vectors."""
