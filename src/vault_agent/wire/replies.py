"""What a client gets back, and how the product's values become it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import Field

from vault_agent.model import (
    Answer,
    AttachmentInfo,
    ChunkContent,
    Health,
    Hit,
    Job,
    JobKind,
    JobState,
    LinkKind,
    LinkSummary,
    Metadata,
    Mode,
    NoteContent,
    Reason,
)
from vault_agent.model import Warning as Notice
from vault_agent.wire.base import Model
from vault_agent.wire.compact import COLUMNS, CompactRow, compact_row

if TYPE_CHECKING:
    from collections.abc import Iterable

MARKDOWN = "text/markdown; charset=utf-8"
MAX_WARNINGS = 100

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


class HealthData(Model):
    """What the server can do at this moment."""

    status: Literal["ok", "degraded", "error"]
    version: str
    index: IndexHealth
    embeddings: EmbeddingHealth
    running_job: str | None


# --- search and related -----------------------------------------------------------------------


class MetadataData(Model):
    """The frontmatter that is shown: dates as they were written."""

    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    date: str | None
    created: str | None
    updated: str | None
    attachment_count: int


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
    links: list[LinkData]
    attachments: list[LinkData]


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
    state: JobState
    created_at: str
    started_at: str | None
    finished_at: str | None
    phase: str | None
    phases: list[PhaseData]
    rate: float | None = Field(description="Items of the current phase a second.")
    eta_seconds: float | None
    warnings: list[WarningData]
    warning_count: int
    summary: SummaryData | None
    error: JobErrorData | None


class OneJob(Model):
    """A job."""

    job: JobData


class JobList(Model):
    """The jobs, newest first."""

    jobs: list[JobData]


# --- from the product's values ----------------------------------------------------------------


def warnings_data(warnings: Iterable[Notice], count: int | None = None) -> list[WarningData]:
    """Return the first 100 warnings, and one more that says how many of `count` are left out."""
    listed = list(warnings)
    shown = [
        WarningData(code=warning.code, message=warning.message, details=dict(warning.details))
        for warning in listed[:MAX_WARNINGS]
    ]
    omitted = max(count or 0, len(listed)) - len(shown)
    if omitted > 0:
        shown.append(
            WarningData(
                code="WARNINGS_TRUNCATED",
                message=f"{omitted} more warnings are not shown.",
                details={"omitted": omitted},
            )
        )
    return shown


def health_data(health: Health) -> HealthData:
    """Return the reply to `GET /health`."""
    return HealthData.model_validate(
        {
            "status": health.status,
            "version": health.version,
            "index": {
                "available": health.index_available,
                "stale": health.index_stale,
                "generation": health.index_generation,
                "notes": health.notes,
                "chunks": health.chunks,
            },
            "embeddings": {
                "enabled": health.embeddings_enabled,
                "available": health.embeddings_available,
                "share": health.embeddings_share,
            },
            "runningJob": health.running_job,
        }
    )


def results_data(answer: Answer) -> ResultsData:
    """Return the reply to a search, in full."""
    return ResultsData(
        requested_mode=answer.requested_mode,
        used_mode=answer.used_mode,
        limit=answer.limit,
        results=[_result(hit) for hit in answer.hits],
    )


def compact_results_data(answer: Answer) -> CompactResultsData:
    """Return the reply to a search, in the compact profile."""
    return CompactResultsData(
        requested_mode=answer.requested_mode,
        used_mode=answer.used_mode,
        limit=answer.limit,
        columns=COLUMNS,
        results=[compact_row(hit) for hit in answer.hits],
    )


def note_data(note: NoteContent) -> NoteData:
    """Return the reply to `GET /notes/{noteId}`."""
    return NoteData(
        id=note.id,
        path=note.path,
        title=note.title,
        metadata=_metadata(note.metadata),
        content=note.content,
        content_type=MARKDOWN,
        size=note.size,
        links=[_link(link) for link in note.links],
        attachments=[_link(link) for link in note.attachments],
    )


def chunk_data(chunk: ChunkContent) -> ChunkData:
    """Return the reply to `GET /chunks/{noteId}/{chunkIndex}`."""
    return ChunkData(
        id=chunk.id,
        note_id=chunk.note_id,
        chunk_index=chunk.chunk_index,
        path=chunk.path,
        title=chunk.title,
        heading=chunk.heading_path[-1] if chunk.heading_path else None,
        heading_path=chunk.heading_path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        metadata=_metadata(chunk.metadata),
        content=chunk.content,
        content_type=MARKDOWN,
        size=len(chunk.content.encode()),
    )


def attachment_data(info: AttachmentInfo) -> AttachmentData:
    """Return the reply to `GET /attachments/{path}`."""
    return AttachmentData(
        path=info.path,
        name=info.name,
        content_type=info.media_type,
        size=info.size,
        modified=info.modified,
    )


def job_data(job: Job) -> JobData:
    """Return a job as its routes and its events show it."""
    return JobData(
        id=job.id,
        kind=job.kind,
        state=job.state,
        created_at=job.created_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        phase=job.phase,
        phases=[PhaseData.model_validate(phase, from_attributes=True) for phase in job.phases],
        rate=job.rate,
        eta_seconds=job.eta_seconds,
        warnings=warnings_data(job.warnings, job.warning_count),
        warning_count=job.warning_count,
        summary=(
            SummaryData.model_validate(job.summary, from_attributes=True) if job.summary else None
        ),
        error=(
            JobErrorData(
                code=job.error.code, message=job.error.message, details=dict(job.error.details)
            )
            if job.error
            else None
        ),
    )


def _result(hit: Hit) -> ResultData:
    return ResultData.model_validate(
        {
            "id": hit.id,
            "type": hit.type,
            "noteId": hit.note_id,
            "chunkIndex": hit.chunk_index,
            "path": hit.path,
            "title": hit.title,
            "heading": hit.heading,
            "headingPath": hit.heading_path,
            "snippet": hit.snippet,
            "matches": hit.matches,
            "score": hit.score,
            "reason": hit.reason,
            "metadata": _metadata(hit.metadata),
            "explanation": None if hit.explanation is None else dict(hit.explanation),
        }
    )


def _metadata(metadata: Metadata) -> MetadataData:
    return MetadataData.model_validate(metadata, from_attributes=True)


def _link(link: LinkSummary) -> LinkData:
    return LinkData.model_validate(link, from_attributes=True)
