"""The operations about a server's vaults: their state, jobs, and news."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.api.caller import CallContext
from vault_agent.api.operation import Result, operation
from vault_agent.api.replies import shown_job
from vault_agent.api.requests import NoParams
from vault_agent.model.fields import JobId
from vault_agent.model.health import Health, VaultList, WatchStatus
from vault_agent.model.jobs import Job, JobKind, JobList, OneJob, Trigger
from vault_agent.vaults.jobs import JobOptions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from vault_agent.vaults.event_stream import StreamItem
    from vault_agent.vaults.open_vault import OpenVault


@operation("GET", "/vaults", needs="vaults.enabled", listed="vaults")
async def vaults(call: CallContext, _: NoParams) -> Result[VaultList]:
    """List the default vault and the registered ones."""
    return Result(VaultList(tuple(await call.app.vaults.states())))


@operation("GET", "/health")
async def health(call: CallContext, _: NoParams) -> Result[Health]:
    """Return the state of the server, its index and its embeddings."""
    return Result(await call.vault.health())


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBody:
    """How notes are indexed."""

    require_embeddings: bool = False
    """Fail the job if embeddings cannot be made."""
    fresh_embeddings: bool = False
    """Embed every text again and reuse no vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """A request for a job."""

    job_id: JobId


class EventFeed(NamedTuple):
    """The news of a vault: `follow` yields what comes after an ID, or from now on."""

    last_id: str
    follow: Callable[[str | None], AsyncIterator[StreamItem]]


class JobFeed(NamedTuple):
    """A job to follow: `watch` yields its states, from now until its end."""

    job_id: str
    watch: Callable[[str], AsyncIterator[Job]]


@operation("POST", "/index", status=202, writes=True)
async def index(call: CallContext, request: IndexBody) -> Result[OneJob]:
    """Start a job that brings the index up to date."""
    return await _submit(call.vault, JobKind.INDEX, request)


@operation("POST", "/reindex", status=202, writes=True)
async def reindex(call: CallContext, request: IndexBody) -> Result[OneJob]:
    """Start a job that rebuilds the index while the old one serves."""
    return await _submit(call.vault, JobKind.REINDEX, request)


@operation("GET", "/jobs", listed="jobs")
async def jobs(call: CallContext, _: NoParams) -> Result[JobList]:
    """List the jobs, newest first."""
    stored_jobs = await call.vault.jobs.list()
    return Result(JobList(tuple(map(shown_job, stored_jobs))))


@operation("GET", "/jobs/{jobId}")
async def job(call: CallContext, request: JobRequest) -> Result[OneJob]:
    """Return the current state of one job."""
    return _one(await call.vault.jobs.get(request.job_id))


@operation("GET", "/jobs/{jobId}/events", media=("text/event-stream",))
async def job_events(call: CallContext, request: JobRequest) -> JobFeed:
    """Follow a job as Server-Sent Events until its end."""
    await call.vault.jobs.get(request.job_id)  # an unknown job is an error, not a stream
    return JobFeed(request.job_id, call.vault.jobs.watch)


@operation("DELETE", "/jobs/{jobId}", writes=True)
async def cancel_job(call: CallContext, request: JobRequest) -> Result[OneJob]:
    """Cancel a job. The last complete index still serves."""
    return _one(await call.vault.jobs.cancel(request.job_id))


@operation("GET", "/watch")
async def watch(call: CallContext, _: NoParams) -> Result[WatchStatus]:
    """Return how the vault is watched."""
    return Result(call.vault.watch.status())


@operation("POST", "/watch/scan", status=202, writes=True, needs="watch.enabled")
async def watch_scan(call: CallContext, _: NoParams) -> Result[OneJob]:
    """Start a job that looks at the whole vault, as a watcher does from time to time."""
    return _one(await call.vault.submit(JobKind.INDEX, trigger=Trigger.SCAN))


@operation("GET", "/events", media=("text/event-stream",))
async def events(call: CallContext, _: NoParams) -> EventFeed:
    """Follow new revisions, jobs and the watch as Server-Sent Events."""
    return EventFeed(call.vault.events.last_id, call.vault.events.follow)


async def _submit(vault: OpenVault, kind: JobKind, request: IndexBody) -> Result[OneJob]:
    options = JobOptions(
        require_embeddings=request.require_embeddings, fresh_embeddings=request.fresh_embeddings
    )
    return _one(await vault.submit(kind, options))


def _one(job: Job) -> Result[OneJob]:
    return Result(OneJob(shown_job(job)))
