"""The record of jobs, in a separate database: the last hundred, at most one of them active."""

from __future__ import annotations

import sqlite3
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import anyio
import orjson

from vault_agent.errors import Busy, IndexUnavailable
from vault_agent.model.jobs import Job, JobKind, JobState, JobSummary, PhaseProgress, Trigger
from vault_agent.model.warning import Warning
from vault_agent.store.database import check_pages, connect, migrate, open_or_renew, translated
from vault_agent.store.failures import damaged
from vault_agent.system.cancelling import in_thread, to_its_end

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import aiosqlite

HISTORY = 100
HISTORY_OF_OTHERS = 50
"""How many of the kept jobs may have been started by something else than a user."""
_NO_LOG = "PRAGMA journal_mode = TRUNCATE"
"""Not WAL: one process uses one small file, and no log is left beside it."""
_INSERT = "INSERT INTO job (id, kind, state, document) VALUES (?, ?, ?, ?)"
_NEWEST_FIRST = "SELECT document FROM job ORDER BY seq DESC"
_ATTEMPTS = 3
"""Inserts of one job. The active job that refused one may have ended before it is looked up."""


@asynccontextmanager
async def open_jobs(path: Path) -> AsyncIterator[JobStore]:
    """Open the record. Create it if it is missing, and replace it if it is damaged.

    Raises:
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    store = JobStore(path, await _opened(path))
    try:
        yield store
    finally:
        await store.close()


async def _opened(path: Path) -> aiosqlite.Connection:
    """Open the record. If it is damaged, the jobs that it had are forgotten."""
    await in_thread(lambda: open_or_renew(path, _prepare).close())
    with translated():
        connection = await connect(path)
        try:
            await connection.execute_fetchall(_NO_LOG)
        except BaseException:
            await connection.close()
            raise
    return connection


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

    Every method raises `Failed`: `DISK_FULL` or `INDEX_IO_ERROR`. A record that turns out to be
    damaged is replaced by a new one.
    """

    def __init__(self, path: Path, connection: aiosqlite.Connection) -> None:
        self._path = path
        self._connection: aiosqlite.Connection | None = connection
        self._is_closed = False
        self._turn = anyio.Lock()  # a connection is not replaced while it is used

    async def close(self) -> None:
        """Close the record for good."""
        self._is_closed = True
        await self._drop()

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _execute(self, statement: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        """Return the rows of a statement, of a new record if this one is damaged."""
        async with self._turn:
            try:
                return await self._rows(statement, parameters)
            except IndexUnavailable:
                await to_its_end(self._drop())
                return await self._rows(statement, parameters)

    async def _rows(self, statement: str, parameters: tuple[Any, ...]) -> list[Any]:
        connection = self._connection
        if connection is None:
            if self._is_closed:
                raise ValueError("the record is closed")
            connection = await to_its_end(self._open())
        with translated():
            return list(await connection.execute_fetchall(statement, parameters))

    async def _open(self) -> aiosqlite.Connection:
        self._connection = await _opened(self._path)
        return self._connection

    async def insert(self, job: Job) -> None:
        """Record a new job.

        Raises:
            Busy: `INDEX_BUSY` with `details.jobId` while another job is active.
        """
        for attempt in range(_ATTEMPTS):
            try:
                await self._execute(_INSERT, _row(job))
                break
            except sqlite3.IntegrityError:
                await self._refuse_second()
                if attempt == _ATTEMPTS - 1:
                    raise
        # Only the newest hundred jobs are kept.
        await self._execute(
            "DELETE FROM job WHERE seq <= (SELECT max(seq) FROM job) - ?", (HISTORY,)
        )
        if job.trigger is not Trigger.USER:
            await self._execute(
                "DELETE FROM job WHERE seq IN (SELECT seq FROM job"
                " WHERE json_extract(document, '$.trigger') <> ? ORDER BY seq DESC"
                " LIMIT -1 OFFSET ?)",
                (Trigger.USER.value, HISTORY_OF_OTHERS),
            )

    async def _refuse_second(self) -> None:
        for (active,) in await self._execute(
            "SELECT id FROM job WHERE state IN ('queued', 'running')"
        ):
            raise Busy(
                "INDEX_BUSY", "An index job is already running.", {"jobId": active}
            ) from None

    async def update(self, job: Job) -> None:
        """Record a job's new state. A record that was renewed meanwhile has it then too."""
        job_id, _, state, document = _row(job)
        if not await self._execute(
            "UPDATE job SET state = ?, document = ? WHERE id = ? RETURNING seq",
            (state, document, job_id),
        ):
            await self._execute(_INSERT, _row(job))

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
