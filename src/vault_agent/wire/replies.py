"""The replies of the HTTP contract."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import Field

from vault_agent.model.jobs import JobKind, JobState, Trigger
from vault_agent.model.notes import LinkKind
from vault_agent.model.search import Mode, Reason
from vault_agent.wire.base import Model
from vault_agent.wire.compact import CompactRow, CompactVaultRow
from vault_agent.wire.watch import WatchData
from vault_agent.wire.write_state import WriteHealthData

Data = TypeVar("Data")


class WarningData(Model):
    """A problem that did not stop the work."""

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class Reply(Model, Generic[Data]):
    """A success: the data and the warnings."""

    data: Data
    warnings: list[WarningData] = Field(default_factory=list)


class ErrorData(Model):
    """An error: a stable code, and a message that says what to do."""

    code: str
    message: str
    details: dict[str, Any] = Field(description="Contains at least `requestId`.")


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
    indexed_at: str | None = Field(
        default=None, description="When the last run had read all notes; ISO 8601, UTC."
    )


class EmbeddingHealth(Model):
    """The state of the embeddings. `share` is the share of chunks that have one, 0 to 1."""

    enabled: bool
    available: bool
    share: float


class VaultData(Model):
    """The served vault: its identity, and the name of its folder."""

    id: str
    name: str


class HealthData(Model):
    """The state of the server, its index and its embeddings."""

    status: Literal["ok", "degraded", "error"]
    version: str
    vault: VaultData
    index: IndexHealth
    embeddings: EmbeddingHealth
    running_job: str | None
    switched_on: tuple[str, ...] = Field(
        default=(), description="The settings of the features that are on: `watch.enabled`."
    )
    watch: WatchData | None = None
    write: WriteHealthData | None = None


# --- search and related -----------------------------------------------------------------------


class MetadataData(Model):
    """Selected frontmatter. Dates are as written in the note."""

    type: str | None = Field(
        description="The first `type`. A wikilink is given as its note's name."
    )
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    date: str | None
    created: str | None
    updated: str | None
    attachment_count: int
    truncated: bool = Field(description="Whether aliases or tags are only the first of them.")


class ElsewhereData(Model):
    """A note with the same content in another vault."""

    vault: str
    note_id: str


class ResultData(Model):
    """A ranked result with enough data to decide whether to fetch it."""

    id: str
    type: Literal["chunk", "note"]
    note_id: str
    chunk_index: int | None
    path: str
    title: str
    heading: str | None
    heading_path: tuple[str, ...]
    start_line: int | None = Field(
        default=None, description="The first line of the chunk in the note's file, from 1."
    )
    end_line: int | None = Field(default=None, description="The last line, inclusive.")
    snippet: str
    matches: tuple[tuple[int, int], ...] = Field(
        description="Ranges of the snippet that match, in characters, the end exclusive."
    )
    line: int | None = Field(
        default=None,
        description="The line of the match in the note's file as indexed, counted from 1.",
    )
    score: float = Field(ge=0, le=1)
    reason: Reason
    metadata: MetadataData
    explanation: dict[str, Any] | None = None
    vault: str | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="Its vault, in a search over several.",
    )
    also: tuple[ElsewhereData, ...] = Field(
        default=(),
        exclude_if=lambda value: not value,
        description="The same note in other vaults of the search.",
    )


_INDEXED_AT = Field(
    default=None,
    exclude_if=lambda value: value is None,
    description="When the last run had read all notes; ISO 8601, UTC. Only without results, and if "
    "changes of notes are not watched.",
)


class UnknownWordData(Model):
    """A word of the query that is in no note."""

    word: str = Field(description="The word, as it was sent.")
    instead: tuple[str, ...] = Field(
        description="Similar words that were searched instead, at most three. Often forms of them."
    )


class ResultsData(Model):
    """The results of a search, best first."""

    requested_mode: Mode | None
    used_mode: Mode
    limit: int
    results: list[ResultData]
    indexed_at: str | None = _INDEXED_AT
    has_more: bool = False
    next_cursor: str | None = None
    truncated: bool = Field(
        default=False, description="Whether only the best of the candidates were looked at."
    )
    unknown: tuple[UnknownWordData, ...] = Field(
        default=(),
        exclude_if=lambda value: not value,
        description="Words of the query that are in no note. Left out if there are none.",
    )


class CompactResultsData(Model):
    """The results of a search as rows of values, in the order of `columns`."""

    requested_mode: Mode | None
    used_mode: Mode
    limit: int
    columns: tuple[str, ...]
    results: list[CompactRow | CompactVaultRow]
    indexed_at: str | None = _INDEXED_AT
    has_more: bool = False
    next_cursor: str | None = None
    truncated: bool = False


# --- notes, chunks and attachments ------------------------------------------------------------


class LinkData(Model):
    """A link as written, and its target. `ambiguous`: several files matched equally well."""

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
    """One note: the original Markdown of its current file."""

    id: str
    path: str
    title: str
    metadata: MetadataData
    content: str
    content_type: str
    size: int = Field(description="Bytes of the file.")
    content_hash: str = Field(
        description="SHA-256 of the file's bytes, in hex: `expectedHash` of changes. Also the ETag."
    )
    links: tuple[LinkData, ...]
    attachments: tuple[LinkData, ...]
    links_truncated: bool = Field(
        description="Whether links and attachments are only the first 2,000 of them."
    )
    link_count: int = Field(description="Links and attachments, including those not listed.")
    pieces: int | None = Field(default=None, description="With `piece`: how many there are.")


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
    """The metadata of an attachment."""

    path: str
    name: str
    content_type: str
    size: int
    modified: str


# --- jobs -------------------------------------------------------------------------------------


class PhaseData(Model):
    """The progress of one phase. `total` is null until it is known."""

    name: str
    done: int
    total: int | None


class SummaryData(Model):
    """The summary of a finished job."""

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
    write_id: str | None = Field(default=None, description="Of a move, for `undo`.")


class JobErrorData(Model):
    """The error that ended a job."""

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class JobData(Model):
    """The state of one job. Times are ISO 8601, UTC."""

    id: str
    kind: JobKind
    trigger: Trigger = Field(default=Trigger.USER, description="Who or what started it.")
    state: JobState
    created_at: str
    started_at: str | None
    finished_at: str | None
    phase: str | None
    phases: tuple[PhaseData, ...]
    rate: float | None = Field(description="Items of the current phase per second.")
    character_rate: float | None = Field(
        default=None, description="Characters per second while texts are embedded."
    )
    eta_seconds: float | None
    warnings: tuple[WarningData, ...]
    warning_count: int
    summary: SummaryData | None
    error: JobErrorData | None


class OneJob(Model):
    """One job."""

    job: JobData


class JobList(Model):
    """The jobs, newest first."""

    jobs: list[JobData]
