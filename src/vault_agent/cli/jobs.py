"""`vault-agent index`, `reindex` and `jobs`: start, follow and show jobs.

A running job is shown live at a terminal, and otherwise as a plain line every few seconds.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Exit, Invocation, Noun, exit_code
from vault_agent.cli.list import with_options
from vault_agent.cli.names import client_here, others
from vault_agent.cli.terminal import (
    clean,
    complain,
    is_terminal,
    local_time,
    pass_on,
    say,
    style,
    tell,
    warn,
)
from vault_agent.errors import (
    Busy,
    Misconfigured,
    NotFound,
    Unavailable,
    at_terminal,
    counted,
    error_of,
    explained,
)
from vault_agent.model.jobs import JobKind, JobList, JobState, OneJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import TaskID

    from vault_agent.client.client import Client
    from vault_agent.model.jobs import Job, JobSummary, PhaseProgress, Waiting

_SECONDS_BETWEEN_LINES = 3.0

_TRIES = 5
_MANY = 4  # warnings of one code that are shown after a job
_JOB = click.argument("job_id", metavar="[JOB_ID]", required=False)


def display(*, silent: bool) -> AbstractContextManager[Callable[[Job], None]]:
    """Return a context whose function shows the current state of a job on stderr."""
    if silent:
        return nullcontext(lambda _: None)
    live = is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
    return LiveDisplay() if live else nullcontext(PlainDisplay().update)


class PlainDisplay:
    """Prints a line at the start of each phase and every few seconds."""

    def __init__(self) -> None:
        self._phase: str | None = None
        self._next = 0.0

    def update(self, job: Job) -> None:
        """Print a line if one is due."""
        now = time.monotonic()
        if job.phase is None or (job.phase == self._phase and now < self._next):
            return
        self._phase, self._next = job.phase, now + _SECONDS_BETWEEN_LINES
        counts = [count(phase) for phase in job.phases if phase.name == job.phase]
        parts = ", ".join((*counts, *_details(job)))
        tell(f"{job.kind.value}: {clean(job.phase)} {parts}".rstrip())


class LiveDisplay:
    """One bar for each phase, with count, rate, time left, and number of warnings."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        self._tasks: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            # Use the 16 standard colours. rich's defaults all appear grey with them.
            BarColumn(24, "bar.back", "cyan", "green", "cyan"),
            TextColumn("{task.fields[count]:>9}", markup=False),
            TextColumn("{task.fields[details]}", "dim", markup=False, table_column=Column()),
            console=Console(stderr=True),
        )

    def __enter__(self) -> Callable[[Job], None]:
        self._progress.start()
        return self._update

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def _update(self, job: Job) -> None:
        for phase in job.phases:
            current = phase.name == job.phase and not job.state.final
            # If there is nothing to do, the bar stays empty.
            total = 1 if phase.total == 0 else phase.total
            if phase.name not in self._tasks:
                self._tasks[phase.name] = self._progress.add_task(
                    clean(phase.name), total=total, count="", details=""
                )
            self._progress.update(
                self._tasks[phase.name],
                completed=phase.done,
                total=total,
                count=count(phase),
                details="  ".join(_details(job)) if current else "",
            )


def _details(job: Job) -> list[str]:
    """Return the rate, the time left and the number of warnings, as far as they are known."""
    parts = []
    if job.rate:
        parts.append(f"{job.rate:,.0f}/s")
    if job.character_rate:
        parts.append(f"{job.character_rate:,.0f} characters/s")
    if job.waiting is not None:
        parts.append(waiting_for(job.waiting))
    elif job.eta_seconds is not None:
        parts.append(f"{duration(job.eta_seconds)} left")
    if job.warning_count:
        parts.append(counted(job.warning_count, "warning"))
    return parts


def waiting_for(waiting: Waiting) -> str:
    """Return what a job waits for: `waiting for http://127.0.0.1:11434/v1/embeddings (40 s)`."""
    return f"waiting for {clean(waiting.address)} ({duration(waiting.seconds)})"


def count(phase: PhaseProgress) -> str:
    """Return the progress: `1,200/10,000`, `1,200` if the total is unknown, or `none`."""
    if phase.total == 0:
        return "none"
    return f"{phase.done:,}" + (f"/{phase.total:,}" if phase.total is not None else "")


def duration(seconds: float) -> str:
    """Return a duration as text: `0.8 s`, `42.0 s`, `0:03:05`."""
    return f"{seconds:.1f} s" if seconds < 60 else str(timedelta(seconds=round(seconds)))


