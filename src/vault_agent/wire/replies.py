"""What a client gets back."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import Field

from vault_agent.model.jobs import JobKind, JobState, Trigger
from vault_agent.model.notes import LinkKind
from vault_agent.model.search import Mode, Reason
from vault_agent.wire.base import Model
from vault_agent.wire.compact import CompactRow

Data = TypeVar("Data")


class WarningData(Model):
    """Something the reader should know, that did not stop the work."""

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class Reply(Model, Generic[Data]):
    """A success: what was asked for, and at most 100 warnings."""

    data: Data
    warnings: list[WarningData] = Field(default_factory=list)


class ErrorData(Model):
    """A refusal or failure: a stable code, and a sentence that says what to do."""

    code: str
    message: str
    details: dict[str, Any] = Field(description="Holds at least `requestId`.")


class ErrorReply(Model):
    """An error."""

    error: ErrorData


# --- health -----------------------------------------------------------------------------------


class IndexHealth(Model):
    """The state of the index."""

    available: bool
    stale: bool
    generation: int | None
    notes: int
    chunks: int


class EmbeddingHealth(Model):
    """The state of the embeddings; `share` is that of the chunks which have one, 0 to 1."""

    enabled: bool
    available: bool
    share: float


class VaultData(Model):
    """Which vault is served: its identity, and its folder's name."""

    id: str
    name: str


class HealthData(Model):
    """What the server can do at this moment."""

    status: Literal["ok", "degraded", "error"]
    version: str
    vault: VaultData
    index: IndexHealth
    embeddings: EmbeddingHealth
    running_job: str | None


# --- search and related -----------------------------------------------------------------------


class MetadataData(Model):
    """The frontmatter that is shown: dates as they were written."""

    type: str | None = Field(description="The first `type`; a wikilink by its note's name.")
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    date: str | None
    created: str | None
    updated: str | None
    attachment_count: int
    truncated: bool = Field(description="Whether aliases or tags are only the first of them.")


class ResultData(Model):
    """A ranked candidate: enough to decide whether to fetch it."""

    id: str
    type: Literal["chunk", "note"]
    note_id: str
    chunk_index: int | None
    path: str
    title: str
    heading: str | None
    heading_path: tuple[str, ...]
    snippet: str
    matches: tuple[tuple[int, int], ...] = Field(
        description="Ranges of the snippet that match, in characters, the end exclusive."
    )
    score: float = Field(ge=0, le=1)
    reason: Reason
    metadata: MetadataData
    explanation: dict[str, Any] | None = None


class ResultsData(Model):
    """The results of a search, best first."""

    requested_mode: Mode | None
    used_mode: Mode
    limit: int
    results: list[ResultData]


class CompactResultsData(Model):
    """The same as rows of values, in the order of `columns`."""

    requested_mode: Mode | None
    used_mode: Mode
    limit: int
    columns: tuple[str, ...]
    results: list[CompactRow]


# --- explicit retrieval -----------------------------------------------------------------------


class LinkData(Model):
    """A link as written, and what it resolves to; `ambiguous` where a tie had to be broken."""

    kind: LinkKind
    target: str
    fragment: str | None
    text: str | None
    line: int
    resolved: bool
    ambiguous: bool
    path: str | None
    note_id: str | None


class NoteData(Model):
    """One note: its original Markdown, as the file is now."""

    id: str
    path: str
    title: str
    metadata: MetadataData
    content: str
    content_type: str
    size: int = Field(description="Bytes of the file.")
    links: tuple[LinkData, ...]
    attachments: tuple[LinkData, ...]
    links_truncated: bool = Field(
        description="Whether links and attachments are only the first 2,000 of them."
    )
    link_count: int = Field(description="Links and attachments, including those not listed.")


class ChunkData(Model):
    """One chunk as it was indexed, without frontmatter."""

    id: str
    note_id: str
    chunk_index: int
    path: str
    title: str
    heading: str | None
    heading_path: tuple[str, ...]
    start_line: int = Field(description="The first line in the note's file, counted from 1.")
    end_line: int = Field(description="The last line, inclusive.")
    metadata: MetadataData
    content: str
    content_type: str
    size: int = Field(description="Bytes of the content as UTF-8.")


class AttachmentData(Model):
    """What is known of an attachment without reading it."""

    path: str
    name: str
    content_type: str
    size: int
    modified: str


# --- jobs -------------------------------------------------------------------------------------


class PhaseData(Model):
    """How far one phase is; `total` is null until it is known."""

    name: str
    done: int
    total: int | None


class SummaryData(Model):
    """The account of a finished job."""

    added: int
    changed: int
    removed: int
    renamed: int
    unchanged: int
    chunks: int
    links: int
    unresolved_links: int
    embedded: int
    reused: int
    embedding_failed: int


class JobErrorData(Model):
    """What ended a job."""

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class JobData(Model):
    """One tracked run, at one moment; times are ISO 8601, UTC."""

    id: str
    kind: JobKind
    trigger: Trigger = Field(default=Trigger.USER, description="Who asked for it.")
    state: JobState
    created_at: str
    started_at: str | None
    finished_at: str | None
    phase: str | None
    phases: tuple[PhaseData, ...]
    rate: float | None = Field(description="Items of the current phase a second.")
    character_rate: float | None = Field(
        default=None, description="Characters a second, while texts are embedded."
    )
    eta_seconds: float | None
    warnings: tuple[WarningData, ...]
    warning_count: int
    summary: SummaryData | None
    error: JobErrorData | None


class OneJob(Model):
    """A job."""

    job: JobData


class JobList(Model):
    """The jobs, newest first."""

    jobs: list[JobData]
