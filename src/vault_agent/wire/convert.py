"""From the product's values to the replies that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.model.warning import MAX_WARNINGS
from vault_agent.wire.compact import COLUMNS, compact_row
from vault_agent.wire.replies import (
    AttachmentData,
    ChunkData,
    CompactResultsData,
    EmbeddingHealth,
    HealthData,
    IndexHealth,
    JobData,
    JobErrorData,
    LinkData,
    MetadataData,
    NoteData,
    PhaseData,
    ResultData,
    ResultsData,
    SummaryData,
    WarningData,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault_agent.model.health import Health
    from vault_agent.model.jobs import Job
    from vault_agent.model.notes import Metadata
    from vault_agent.model.retrieval import AttachmentInfo, ChunkContent, LinkSummary, NoteContent
    from vault_agent.model.search import Answer, Hit
    from vault_agent.model.warning import Warning as Notice

MARKDOWN = "text/markdown; charset=utf-8"


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
    return HealthData(
        status=health.status,
        version=health.version,
        index=IndexHealth(
            available=health.index_available,
            stale=health.index_stale,
            generation=health.index_generation,
            notes=health.notes,
            chunks=health.chunks,
        ),
        embeddings=EmbeddingHealth(
            enabled=health.embeddings_enabled,
            available=health.embeddings_available,
            share=health.embeddings_share,
        ),
        running_job=health.running_job,
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
        links_truncated=len(note.links) + len(note.attachments) < note.link_count,
        link_count=note.link_count,
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
        character_rate=job.character_rate,
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
    return ResultData(
        id=hit.id,
        type=hit.type,
        note_id=hit.note_id,
        chunk_index=hit.chunk_index,
        path=hit.path,
        title=hit.title,
        heading=hit.heading,
        heading_path=hit.heading_path,
        snippet=hit.snippet,
        matches=hit.matches,
        score=hit.score,
        reason=hit.reason,
        metadata=_metadata(hit.metadata),
        explanation=None if hit.explanation is None else dict(hit.explanation),
    )


def _metadata(metadata: Metadata) -> MetadataData:
    return MetadataData.model_validate(metadata, from_attributes=True)


def _link(link: LinkSummary) -> LinkData:
    return LinkData.model_validate(link, from_attributes=True)
