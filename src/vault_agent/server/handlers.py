"""The handlers: each takes a validated call, asks the vault for one thing, and replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from vault_agent.library.open_vault import JobOptions
from vault_agent.model.jobs import JobKind
from vault_agent.server.downloads import send_file
from vault_agent.server.events import send_events
from vault_agent.server.keys import LIBRARY, OPENAPI, TRACE
from vault_agent.server.replies import bytes_reply, model_reply, not_modified
from vault_agent.wire.base import Model
from vault_agent.wire.convert import (
    attachment_data,
    chunk_data,
    compact_results_data,
    health_data,
    job_data,
    note_data,
    results_data,
    warnings_data,
)
from vault_agent.wire.replies import (
    AttachmentData,
    ChunkData,
    CompactResultsData,
    HealthData,
    JobList,
    NoteData,
    OneJob,
    Reply,
    ResultsData,
)

if TYPE_CHECKING:
    from aiohttp import web

    from vault_agent.library.open_vault import OpenVault
    from vault_agent.model.search import Answer
    from vault_agent.wire.requests import (
        AttachmentParams,
        AttachmentPath,
        ChunkPath,
        IndexBody,
        JobPath,
        NoParams,
        NoteParams,
        NotePath,
        RelatedBody,
        ResultFields,
        SearchBody,
    )

Path = TypeVar("Path", bound=Model)
Params = TypeVar("Params", bound=Model)
Body = TypeVar("Body", bound=Model)


@dataclass(frozen=True, slots=True)
class Call(Generic[Path, Params, Body]):
    """A request whose path, query parameters and body hold what their models say."""

    request: web.Request
    path: Path
    params: Params
    body: Body

    @property
    def vault(self) -> OpenVault:
        """The vault that is asked."""
        return self.request.app[LIBRARY].default


async def health(call: Call[NoParams, NoParams, NoParams]) -> web.StreamResponse:
    """Tell what the server can do at this moment."""
    found = await call.vault.health()
    return model_reply(
        Reply[HealthData](data=health_data(found), warnings=warnings_data(found.warnings))
    )


async def search(call: Call[NoParams, NoParams, SearchBody]) -> web.StreamResponse:
    """Find chunks and notes by words, by meaning, or both."""
    answer = await call.vault.search(call.body.to_query())
    return _results(call.request, answer, call.body.fields)


async def related(call: Call[NoParams, NoParams, RelatedBody]) -> web.StreamResponse:
    """Find what is like a note or a chunk, or linked with it."""
    answer = await call.vault.related(call.body.to_query())
    return _results(call.request, answer, call.body.fields)


async def note(call: Call[NotePath, NoteParams, NoParams]) -> web.StreamResponse:
    """Return one note: its original Markdown, as the file is now."""
    found = await call.vault.note(call.path.note_id, allow_large=call.params.allow_large)
    return not_modified(call.request, found.etag) or model_reply(
        Reply[NoteData](data=note_data(found), warnings=warnings_data(found.warnings)),
        etag=found.etag,
    )


async def chunk(call: Call[ChunkPath, NoParams, NoParams]) -> web.StreamResponse:
    """Return one chunk as it was indexed, without frontmatter."""
    found = await call.vault.chunk(call.path.note_id, call.path.chunk_index)
    return not_modified(call.request, found.etag) or model_reply(
        Reply[ChunkData](data=chunk_data(found), warnings=warnings_data(found.warnings)),
        etag=found.etag,
    )


async def attachment(
    call: Call[AttachmentPath, AttachmentParams, NoParams],
) -> web.StreamResponse:
    """Tell what is known of an attachment; with `download=true` send its bytes, or a range."""
    if call.params.download:
        opened = await call.vault.open_attachment(
            call.path.path, allow_large=call.params.allow_large
        )
        with opened.file:
            return await send_file(call.request, opened)
    info = await call.vault.attachment(call.path.path)
    return not_modified(call.request, info.etag) or model_reply(
        Reply[AttachmentData](data=attachment_data(info)), etag=info.etag
    )


async def index(call: Call[NoParams, NoParams, IndexBody]) -> web.StreamResponse:
    """Start a job that brings the index up to date."""
    return await _submit(call, JobKind.INDEX)


async def reindex(call: Call[NoParams, NoParams, IndexBody]) -> web.StreamResponse:
    """Start a job that builds the index anew, while the old one serves."""
    return await _submit(call, JobKind.REINDEX)


async def jobs(call: Call[NoParams, NoParams, NoParams]) -> web.StreamResponse:
    """List the jobs, newest first."""
    found = await call.vault.jobs.list()
    return model_reply(Reply[JobList](data=JobList(jobs=[job_data(each) for each in found])))


async def job(call: Call[JobPath, NoParams, NoParams]) -> web.StreamResponse:
    """Return one job as it is now."""
    found = await call.vault.jobs.get(call.path.job_id)
    return model_reply(Reply[OneJob](data=OneJob(job=job_data(found))))


async def job_events(call: Call[JobPath, NoParams, NoParams]) -> web.StreamResponse:
    """Follow a job as Server-Sent Events until its end."""
    await call.vault.jobs.get(call.path.job_id)  # a job that is not there is a plain 404
    return await send_events(call.request, call.vault.jobs.watch(call.path.job_id))


async def cancel_job(call: Call[JobPath, NoParams, NoParams]) -> web.StreamResponse:
    """Cancel a job; the last complete index still serves."""
    found = await call.vault.jobs.cancel(call.path.job_id)
    return model_reply(Reply[OneJob](data=OneJob(job=job_data(found))))


async def openapi(call: Call[NoParams, NoParams, NoParams]) -> web.StreamResponse:
    """Describe this interface."""
    return bytes_reply(call.request.app[OPENAPI]())


async def _submit(call: Call[NoParams, NoParams, IndexBody], kind: JobKind) -> web.StreamResponse:
    options = JobOptions(
        require_embeddings=call.body.require_embeddings,
        fresh_embeddings=call.body.fresh_embeddings,
    )
    submitted = await call.vault.submit(kind, options)
    return model_reply(
        Reply[OneJob](data=OneJob(job=job_data(submitted))),
        status=202,
        headers={"Location": f"/jobs/{submitted.id}"},
    )


def _results(request: web.Request, answer: Answer, fields: ResultFields) -> web.StreamResponse:
    logged = request[TRACE].fields
    logged["used_mode"] = answer.used_mode.value
    logged["result_count"] = len(answer.hits)
    logged["warning_count"] = len(answer.warnings)
    if answer.requested_mode is not None:
        logged["requested_mode"] = answer.requested_mode.value
    warnings = warnings_data(answer.warnings)
    if fields == "compact":
        return model_reply(
            Reply[CompactResultsData](data=compact_results_data(answer), warnings=warnings)
        )
    return model_reply(Reply[ResultsData](data=results_data(answer), warnings=warnings))
