"""`vault-agent jobs`."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import asyncclick as click

from vault_agent.cli.command import Invocation, Noun
from vault_agent.cli.here import client_here, name_rest, vaults_here
from vault_agent.cli.terminal import clean, counted, say, style, tell
from vault_agent.cli.times import ago
from vault_agent.cli.wrap import fitted
from vault_agent.client import calls
from vault_agent.errors import NotFound
from vault_agent.model.jobs import JobState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.client.client import Client
    from vault_agent.model.jobs import Job

_JOB = click.argument("job_id", metavar="[JOB_ID]", required=False)


command = Noun("jobs")


@command.by_itself
@_JOB
@click.pass_obj
def show(invocation: Invocation, job_id: str | None) -> None:
    """List the last jobs, newest first, or show, follow and cancel one."""
    if job_id is None:
        _list(invocation)
        return
    from vault_agent.cli.following import report
    from vault_agent.cli.progress import count, phase_name

    with _vault_of(invocation, job_id) as (client, chosen):
        reply = client.call(calls.JOB, job_id=chosen)
    if invocation.passed_on(reply):
        return
    job = reply.data.job
    _say_line(job)
    for phase in job.phases:
        say(f"  {phase_name(phase.name)} {count(phase)}")
    report(job)


@command.command("follow")
@_JOB
@click.pass_obj
def follow_job(invocation: Invocation, job_id: str | None) -> int:
    """Show a job's progress until its end. The default is the newest job."""
    from vault_agent.cli.following import follow

    with _vault_of(invocation, job_id) as (client, chosen):
        return follow(client, chosen, as_json=invocation.json)


@command.command("cancel")
@_JOB
@click.pass_obj
def cancel(invocation: Invocation, job_id: str | None) -> None:
    """Cancel a job. The default is the newest. The last complete index, if any, still serves."""
    with _vault_of(invocation, job_id) as (client, chosen):
        reply = client.call(calls.CANCEL_JOB, job_id=chosen)
    if invocation.passed_on(reply):
        return
    job = replace(reply.data.job, warning_count=0)  # they are not about this
    _say_line(job)
    if job.state.final and job.state is not JobState.CANCELLED:
        tell("The job has already ended.")


def _list(invocation: Invocation) -> None:
    with client_here(invocation) as client:
        reply = client.call(calls.JOBS)
    if invocation.passed_on(reply):
        return
    for job in reply.data.jobs:
        _say_line(job)
    if not reply.data.jobs:
        tell("No jobs yet. Start one: vault-agent index")
    name_rest(invocation)


@contextmanager
def _vault_of(invocation: Invocation, job_id: str | None) -> Iterator[tuple[Client, str]]:
    """Yield a client for the vault of a job, and the job's ID.

    Inside a project, a job with an ID may be of any vault of the scope: replies name such jobs.
    Without an ID it is the newest one of the project's vault.
    """
    with client_here(invocation) as client:
        if job_id is None:
            yield client, _newest(client)
            return
        for vault in vaults_here(invocation):
            client.vault_name = vault
            with suppress(NotFound):
                client.call(calls.JOB, job_id=job_id)
                break
        yield client, job_id


def _newest(client: Client) -> str:
    jobs = client.call(calls.JOBS).data.jobs
    if not jobs:
        raise NotFound(
            "JOB_NOT_FOUND",
            "there are no jobs yet.",
            remedy="Run `vault-agent index` to start one.",
        )
    return jobs[0].id


def _say_line(job: Job) -> None:
    say("\n  ".join(fitted(_line(job), margin=2)))


def _line(job: Job) -> str:
    from vault_agent.cli.following import seconds
    from vault_agent.cli.progress import count, duration, phase_name

    state = style(f"{job.state.value:<11}", "strong")
    parts = [f"{clean(job.id)}  {state}  {job.kind.value:<7}  {ago(job.created_at)}"]
    took = seconds(job)
    if took is not None:
        parts.append(duration(took))
    phase = next((each for each in job.phases if each.name == job.phase), None)
    if phase is not None and not job.state.final:
        parts.append(f"{phase_name(phase.name)} {count(phase)}")
    if job.warning_count:
        parts.append(counted(job.warning_count, "warning"))
    return "  ".join(parts)