def follow(client: Client, job_id: str, *, as_json: bool) -> int:
    """Show a job until it ends, print its summary, and return the exit code.

    Ctrl-C leaves the job running and prints how to follow it again.
    """
    try:
        with display(silent=as_json) as update:
            _watch(client, job_id, update)
    except KeyboardInterrupt:
        name = clean(job_id)
        tell(
            "Detached. The job continues.\n"
            f"  Follow it: vault-agent jobs follow {name}\n"
            f"  End it:    vault-agent jobs cancel {name}"
        )
        return Exit.INTERRUPTED
    reply = client.call("GET /jobs/{jobId}", job_id=job_id)
    job = reply.read(OneJob).job
    if as_json:
        pass_on(reply.body)
        return ending(job)
    return report(job)


def report(job: Job, *, one_by_one: bool = False) -> int:
    """Print the warnings and the summary or the error of a job, and return the exit code."""
    counts: Counter[str] = Counter()
    for warning in job.warnings:
        counts[warning.code] += 1
        if one_by_one or counts[warning.code] <= _MANY:
            warn([warning])
    more = [f"{number - _MANY} more {code}" for code, number in counts.items() if number > _MANY]
    if more and not one_by_one:
        tell(f"{', '.join(more)}. All warnings: vault-agent jobs {clean(job.id)}")
    if job.summary is not None and job.state is JobState.SUCCEEDED:
        say(summary_line(job, job.summary))
    elif job.error is not None:
        complain(job.error.code, at_terminal(job.error.code, job.error.message, job.error.details))
    elif job.state.final:
        what = f"the job was {job.state.value}; the last complete index, if any, still serves."
        if not job.kind.indexes:
            what = f"the {job.kind.value} was {job.state.value} before anything was changed."
        complain("JOB_STOPPED", explained("JOB_STOPPED", what, {"kind": job.kind.value}))
    return ending(job)


def ending(job: Job) -> int:
    """Return the exit code for the outcome of a job."""
    if job.state is JobState.SUCCEEDED or not job.state.final:
        return Exit.SUCCESS
    if job.error is not None:
        return exit_code(error_of(job.error.code, job.error.message))
    return Exit.FAILURE


def summary_line(job: Job, summary: JobSummary) -> str:
    """Return the summary of a job that succeeded, in one line."""
    if job.kind in (JobKind.MOVE, JobKind.UNDO):
        # A copy beside a note that has changed since is all that such an undo makes.
        undone = "undone" if summary.changed else "not undone"
        verb = "moved" if job.kind is JobKind.MOVE else undone
        undo = f"  {clean(summary.write_id)}" if summary.write_id else ""
        return f"{verb}, {counted(summary.changed, 'note')} changed{undo}"
    words = ("added", "changed", "renamed", "removed")
    numbers = {word: getattr(summary, word) for word in words}
    changes = ", ".join(f"{number:,} {word}" for word, number in numbers.items() if number)
    total = summary.added + summary.changed + summary.renamed + summary.unchanged
    notes = f"{counted(total, 'note')}{f': {changes}' if changes else ', none changed'}"
    parts = [counted(summary.chunks, "chunk"), counted(summary.links, "link")]
    if summary.unresolved_links:
        parts[-1] += f" ({summary.unresolved_links:,} unresolved)"
    if summary.embedded or summary.reused:
        parts.append(f"{summary.embedded:,} embedded, {summary.reused:,} reused")
    if summary.embedding_failed:
        parts.append(f"{summary.embedding_failed:,} without embedding")
    took = seconds(job)
    time = f" in {duration(took)}" if took is not None else ""
    return f"{job.kind.value} done{time}. {notes}. {', '.join(parts)}."


def seconds(job: Job) -> float | None:
    """Return the duration of a job, or None if it has not begun and ended."""
    if job.started_at is None or job.finished_at is None:
        return None
    begun, ended = map(datetime.fromisoformat, (job.started_at, job.finished_at))
    return (ended - begun).total_seconds()


def _watch(client: Client, job_id: str, update: Callable[[Job], None]) -> None:
    """Show each state until the last. Reconnect a few times if the stream breaks."""
    tries = 0
    while True:
        try:
            with closing(client.events(job_id)) as events:
                for job in events:
                    tries = 0
                    update(job)
                    if job.state.final:
                        return
            # The stream ended early: the server is stopping or has just been restarted.
            if client.call("GET /jobs/{jobId}", job_id=job_id).read(OneJob).job.state.final:
                return
        except Unavailable:
            if tries == _TRIES:
                raise
        tries += 1
        time.sleep(0.2 * tries)


job_options = with_options(
    click.option("--require-embeddings", is_flag=True, help="Fail if embeddings cannot be made."),
    click.option("--detach", is_flag=True, help="Print the job's ID and do not wait for its end."),
)
"""The options that `index` and `reindex` share."""


@click.command("index", cls=Command)
@job_options
def index(invocation: Invocation, /, **options: Any) -> int:
    """Bring the index up to date with the notes. Inside a project, that of its vault.

    Shows the progress until the end, also of a job that runs already. Ctrl-C leaves the job
    running.
    """
    return run_job(invocation, "POST /index", follows_other=True, **options)


