"""Moves of a vault, and what takes them back: small ones at once, large ones as jobs."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from vault_agent.model.jobs import JobKind, JobSummary
from vault_agent.writing.files import AT_ONCE
from vault_agent.writing.move import MoveControl, MoveStopped
from vault_agent.writing.plan import NeedsJob

if TYPE_CHECKING:
    from vault_agent.model.jobs import Job
    from vault_agent.model.writing import Write, Written
    from vault_agent.vaults.jobs import ActiveJob, Jobs
    from vault_agent.writing.files import Files
    from vault_agent.writing.write import Writing


async def move(
    files: Files, jobs: Jobs, path: str, to: str, write: Write, *, rewrite_links: bool, waits: bool
) -> Written | Job:
    """Move a file or folder. If links of over 50 notes change, start a job and return it.

    Without a job if `waits`, and for a dry run.

    Raises:
        Busy: `INDEX_BUSY` with `details.jobId` while another job is active.
        VaultAgentError: as `Files.move`.
    """
    control = MoveControl(at_once=None if waits or write.dry_run else AT_ONCE)
    try:
        return await files.move(path, to, write, rewrite_links=rewrite_links, control=control)
    except NeedsJob:
        pass

    async def work(progress: ActiveJob) -> JobSummary:
        return await _as_job(files, path, to, write, progress, rewrite_links=rewrite_links)

    return await jobs.submit(JobKind.MOVE, work)


async def undo(
    writing: Writing,
    jobs: Jobs,
    write_id: str | None,
    write: Write,
    *,
    copy_beside: bool,
    waits: bool,
) -> Written | Job:
    """Take back a write. If it has changed over 50 files, start a job and return it.

    Without a job if `waits`, and for a dry run.

    Raises:
        Busy: `INDEX_BUSY` with `details.jobId` while another job is active.
        VaultAgentError: as `Writing.undo`.
    """
    at_once = None if waits or write.dry_run else AT_ONCE
    try:
        return await writing.undo(write_id, write, copy_beside=copy_beside, at_once=at_once)
    except NeedsJob:
        pass

    async def work(progress: ActiveJob) -> JobSummary:
        progress.phase("write", 0, None)
        undoing = asyncio.ensure_future(writing.undo(write_id, write, copy_beside=copy_beside))
        try:
            outcome = await asyncio.shield(undoing)
        except asyncio.CancelledError:
            await asyncio.wait([undoing])  # it is always finished
            outcome = undoing.result()
        return _summary(outcome, progress)

    return await jobs.submit(JobKind.UNDO, work)


async def _as_job(
    files: Files, path: str, to: str, write: Write, progress: ActiveJob, *, rewrite_links: bool
) -> JobSummary:
    """Move, and report the progress. A cancellation stops the plan, but never the move itself."""
    loop = asyncio.get_running_loop()
    stop = threading.Event()

    def planned(done: int, notes: int) -> None:
        loop.call_soon_threadsafe(progress.phase, "plan", done, notes)
        if done == notes:
            loop.call_soon_threadsafe(progress.phase, "write", 0, notes)

    progress.phase("plan", 0, None)
    control = MoveControl(stopped=stop.is_set, on_plan=planned)
    moving = asyncio.ensure_future(
        files.move(path, to, write, rewrite_links=rewrite_links, control=control)
    )
    try:
        outcome = await asyncio.shield(moving)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([moving])
        try:
            outcome = moving.result()
        except MoveStopped:
            raise asyncio.CancelledError from None
    return _summary(outcome, progress)


def _summary(outcome: Written, progress: ActiveJob) -> JobSummary:
    links = [file.links for file in outcome.files if file.links]
    # Taking a move back changes no links, but the texts that had them.
    notes = len(links) or outcome.file_count
    progress.phase("write", notes, notes)
    for warning in outcome.warnings:
        progress.warn(warning)
    return JobSummary(changed=notes, links=sum(links), write_id=outcome.write_id)
