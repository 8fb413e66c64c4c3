"""How far the journals of sessions are, as rows of `sessions.db`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.model.journals import Journal
from vault_agent.store.sessions.turn import JOURNAL_COLUMNS

if TYPE_CHECKING:
    from vault_agent.store.sessions.store import SessionStore


class JournalStore:
    """Journals by their session.

    Every method raises `Failed` (`DISK_FULL`, `INDEX_IO_ERROR`) or `IndexUnavailable` if the
    database fails.
    """

    def __init__(self, sessions: SessionStore) -> None:
        self._sessions = sessions

    async def get(self, session_id: str) -> Journal | None:
        """Return one journal, or None."""
        found = await self._read("WHERE session_id = ?", session_id)
        return found[0] if found else None

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

    async def _read(self, where: str, *values: Any) -> list[Journal]:
        rows = await self._sessions.rows(f"SELECT {JOURNAL_COLUMNS} FROM journal {where}", values)
        return [Journal(*row) for row in rows]