def run_job(
    invocation: Invocation, route: str, *, follows_other: bool, detach: bool, **options: Any
) -> int:
    """Submit a job, and follow it unless `detach`.

    With `follows_other`, a job that runs already is followed in its place.
    """
    with client_here(invocation, changes_index=True) as client:
        try:
            reply = client.call(route, **options)
        except Busy as error:
            running = error.details.get("jobId")
            if detach or not follows_other or not isinstance(running, str):
                raise
            tell("An index job runs already. This is its progress.")
            return follow(client, running, as_json=invocation.json)
        job_id: str = reply.envelope["data"]["job"]["id"]
        if not detach:
            return follow(client, job_id, as_json=invocation.json)
    if invocation.json:
        pass_on(reply.body)
    else:
        say(clean(job_id))
        tell(f"To follow it: vault-agent jobs follow {clean(job_id)}")
    return Exit.SUCCESS


@click.command("reindex", cls=Command)
@job_options
@click.option(
    "--fresh-embeddings", is_flag=True, help="Embed every text again and reuse no vectors."
)
def reindex(invocation: Invocation, /, **options: Any) -> int:
    """Rebuild the whole index.

    The old index serves until the new one is complete. Shows the progress until the end. Ctrl-C
    leaves the job running.
    """
    return run_job(invocation, "POST /reindex", follows_other=False, **options)


command = Noun("jobs")


@command.by_itself
@_JOB
def show(invocation: Invocation, job_id: str | None) -> None:
    """List the last jobs, newest first, or show, follow and cancel one."""
    if job_id is None:
        _list_jobs(invocation)
        return
    with _vault_of(invocation, job_id) as (client, chosen):
        reply = client.call("GET /jobs/{jobId}", job_id=chosen)
    if invocation.passed_on(reply):
        return
    job = reply.read(OneJob).job
    say(_line(job))
    for phase in job.phases:
        say(f"  {clean(phase.name)} {count(phase)}")
    report(job, one_by_one=True)


@command.command("follow")
@_JOB
def follow_job(invocation: Invocation, job_id: str | None) -> int:
    """Show a job's progress until its end. The default is the newest job."""
    with _vault_of(invocation, job_id) as (client, chosen):
        return follow(client, chosen, as_json=invocation.json)


@command.command("cancel")
@_JOB
def cancel(invocation: Invocation, job_id: str | None) -> None:
    """Cancel a job. The default is the newest. The last complete index, if any, still serves."""
    with _vault_of(invocation, job_id) as (client, chosen):
        reply = client.call("DELETE /jobs/{jobId}", job_id=chosen)
    if invocation.passed_on(reply):
        return
    job = reply.read(OneJob).job
    say(_line(job))
    if job.state.final and job.state is not JobState.CANCELLED:
        tell("The job has already ended.")


def _list_jobs(invocation: Invocation) -> None:
    with client_here(invocation) as client:
        reply = client.call("GET /jobs")
    if invocation.passed_on(reply):
        return
    jobs = reply.read(JobList).jobs
    for job in jobs:
        say(_line(job))
    if not jobs:
        tell("No jobs yet. Start one: vault-agent index")


@contextmanager
def _vault_of(invocation: Invocation, job_id: str | None) -> Iterator[tuple[Client, str]]:
    """Yield a client for the vault of a job, and the job's ID.

    A job with an ID may be of any vault: replies name such jobs. Without an ID it is the newest one
    of the project's vault.
    """
    with client_here(invocation) as client:
        if job_id is None:
            yield client, _newest(client)
            return
        first = client.vault_name
        for vault in (first, *others(invocation, (first,))):
            client.vault_name = vault
            with suppress(NotFound, Misconfigured):
                client.call("GET /jobs/{jobId}", job_id=job_id)
                break
        else:
            client.vault_name = first
        yield client, job_id


def _newest(client: Client) -> str:
    jobs = client.call("GET /jobs").read(JobList).jobs
    if not jobs:
        raise NotFound(
            "JOB_NOT_FOUND",
            "there are no jobs yet.",
            remedy="Run `vault-agent index` to start one.",
        )
    return jobs[0].id


def _line(job: Job) -> str:
    state = style(f"{job.state.value:<11}", "strong")
    parts = [f"{clean(job.id)}  {state}  {job.kind.value:<7}  {local_time(job.created_at)}"]
    took = seconds(job)
    if took is not None:
        parts.append(duration(took))
    phase = next((phase for phase in job.phases if phase.name == job.phase), None)
    if phase is not None and not job.state.final:
        parts.append(f"{clean(phase.name)} {count(phase)}")
    if job.waiting is not None:
        parts.append(waiting_for(job.waiting))
    if job.warning_count:
        parts.append(counted(job.warning_count, "warning"))
    return "  ".join(parts)
