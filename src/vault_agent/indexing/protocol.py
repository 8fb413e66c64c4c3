"""The messages between the server and its indexing process: frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vault_agent.errors import error_of
from vault_agent.model.warning import Warning

if TYPE_CHECKING:
    from vault_agent.errors import VaultAgentError
    from vault_agent.indexing.task import IndexRun, IndexTask
    from vault_agent.models.settings import EndpointSettings
    from vault_agent.system.crash import CrashReport

# --- what the server sends ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UpdateIndex:
    """Update the index. Answered by `Done`."""

    task: IndexTask


@dataclass(frozen=True, slots=True)
class Embed:
    """Embed the chunks without a vector. Answered by `EmbeddingCounts`."""

    directory: str
    endpoint: EndpointSettings
    require: bool = False  # fail if a chunk has no vector
    fresh: bool = False  # embed all chunks again
    doubted: bool = False  # ask which model the endpoint serves, even if no vector is missing


@dataclass(frozen=True, slots=True)
class CopyVectors:
    """Copy vectors from another index of the same vault. Answered by `EmbeddingCounts`."""

    directory: str
    source: str  # the directory of that index
    endpoint: EndpointSettings
    fresh: bool = False  # copy all again


@dataclass(frozen=True, slots=True)
class ReadAttachments:
    """Read attachments that wait, those after a path. Answered by `AttachmentsRead`."""

    task: IndexTask
    after: str = ""


@dataclass(frozen=True, slots=True)
class Compare:
    """Check whether the vault has changed since the last run. Answered by `Compared`."""

    task: IndexTask


@dataclass(frozen=True, slots=True)
class Cluster:
    """Find the communities of the notes. Answered by `Clustered`."""

    task: IndexTask


@dataclass(frozen=True, slots=True)
class LayOut:
    """Compute positions for a drawing of the graph. Answered by `LaidOut`."""

    task: IndexTask


@dataclass(frozen=True, slots=True)
class QueryAnnounced:
    """A search is about to use the embedding endpoint. Not answered."""


@dataclass(frozen=True, slots=True)
class FinishEmbedding:
    """End a running `Embed` after the texts that are being sent. Not answered."""


Question = Compare | Cluster | LayOut
Request = (
    UpdateIndex
    | Embed
    | CopyVectors
    | ReadAttachments
    | Question
    | QueryAnnounced
    | FinishEmbedding
)

# --- what the process sends -----------------------------------------------------------------


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

    run: IndexRun | None = None  # the run that published a new revision; None: only vectors are new


@dataclass(frozen=True, slots=True)
class Crashed:
    """A process failed unexpectedly. If it is the keeper, it ends after this event."""

    process: str  # "keeper" or "worker"
    report: CrashReport


@dataclass(frozen=True, slots=True)
class Done:
    """The run has succeeded."""

    run: IndexRun


@dataclass(frozen=True, slots=True)
class EmbeddingCounts:
    """The numbers of chunks by the origin of their vector. Their sum is that of all chunks."""

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
class Clustered:
    """The communities of the notes of one revision, as the indexing process finds them."""

    generation: int
    revision: int
    members: tuple[int, ...]  # by path
    modularity: float
    labels: tuple[str, ...]  # of the communities with two notes or more


@dataclass(frozen=True, slots=True)
class LaidOut:
    """The positions of one revision are in their file."""

    generation: int
    revision: int


@dataclass(frozen=True, slots=True)
class RequestFailed:
    """The request failed with a `VaultAgentError`."""

    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, error: VaultAgentError) -> RequestFailed:
        """Return the event for an error."""
        return cls(error.code, *error.over_http())

    @property
    def error(self) -> VaultAgentError:
        """The error itself, of the class that belongs to its code."""
        return error_of(self.code, self.message, self.details)


Result = Done | EmbeddingCounts | AttachmentsRead
"""The last event of a request that does work."""
Answer = Result | Compared | Clustered | LaidOut | RequestFailed
"""The last event of a request."""
Event = Phase | Warning | Published | Crashed | Answer
