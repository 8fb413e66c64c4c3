"""The record of jobs, in a separate database: the last hundred."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import aiosqlite
import orjson

from vault_agent.model.jobs import Job, JobKind, JobState, JobSummary, PhaseProgress, Trigger
from vault_agent.model.warning import Warning
from vault_agent.store.database import (
    BUSY_SECONDS,
    check_pages,
    migrate,
    open_or_renew,
    translated,
)
from vault_agent.store.failures import damaged
from vault_agent.system.cancelling import in_thread, to_its_end

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator
    from pathlib import Path


HISTORY = 100
_NO_LOG = "PRAGMA journal_mode = TRUNCATE"
"""Not WAL: one process uses one small file, and no log is left beside it."""
_INSERT = "INSERT INTO job (id, kind, state, document) VALUES (?, ?, ?, ?)"
_NEWEST_FIRST = "SELECT document FROM job ORDER BY seq DESC"


@asynccontextmanager
async def open_jobs(path: Path) -> AsyncIterator[JobStore]:
    """Open the record. Create it if it is missing. If it is damaged, its jobs are forgotten.

    Raises:
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    await in_thread(lambda: open_or_renew(path, _prepare).close())
    connection = aiosqlite.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        with translated():
            await to_its_end(connection)
            await connection.execute_fetchall(_NO_LOG)
        yield JobStore(connection)
    finally:
        await connection.close()


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute(_NO_LOG)
    check_pages(connection)
    migrate(connection, "jobs.sql")
    try:
        for (document,) in connection.execute(_NEWEST_FIRST):
            _job(document)
    except (ValueError, TypeError, KeyError):
        raise damaged() from None


class JobStore:
    """Jobs as rows.

    Every method raises `Failed`: `DISK_FULL` or `INDEX_IO_ERROR`, and `IndexUnavailable` if the
    record is damaged. The next start replaces a damaged one.
    """

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def _execute(self, statement: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        with translated():
            return list(await self._connection.execute_fetchall(statement, parameters))

    async def insert(self, job: Job) -> None:
        """Record a new job."""
        await self._execute(_INSERT, _row(job))
        # Only the newest hundred jobs are kept.
        await self._execute(
            "DELETE FROM job WHERE seq <= (SELECT max(seq) FROM job) - ?", (HISTORY,)
        )

    async def update(self, job: Job) -> None:
        """Record a job's new state."""
        job_id, _, state, document = _row(job)
        await self._execute(
            "UPDATE job SET state = ?, document = ? WHERE id = ?", (state, document, job_id)
        )

    async def get(self, job_id: str) -> Job | None:
        """Return one job, or None."""
        rows = await self._execute("SELECT document FROM job WHERE id = ?", (job_id,))
        return next((_job(document) for (document,) in rows), None)

    async def list(self) -> tuple[Job, ...]:
        """Return the recorded jobs, newest first."""
        return tuple(_job(document) for (document,) in await self._execute(_NEWEST_FIRST))


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
