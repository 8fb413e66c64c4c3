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
from vault_agent.vaults.jobs import IndexBody

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from vault_agent.vaults.event_stream import StreamItem


@operation("GET", "/vaults", needs="vaults.enabled", bounded_list="vaults")
async def vaults(call: CallContext, _: NoParams) -> Result[VaultList]:
    """List the default vault and the registered ones."""
    return Result(VaultList(tuple(await call.app.vaults.states())))


@operation("GET", "/health")
async def health(call: CallContext, _: NoParams) -> Result[Health]:
    """Return the state of the server, its index and its embeddings."""
    return Result(await call.vault.health())


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """A request for a job."""

    job_id: JobId


class Feed(NamedTuple):
    """A stream of events. `follow` yields those after an ID, if the events have IDs."""

    follow: Callable[[str | None], AsyncIterator[StreamItem | Job]]
    last_id: str | None = None


@operation("POST", "/index", status=202, writes=True)
async def index(call: CallContext, request: IndexBody) -> Result[OneJob]:
    """Start a job that brings the index up to date."""
    return _one(await call.vault.submit(JobKind.INDEX, request))


@operation("POST", "/reindex", status=202, writes=True)
async def reindex(call: CallContext, request: IndexBody) -> Result[OneJob]:
    """Start a job that rebuilds the index while the old one serves."""
    return _one(await call.vault.submit(JobKind.REINDEX, request))


@operation("GET", "/jobs", bounded_list="jobs")
async def jobs(call: CallContext, _: NoParams) -> Result[JobList]:
    """List the jobs, newest first."""
    stored_jobs = await call.vault.jobs.list()
    return Result(JobList(tuple(map(shown_job, stored_jobs))))


@operation("GET", "/jobs/{jobId}")
async def job(call: CallContext, request: JobRequest) -> Result[OneJob]:
    """Return the current state of one job."""
    return _one(await call.vault.jobs.get(request.job_id))


@operation("GET", "/jobs/{jobId}/events", media=("text/event-stream",))
async def job_events(call: CallContext, request: JobRequest) -> Feed:
    """Follow a job as Server-Sent Events until its end."""
    await call.vault.jobs.get(request.job_id)  # an unknown job is an error, not a stream
    return Feed(lambda _: call.vault.jobs.watch(request.job_id))


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
async def events(call: CallContext, _: NoParams) -> Feed:
    """Follow new revisions, jobs and the watch as Server-Sent Events."""
    return Feed(call.vault.events.follow, call.vault.events.last_id)


def _one(job: Job) -> Result[OneJob]:
    return Result(OneJob(shown_job(job)))
