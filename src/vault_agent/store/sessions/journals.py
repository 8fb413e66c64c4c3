"""How far the journals of sessions are, as rows of `sessions.db`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from vault_agent.model.journals import Journal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vault_agent.store.database import AsyncConnection
    from vault_agent.store.sessions.store import SessionStore

_FIELDS = tuple(each.name for each in fields(Journal))
_COLUMNS = ", ".join(_FIELDS)
_OF_SESSION = f"SELECT {_COLUMNS} FROM journal WHERE session_id = ?"


class Turn:
    """The turn of one change of a journal. Made by `JournalStore.turn`."""

    def __init__(self, connection: AsyncConnection, journal: Journal | None) -> None:
        self._connection = connection
        self.journal = journal
        """The journal as it is stored, or None."""

    async def put(self, journal: Journal) -> Journal:
        """Store the journal as it is from now on, and return it."""
        marks = ", ".join("?" * len(_FIELDS))
        await self._connection.execute_fetchall(
            f"INSERT OR REPLACE INTO journal ({_COLUMNS}) VALUES ({marks})",
            tuple(getattr(journal, each) for each in _FIELDS),
        )
        self.journal = journal
        return journal


class JournalStore:
    """Journals by their session.

    Every method raises `Failed` (`DISK_FULL`, `INDEX_IO_ERROR`) or `IndexUnavailable` if the
    database fails.
    """

    def __init__(self, sessions: SessionStore) -> None:
        self._sessions = sessions

    async def get(self, session_id: str) -> Journal | None:
        """Return one journal, or None."""
        rows = await self._sessions.rows(_OF_SESSION, (session_id,))
        return next((Journal(*row) for row in rows), None)

    @asynccontextmanager
    async def turn(self, session_id: str) -> AsyncIterator[Turn]:
        """Lend a journal for one change, made from what is stored, in one transaction.

        Nothing else changes any journal meanwhile. An error leaves the journal as it was.
        """
        async with self._sessions.writing() as connection:
            rows = await connection.execute_fetchall(_OF_SESSION, (session_id,))
            yield Turn(connection, next((Journal(*row) for row in rows), None))

    async def intend(self, session_id: str, path: str, digest: str) -> None:
        """Record what is about to be written, and nothing else."""
        async with self._sessions.writing() as connection:
            await connection.execute_fetchall(
                "UPDATE journal SET path = ?, hash_next = ? WHERE session_id = ?",
                (path, digest, session_id),
            )

    async def due(self, now: float) -> list[Journal]:
        """Return the journals that are to be tried by now, the one that waited longest first."""
        return await self._read("WHERE next_at <= ? ORDER BY next_at, session_id", now)

    async def next_at(self) -> float | None:
        """Return when the next journal is to be tried, or None."""
        rows = await self._sessions.rows(
            "SELECT min(next_at) FROM journal WHERE next_at IS NOT NULL"
        )
        return next((at for (at,) in rows), None)

    async def page(
        self, *, vault: str | None = None, state: str | None = None, limit: int = 100
    ) -> list[Journal]:
        """Return the journals of the latest sessions, newest first.

        Without a `state` those are left out of which none was made.
        """
        conditions = ["state <> 'skipped'" if state is None else "state = ?"]
        values: list[Any] = [] if state is None else [state]
        if state == "all":
            conditions, values = ["1"], []
        if vault is not None:
            conditions.append("vault = ?")
            values.append(vault)
        where = f"WHERE {' AND '.join(conditions)} ORDER BY started_at DESC, session_id LIMIT ?"
        return await self._read(where, *values, limit)

    async def retry_all(self, now: float, *, since: float) -> None:
        """Let all journals that failed be tried now, if they are to be written since `since`."""
        async with self._sessions.writing() as connection:
            await connection.execute_fetchall(
                "UPDATE journal SET next_at = ? WHERE state = 'pending'"
                " OR (next_at IS NOT NULL AND since >= ?)",
                (now, since),
            )

    async def forget(self, session_id: str) -> None:
        """Remove the record of a journal. Its note stays."""
        async with self._sessions.writing() as connection:
            await connection.execute_fetchall(
                "DELETE FROM journal WHERE session_id = ?", (session_id,)
            )

    async def forget_before(self, moment: float) -> None:
        """Remove the records of journals from before a moment, if their sessions are forgotten.

        Those that wait for a review stay.
        """
        async with self._sessions.writing() as connection:
            await connection.execute_fetchall(
                "DELETE FROM journal WHERE coalesce(ended_at, started_at) < ?"
                " AND state <> 'draft' AND session_id NOT IN (SELECT id FROM session)",
                (moment,),
            )

    async def _read(self, where: str, *values: Any) -> list[Journal]:
        rows = await self._sessions.rows(f"SELECT {_COLUMNS} FROM journal {where}", values)
        return [Journal(*row) for row in rows]
