"""The record of jobs, in a separate database: the last hundred, at most one of them active."""

from __future__ import annotations

import sqlite3
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.errors import Busy, Failed, IndexUnavailable
from vault_agent.model.jobs import Job, JobKind, JobState, JobSummary, PhaseProgress, Trigger
from vault_agent.model.warning import Warning
from vault_agent.store.database import check_pages, connect, migrate, open_or_renew, translated
from vault_agent.store.failures import damaged
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    import aiosqlite

HISTORY = 100
HISTORY_OF_OTHERS = 50
"""How many of the kept jobs may have been started by something else than a user."""
_NO_LOG = "PRAGMA journal_mode = TRUNCATE"
"""Not WAL: one process uses one small file, and no log is left beside it."""
_NEWEST_FIRST = "SELECT document FROM job ORDER BY seq DESC"
_ATTEMPTS = 3
"""Inserts of one job. The active job that refused one may have ended before it is looked up."""


@asynccontextmanager
async def open_jobs(path: Path) -> AsyncIterator[JobStore]:
    """Open the record. Create it if it is missing, and replace it if it is damaged.

    Raises:
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    # If the history is damaged, the server starts without it.
    await in_thread(lambda: open_or_renew(path, _prepare).close())
    with translated():
        connection = await connect(path)
    try:
        with translated():
            await connection.execute_fetchall(_NO_LOG)
        yield JobStore(connection)
    finally:
        await connection.close()


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute(_NO_LOG)
    check_pages(connection, indexes=True)
    migrate(connection, "jobs.sql")
    try:
        for (document,) in connection.execute(_NEWEST_FIRST):
            _job(document)
    except (ValueError, TypeError, KeyError):
        raise damaged() from None


class JobStore:
    """Jobs as rows. A unique SQL index on active jobs allows only one at a time.

    Every method raises `Failed`: `DISK_FULL`, `INDEX_IO_ERROR`, or `JOBS_DAMAGED`.
    """

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def insert(self, job: Job) -> None:
        """Record a new job.

        Raises:
            Busy: `INDEX_BUSY` with `details.jobId` while another job is active.
        """
        with _translated():
            for _ in range(_ATTEMPTS):
                if await self._inserted(job):
                    break
            else:
                raise damaged()
            # Only the newest hundred jobs are kept.
            await self._connection.execute_fetchall(
                "DELETE FROM job WHERE seq <= (SELECT max(seq) FROM job) - ?", (HISTORY,)
            )
            if job.trigger is not Trigger.USER:
                await self._connection.execute_fetchall(
                    "DELETE FROM job WHERE seq IN (SELECT seq FROM job"
                    " WHERE json_extract(document, '$.trigger') <> ? ORDER BY seq DESC"
                    " LIMIT -1 OFFSET ?)",
                    (Trigger.USER.value, HISTORY_OF_OTHERS),
                )

    async def _inserted(self, job: Job) -> bool:
        """Record a new job. Return False if another one was active and has ended meanwhile."""
        try:
            await self._connection.execute_fetchall(
                "INSERT INTO job (id, kind, state, document) VALUES (?, ?, ?, ?)", _row(job)
            )
        except sqlite3.IntegrityError:
            for (active,) in await self._connection.execute_fetchall(
                "SELECT id FROM job WHERE state IN ('queued', 'running')"
            ):
                raise Busy(
                    "INDEX_BUSY",
                    "An index job is already running.",
                    {"jobId": active},
                ) from None
            return False
        return True

    async def update(self, job: Job) -> None:
        """Record a job's new state."""
        job_id, _, state, document = _row(job)
        with _translated():
            await self._connection.execute_fetchall(
                "UPDATE job SET state = ?, document = ? WHERE id = ?", (state, document, job_id)
            )

    async def get(self, job_id: str) -> Job | None:
        """Return one job, or None."""
        with _translated():
            rows = await self._connection.execute_fetchall(
                "SELECT document FROM job WHERE id = ?", (job_id,)
            )
        return next((_job(document) for (document,) in rows), None)

    async def list(self) -> tuple[Job, ...]:
        """Return the recorded jobs, newest first."""
        with _translated():
            rows = await self._connection.execute_fetchall(_NEWEST_FIRST)
        return tuple(_job(document) for (document,) in rows)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        with translated():
            yield
    except IndexUnavailable:
        raise Failed(
            "JOBS_DAMAGED",
            "The record of jobs is damaged. The index is not affected.",
        ) from None


def _row(job: Job) -> tuple[str, str, str, str]:
    document = orjson.dumps(asdict(job), default=dict).decode()
    return job.id, job.kind.value, job.state.value, document


def _job(document: str) -> Job:
    fields: dict[str, Any] = orjson.loads(document)
    summary, error = fields["summary"], fields["error"]
    return Job(
        **{
            **fields,
            "kind": JobKind(fields["kind"]),
            "state": JobState(fields["state"]),
            # Records of earlier versions have no trigger.
            "trigger": Trigger(fields.get("trigger", Trigger.USER)),
            "phases": tuple(PhaseProgress(**phase) for phase in fields["phases"]),
            "warnings": tuple(Warning(**warning) for warning in fields["warnings"]),
            "waiting": None,  # of a running job
            "summary": JobSummary(**summary) if summary else None,
            "error": Warning(**error) if error else None,
        }
    )
