"""Follows a job to its end and prints a summary."""

from __future__ import annotations

import time
from contextlib import closing
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from vault_agent.cli import exits
from vault_agent.cli.progress import display, duration
from vault_agent.cli.terminal import clean, complain, counted, pass_on, say_prose, tell, warn
from vault_agent.client import calls
from vault_agent.errors import Unavailable, at_terminal, error_of, explained
from vault_agent.model.jobs import JobKind, JobState
from vault_agent.model.warning import Warning as Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.client.client import Client
    from vault_agent.model.jobs import Job

_TRIES = 5
_MANY = 4  # warnings of one code in one folder that are shown as one


def follow(client: Client, job_id: str, *, as_json: bool) -> int:
    """Show a job until it ends, print its summary, and return the exit code.

    Ctrl-C leaves the job running and prints how to follow it again.
    """
    try:
        with display(silent=as_json) as shown:
            _watch(client, job_id, shown.update)
    except KeyboardInterrupt:
        known = clean(job_id)
        tell(
            "Detached. The job continues.\n"
            f"  Follow it: vault-agent jobs follow {known}\n"
            f"  End it:    vault-agent jobs cancel {known}"
        )
        return exits.INTERRUPTED
    reply = client.call(calls.JOB, job_id=job_id)
    if as_json:
        pass_on(reply.body)
        return ending(reply.data.job)
    return report(reply.data.job)


def report(job: Job) -> int:
    """Print the warnings and the summary or the error of a job, and return the exit code."""
    warnings = [Notice(item.code, item.message, item.details) for item in job.warnings]
    groups = grouped(warnings)
    warn(groups)
    if len(groups) < len(warnings):
        tell(f"All warnings, one by one: vault-agent --json jobs {clean(job.id)}")
    if job.summary is not None and job.state is JobState.SUCCEEDED:
        say_prose(summary_line(job))
    elif job.error is not None:
        complain(job.error.code, at_terminal(job.error.code, job.error.message, job.error.details))
    elif job.state.final:
        code = "JOB_CANCELLED" if job.state is JobState.CANCELLED else "JOB_INTERRUPTED"
        what = f"the job was {job.state.value}; the last complete index, if any, still serves."
        if not job.kind.indexes:
            what = f"the {job.kind.value} was {job.state.value} before anything was changed."
        complain(code, explained(code, what, {"kind": job.kind.value}))
    return ending(job)


def grouped(warnings: Sequence[Notice]) -> list[Notice]:
    """Return the warnings with those of one code in one folder as one, if they are many.

    It takes the place and the message of its first one.
    """
    groups: dict[tuple[str, str], list[Notice]] = {}
    for number, warning in enumerate(warnings):
        path = warning.details.get("path")
        # A warning about no file stands alone.
        folder = str(PurePosixPath(path).parent) if isinstance(path, str) else f"\0{number}"
        groups.setdefault((warning.code, folder), []).append(warning)
    shown: list[Notice] = []
    for (code, folder), each in groups.items():
        if len(each) < _MANY:
            shown += each
            continue
        first = PurePosixPath(str(each[0].details["path"])).name
        place = "the vault" if folder == "." else folder
        what = f"{counted(len(each), 'file')} in {place}, such as {first}: {each[0].message}"
        shown.append(Notice(code, what))
    return shown


def ending(job: Job) -> int:
    """Return the exit code for the outcome of a job."""
    if job.state is JobState.SUCCEEDED or not job.state.final:
        return exits.SUCCESS
    if job.error is not None:
        return exits.exit_code(error_of(job.error.code, job.error.message))
    return exits.FAILURE


def summary_line(job: Job) -> str:
    """Return the summary of a job that succeeded, in one line."""
    summary = job.summary
    if summary is None:
        return ""
    if job.kind is JobKind.UNDO:
        undo = f"  {clean(summary.write_id)}" if summary.write_id else ""
        return f"undone, {counted(summary.changed, 'note')} changed{undo}"
    if job.kind is JobKind.MOVE:
        rewritten = f"{counted(summary.links, 'link')} in {counted(summary.changed, 'note')}"
        undo = f"  {clean(summary.write_id)}" if summary.write_id else ""
        return f"moved, {rewritten} changed{undo}"
    notes = (
        (summary.added, "added"),
        (summary.changed, "changed"),
        (summary.renamed, "renamed"),
        (summary.removed, "removed"),
        (summary.unchanged, "unchanged"),
    )
    changes = ", ".join(f"{number:,} {word}" for number, word in notes if number) or "none"
    parts = [counted(summary.chunks, "chunk"), counted(summary.links, "link")]
    if summary.unresolved_links:
        parts[-1] += f" ({summary.unresolved_links:,} unresolved)"
    if summary.embedded or summary.reused:
        parts.append(f"{summary.embedded:,} embedded, {summary.reused:,} reused")
    if summary.embedding_failed:
        parts.append(f"{summary.embedding_failed:,} without embedding")
    took = seconds(job)
    time = f" in {duration(took)}" if took is not None else ""
    return f"{job.kind.value} done{time}. Notes: {changes}. {', '.join(parts)}."


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
            if client.call(calls.JOB, job_id=job_id).data.job.state.final:
                return
        except Unavailable:
            if tries == _TRIES:
                raise
        tries += 1
        time.sleep(0.2 * tries)
