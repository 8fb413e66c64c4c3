"""Moves of a vault: small ones at once, large ones as jobs."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from vault_agent.model.jobs import JobKind, JobSummary
from vault_agent.writing.files import AT_ONCE, MoveControl
from vault_agent.writing.move import LargeMove, MoveStopped

if TYPE_CHECKING:
    from vault_agent.library.jobs import Jobs, Progress
    from vault_agent.model.jobs import Job
    from vault_agent.model.writing import Write, Written
    from vault_agent.writing.files import Files


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
    except LargeMove:
        pass

    async def work(progress: Progress) -> JobSummary:
        return await _as_job(files, path, to, write, progress, rewrite_links=rewrite_links)

    return await jobs.submit(JobKind.MOVE, work)


async def _as_job(
    files: Files, path: str, to: str, write: Write, progress: Progress, *, rewrite_links: bool
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
        written = await asyncio.shield(moving)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([moving])
        try:
            written = moving.result()
        except MoveStopped:
            raise asyncio.CancelledError from None
    notes = sum(file.links > 0 for file in written.files)
    progress.phase("write", notes, notes)
    for warning in written.warnings:
        progress.warn(warning)
    return JobSummary(
        changed=notes, links=sum(file.links for file in written.files), write_id=written.write_id
    )
