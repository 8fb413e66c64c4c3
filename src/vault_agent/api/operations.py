"""The table of operations. HTTP routes and their OpenAPI description are made from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.api.authoring import AUTHORING_READS, AUTHORING_WRITES
from vault_agent.api.codes import CURSOR_CODES, INDEX_CODES, NOTE_CODES
from vault_agent.api.compact import compact
from vault_agent.api.cursors import decode_cursor, encode_cursor, invalid_cursor
from vault_agent.api.deliveries import DELIVERY_OPERATIONS
from vault_agent.api.files import FILE_OPERATIONS
from vault_agent.api.graph import GRAPH_OPERATIONS
from vault_agent.api.journals import JOURNAL_OPERATIONS
from vault_agent.api.links import LINK_OPERATIONS
from vault_agent.api.lists import LIST_OPERATIONS
from vault_agent.api.memory import MEMORY
from vault_agent.api.operation import Found, Http, Operation
from vault_agent.api.promotion import PROMOTION_OPERATIONS
from vault_agent.api.reading import READING_OPERATIONS
from vault_agent.api.sessions import SESSION_EVENT
from vault_agent.api.shown import shown_job
from vault_agent.api.vaults import VAULT_CODES, VAULTS, several_of
from vault_agent.api.web import WEB_OPERATIONS
from vault_agent.api.writes import LOG_OPERATIONS
from vault_agent.api.writing import WRITE_OPERATIONS
from vault_agent.model.health import Health
from vault_agent.model.jobs import JobKind, JobList, OneJob, Trigger
from vault_agent.model.retrieval import AttachmentInfo, ChunkContent, FolderContents, NoteContent
from vault_agent.model.search import MAX_RANKED, Answer, CompactAnswer
from vault_agent.model.watch import WatchStatus
from vault_agent.search.note_file import read_chunk, read_whole
from vault_agent.vault.attachments import describe, list_folder
from vault_agent.vaults.jobs import JobOptions
from vault_agent.wire.requests import (
    AttachmentRequest,
    ChunkRequest,
    DownloadRequest,
    FolderRequest,
    IndexBody,
    JobRequest,
    NoParams,
    NoteRequest,
    RelatedBody,
    SearchBody,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from vault_agent.api.context import CallContext
    from vault_agent.model.jobs import Job
    from vault_agent.vault.attachments import OpenAttachment
    from vault_agent.vaults.event_stream import StreamItem
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.wire.requests import ResultFields


class EventFeed(NamedTuple):
    """The news of a vault: `follow` yields what comes after an ID, or from now on."""

    last_id: str
    follow: Callable[[str | None], AsyncIterator[StreamItem]]


class JobFeed(NamedTuple):
    """A job to follow: `watch` yields its states, from now until its end."""

    job_id: str
    watch: Callable[[str], AsyncIterator[Job]]


async def _health(call: CallContext, _: NoParams) -> Found:
    """Return the state of the server, its index and its embeddings."""
    found = await call.vault.health()
    return Found(found, found.warnings)


async def _search(call: CallContext, sent: SearchBody) -> Found:
    """Find chunks and notes by lexical search, semantic search, or both."""
    weights = call.vault.config.search.weights
    rerank = call.vault.reranker is not None
    query = replace(sent.to_query(call.scope), weights=weights, rerank=rerank)
    several = several_of(call, sent.vaults)
    if sent.cursor is not None:
        position, revision = decode_cursor(sent, sent.cursor, int, int, vault=call.vault.identity)
        offset, reranked = map(int, position)
        if not (revision and 0 < offset <= MAX_RANKED):
            raise invalid_cursor()
        # In another order than that of the first page, results would be repeated or missing.
        rerank = rerank and reranked == 1
        query = replace(query, offset=offset, revision=revision, rerank=rerank)
    answer = await (several.search(sent.vaults, query) if several else call.vault.search(query))
    following = None
    if answer.has_more:
        failed = any(each.code == "RERANK_UNAVAILABLE" for each in answer.warnings)
        position = (query.offset + len(answer.hits), int(query.rerank and not failed))
        following = encode_cursor(
            sent, position, vault=call.vault.identity, revision=answer.revision
        )
    return _results(answer, sent.fields, following)


async def _related(call: CallContext, sent: RelatedBody) -> Found:
    """Find notes and chunks similar to a note or chunk, or linked with it."""
    query = sent.to_query(call.scope)
    if several := several_of(call, sent.vaults):
        return _results(await several.related(sent.vaults, query, home=call.vault), sent.fields)
    return _results(await call.vault.related(query), sent.fields)


async def _note(call: CallContext, sent: NoteRequest) -> Found:
    """Return one note: the original Markdown of its current file."""
    large = sent.allow_large or sent.piece is not None
    found = await call.vault.read_files(read_whole, sent.note_id, allow_large=large, path=sent.path)
    data = found if sent.piece is None else _piece(found, sent.piece)
    return Found(data, found.warnings, found.content_hash)


PIECE_CHARACTERS = 204_800
"""Of a large note that is sent in pieces."""


def _piece(note: NoteContent, piece: int) -> NoteContent:
    start = piece * PIECE_CHARACTERS
    content = note.content[start : start + PIECE_CHARACTERS]
    return replace(note, content=content, pieces=-(-len(note.content) // PIECE_CHARACTERS))


async def _chunk(call: CallContext, sent: ChunkRequest) -> Found:
    """Return one chunk as it was indexed, without frontmatter."""
    vault = call.vault
    found = await vault.read(read_chunk, sent.note_id, sent.chunk_index, warnings=vault.warnings())
    return Found(found, found.warnings)


async def _attachment(call: CallContext, sent: AttachmentRequest) -> Found:
    """Return the metadata of an attachment, or with `download=true` its bytes or a range."""
    info = await call.vault.in_folder(describe, sent.path)
    return Found(info, etag=info.etag)


async def _attachments(call: CallContext, sent: FolderRequest) -> Found:
    """Return the attachments of a folder and the folders in it, as they are on the disk."""
    return Found(await call.vault.in_folder(list_folder, sent.folder))


async def _download(call: CallContext, sent: DownloadRequest) -> OpenAttachment:
    """Open an attachment to send its bytes or a range of them."""
    return await call.vault.open_attachment(sent.path, allow_large=sent.allow_large)


async def _index(call: CallContext, sent: IndexBody) -> Found:
    """Start a job that brings the index up to date."""
    return await _submit(call.vault, JobKind.INDEX, sent)


async def _reindex(call: CallContext, sent: IndexBody) -> Found:
    """Start a job that rebuilds the index while the old one serves."""
    return await _submit(call.vault, JobKind.REINDEX, sent)


async def _jobs(call: CallContext, _: NoParams) -> Found:
    """List the jobs, newest first."""
    found = await call.vault.jobs.list()
    return Found(JobList(tuple(map(shown_job, found))))


async def _job(call: CallContext, sent: JobRequest) -> Found:
    """Return the current state of one job."""
    return _one(await call.vault.jobs.get(sent.job_id))


async def _cancel_job(call: CallContext, sent: JobRequest) -> Found:
    """Cancel a job. The last complete index still serves."""
    return _one(await call.vault.jobs.cancel(sent.job_id))


async def _job_events(call: CallContext, sent: JobRequest) -> JobFeed:
    """Follow a job as Server-Sent Events until its end."""
    await call.vault.jobs.get(sent.job_id)  # an unknown job is an error, not a stream
    return JobFeed(sent.job_id, call.vault.jobs.watch)


async def _watch(call: CallContext, _: NoParams) -> Found:
    """Return how the vault is watched."""
    return Found(call.vault.watch.status())


async def _scan(call: CallContext, _: NoParams) -> Found:
    """Start a job that looks at the whole vault, as a watcher does from time to time."""
    return _one(await call.vault.submit(JobKind.INDEX, trigger=Trigger.SCAN))


async def _events(call: CallContext, _: NoParams) -> EventFeed:
    """Follow new revisions, jobs and the watch as Server-Sent Events."""
    return EventFeed(call.vault.events.last_id, call.vault.events.follow)


async def _submit(vault: OpenVault, kind: JobKind, sent: IndexBody) -> Found:
    options = JobOptions(
        require_embeddings=sent.require_embeddings, fresh_embeddings=sent.fresh_embeddings
    )
    return _one(await vault.submit(kind, options))


def _one(job: Job) -> Found:
    return Found(OneJob(shown_job(job)))


def _results(answer: Answer, profile: ResultFields, next_cursor: str | None = None) -> Found:
    answer = replace(answer, next_cursor=next_cursor)
    return Found(compact(answer) if profile == "compact" else answer, answer.warnings)


_JOB_CODES = ("INDEX_IO_ERROR", "JOBS_DAMAGED")
_ONE_JOB_CODES = ("INVALID_ID", "JOB_NOT_FOUND", *_JOB_CODES)
_SUBMIT_CODES = ("INDEX_BUSY", "DISK_FULL", *_JOB_CODES)
_RANKING_CODES = ("INVALID_MODE", "INVALID_LIMIT", *INDEX_CODES, "EMBEDDING_UNAVAILABLE")
_ATTACHMENT_CODES = (
    "INVALID_PATH",
    "PATH_OUTSIDE_VAULT",
    "ATTACHMENT_NOT_ALLOWED",
    "ATTACHMENT_NOT_FOUND",
    "VAULT_NOT_FOUND",
)
_RESULTS = (Answer, CompactAnswer)

HEALTH = Operation("health", NoParams, _health, (Health,), http=Http("GET", "/health"))
SEARCH = Operation(
    "search",
    SearchBody,
    _search,
    _RESULTS,
    ("INVALID_QUERY", *CURSOR_CODES, *_RANKING_CODES, *VAULT_CODES),
    listed="hits",
    scoped=True,
    http=Http("POST", "/search", body=True),
)
RELATED = Operation(
    "related",
    RelatedBody,
    _related,
    _RESULTS,
    (*NOTE_CODES, "CHUNK_NOT_FOUND", *_RANKING_CODES, *VAULT_CODES),
    listed="hits",
    scoped=True,
    http=Http("POST", "/related", body=True),
)
NOTE = Operation(
    "note",
    NoteRequest,
    _note,
    (NoteContent,),
    (
        *NOTE_CODES,
        "PATH_OUTSIDE_VAULT",
        "NOTE_TOO_LARGE",
        "VAULT_NOT_FOUND",
        *INDEX_CODES,
    ),
    http=Http("GET", "/notes/{noteId}", tagged=True),
)
CHUNK = Operation(
    "chunk",
    ChunkRequest,
    _chunk,
    (ChunkContent,),
    (*NOTE_CODES, "CHUNK_NOT_FOUND", *INDEX_CODES),
    http=Http("GET", "/chunks/{noteId}/{chunkIndex}", tagged=True),
)
ATTACHMENT = Operation(
    "attachment",
    AttachmentRequest,
    _attachment,
    (AttachmentInfo,),
    _ATTACHMENT_CODES,
    http=Http(
        "GET",
        "/attachments/{path}",
        media=("application/json", "application/octet-stream"),
        wider=DownloadRequest,
        more_codes=("ATTACHMENT_TOO_LARGE", "RANGE_NOT_SATISFIABLE"),
        tagged=True,
    ),
)
ATTACHMENTS = Operation(
    "attachments",
    FolderRequest,
    _attachments,
    (FolderContents,),
    ("INVALID_PATH", "PATH_OUTSIDE_VAULT", "PATH_NOT_FOUND", "VAULT_NOT_FOUND"),
    http=Http("GET", "/attachments"),
)
DOWNLOAD = Operation(
    "download", DownloadRequest, _download, codes=(*_ATTACHMENT_CODES, "ATTACHMENT_TOO_LARGE")
)
INDEX = Operation(
    "index",
    IndexBody,
    _index,
    (OneJob,),
    (*_SUBMIT_CODES, "EMBEDDING_UNAVAILABLE"),
    writes=True,
    http=Http("POST", "/index", body=None, status=202),
)
REINDEX = Operation(
    "reindex",
    IndexBody,
    _reindex,
    (OneJob,),
    (*_SUBMIT_CODES, "EMBEDDING_UNAVAILABLE"),
    writes=True,
    http=Http("POST", "/reindex", body=None, status=202),
)
JOBS = Operation(
    "jobs", NoParams, _jobs, (JobList,), _JOB_CODES, listed="jobs", http=Http("GET", "/jobs")
)
JOB = Operation(
    "job", JobRequest, _job, (OneJob,), _ONE_JOB_CODES, http=Http("GET", "/jobs/{jobId}")
)
JOB_EVENTS = Operation(
    "job_events",
    JobRequest,
    _job_events,
    codes=_ONE_JOB_CODES,
    http=Http("GET", "/jobs/{jobId}/events", media=("text/event-stream",)),
)
CANCEL_JOB = Operation(
    "cancel_job",
    JobRequest,
    _cancel_job,
    (OneJob,),
    _ONE_JOB_CODES,
    writes=True,
    http=Http("DELETE", "/jobs/{jobId}"),
)
WATCH = Operation("watch", NoParams, _watch, (WatchStatus,), http=Http("GET", "/watch"))
SCAN = Operation(
    "watch_scan",
    NoParams,
    _scan,
    (OneJob,),
    _SUBMIT_CODES,
    writes=True,
    needs="watch.enabled",
    http=Http("POST", "/watch/scan", body=None, status=202),
)
EVENTS = Operation(
    "events", NoParams, _events, http=Http("GET", "/events", media=("text/event-stream",))
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    HEALTH,
    VAULTS,
    SEARCH,
    RELATED,
    NOTE,
    CHUNK,
    ATTACHMENT,
    ATTACHMENTS,
    DOWNLOAD,
    *LIST_OPERATIONS,
    *LINK_OPERATIONS,
    *GRAPH_OPERATIONS,
    *AUTHORING_READS,
    MEMORY,
    *PROMOTION_OPERATIONS,
    *DELIVERY_OPERATIONS,
    *JOURNAL_OPERATIONS,
    SESSION_EVENT,
    *WEB_OPERATIONS,
    INDEX,
    REINDEX,
    JOBS,
    JOB,
    JOB_EVENTS,
    CANCEL_JOB,
    *READING_OPERATIONS,
    *WRITE_OPERATIONS,
    *FILE_OPERATIONS,
    *LOG_OPERATIONS,
    *AUTHORING_WRITES,
    WATCH,
    SCAN,
    EVENTS,
)
"""Every operation, in the order of the reference."""
