"""Converts the product's values to replies.

Fields with the same name are taken as they are. Only the others are written out here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.model.warning import MAX_WARNINGS
from vault_agent.wire.compact import COLUMNS, VAULT_COLUMNS, compact_row
from vault_agent.wire.replies import (
    AttachmentData,
    ChunkData,
    CompactResultsData,
    EmbeddingHealth,
    HealthData,
    IndexHealth,
    JobData,
    JobErrorData,
    NoteData,
    ResultData,
    ResultsData,
    UnknownWordData,
    VaultData,
    WarningData,
)
from vault_agent.wire.watch import RevisionData, WatchBatchData, WatchData, WatchReport
from vault_agent.wire.write_state import write_health

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vault_agent.model.health import Health
    from vault_agent.model.jobs import Job
    from vault_agent.model.retrieval import AttachmentInfo, ChunkContent, NoteContent
    from vault_agent.model.search import Answer
    from vault_agent.model.warning import Warning as Notice
    from vault_agent.model.watch import Revision, WatchBatch, WatchStatus

MAX_WARNING_BYTES = 2048
"""The most bytes of JSON in one warning of a reply."""

_MAX_CHARACTERS = 240
"""Length to which each text of a too large warning is cut."""


def warnings_data(warnings: Iterable[Notice], count: int | None = None) -> list[WarningData]:
    """Return the first 100 warnings. One more says how many of `count` are left out.

    Each takes at most `MAX_WARNING_BYTES`.
    """
    listed = list(warnings)
    shown = [WarningData(**_warning_fields(warning)) for warning in listed[:MAX_WARNINGS]]
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
        vault=VaultData(id=health.vault_id, name=health.vault_name),
        index=IndexHealth(
            available=health.index_available,
            stale=health.index_stale,
            generation=health.index_generation,
            notes=health.notes,
            chunks=health.chunks,
            indexed_at=health.indexed_at,
        ),
        embeddings=EmbeddingHealth(
            enabled=health.embeddings_enabled,
            available=health.embeddings_available,
            share=health.embeddings_share,
        ),
        running_job=health.running_job,
        switched_on=health.switched_on,
        watch=watch_data(health.watch),
        write=write_health(health.write),
    )


def watch_data(status: WatchStatus) -> WatchData:
    """Return the state of a watch."""
    return WatchData.model_validate(status, from_attributes=True)


def watch_report(status: WatchStatus, batches: Iterable[WatchBatch]) -> WatchReport:
    """Return the reply to `GET /watch`."""
    shown = [WatchBatchData.model_validate(each, from_attributes=True) for each in batches]
    return WatchReport(**watch_data(status).model_dump(by_alias=False), batches=shown)


def revision_data(revision: Revision) -> RevisionData:
    """Return a new revision for events."""
    return RevisionData.model_validate(revision, from_attributes=True)


def results_data(answer: Answer, next_cursor: str | None = None) -> ResultsData:
    """Return the reply to a search, in the full profile."""
    return ResultsData(
        requested_mode=answer.requested_mode,
        used_mode=answer.used_mode,
        limit=answer.limit,
        results=[ResultData.model_validate(hit, from_attributes=True) for hit in answer.hits],
        indexed_at=answer.indexed_at,
        unknown=tuple(
            UnknownWordData(word=each.word, instead=each.instead) for each in answer.unknown
        ),
        has_more=answer.has_more,
        next_cursor=next_cursor,
        truncated=answer.truncated,
    )


def compact_results_data(answer: Answer, next_cursor: str | None = None) -> CompactResultsData:
    """Return the reply to a search, in the compact profile."""
    return CompactResultsData(
        requested_mode=answer.requested_mode,
        used_mode=answer.used_mode,
        limit=answer.limit,
        columns=VAULT_COLUMNS if any(hit.vault for hit in answer.hits) else COLUMNS,
        results=[compact_row(hit) for hit in answer.hits],
        indexed_at=answer.indexed_at,
        has_more=answer.has_more,
        next_cursor=next_cursor,
        truncated=answer.truncated,
    )


PIECE_CHARACTERS = 204_800
"""Of a large note that is sent in pieces."""


def note_data(note: NoteContent, piece: int | None = None) -> NoteData:
    """Return the reply to `GET /notes/{noteId}`, or of one piece of the note."""
    data = NoteData.model_validate(note, from_attributes=True)
    if piece is None:
        return data
    start = piece * PIECE_CHARACTERS
    content = note.content[start : start + PIECE_CHARACTERS]
    pieces = -(-len(note.content) // PIECE_CHARACTERS)
    return data.model_copy(update={"content": content, "pieces": pieces})


def chunk_data(chunk: ChunkContent) -> ChunkData:
    """Return the reply to `GET /chunks/{noteId}/{chunkIndex}`."""
    return ChunkData.model_validate(chunk, from_attributes=True)


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
    """Return a job for replies and events."""
    data = JobData.model_validate(replace(job, warnings=(), error=None), from_attributes=True)
    return data.model_copy(
        update={
            "warnings": tuple(warnings_data(job.warnings, job.warning_count)),
            "error": JobErrorData(**_warning_fields(job.error)) if job.error else None,
        }
    )


def _warning_fields(warning: Notice) -> dict[str, Any]:
    """Return the fields of a warning or of a job's error, within `MAX_WARNING_BYTES`."""
    fields = {"code": warning.code, "message": warning.message, "details": dict(warning.details)}
    if len(orjson.dumps(fields)) <= MAX_WARNING_BYTES:
        return fields
    message, details = _cut(warning.message), _cut_all(warning.details)
    while True:
        short = {**fields, "message": message, "details": details}
        if len(orjson.dumps(short)) <= MAX_WARNING_BYTES:
            return short
        if not any(isinstance(value, list) and value for value in details.values()):
            return {**short, "message": warning.code, "details": {}}
        details = _halved(details)  # a count beside a list says how many there are


def _cut_all(details: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _cut(value) if isinstance(value, str) else value for name, value in details.items()
    }


def _halved(details: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value[: len(value) // 2] if isinstance(value, list) else value
        for name, value in details.items()
    }


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 1] + "…"
