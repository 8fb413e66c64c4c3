"""Agents' sessions as rows of `sessions.db`, and the connections that its other tables share."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import anyio

from vault_agent.model.sessions import Session
from vault_agent.store.database import (
    check_pages,
    connect,
    make_schema,
    open_or_renew,
    translated,
    within,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    import aiosqlite

    from vault_agent.store.database import AsyncConnection

SCRIPTS = ("sessions/sessions.sql", "sessions/deliveries.sql", "sessions/journals.sql")
"""The tables of the database, one script for each group of them."""

_FIELDS = tuple(each.name for each in fields(Session) if each.name != "state")
_COLUMNS = ", ".join("id" if each == "session_id" else each for each in _FIELDS)


@asynccontextmanager
async def open_sessions(path: Path) -> AsyncIterator[SessionStore]:
    """Open the record. Create it if it is missing, and replace it if it is damaged.

    Raises:
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    async with AsyncExitStack() as stack:
        writer = await open_or_renew(path, _prepare)
        stack.push_async_callback(writer.close)
        with translated():
            reader = await connect(path)
            stack.push_async_callback(reader.close)
            await reader.execute_fetchall("PRAGMA query_only = ON")
        yield SessionStore(writer, reader)


async def _prepare(connection: aiosqlite.Connection) -> None:
    # Not WAL: one small file, and no log is left beside it.
    await connection.execute_fetchall("PRAGMA journal_mode = TRUNCATE")
    await make_schema(connection, *SCRIPTS)
    await within(connection, check_pages, indexes=True)


class SessionStore:
    """Sessions, and the events that were taken.

    Every method raises `Failed` (`DISK_FULL`, `INDEX_IO_ERROR`) or `IndexUnavailable` if the
    database fails.
    """

    def __init__(self, writer: AsyncConnection, reader: AsyncConnection) -> None:
        self._writer = writer
        self._reader = reader
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Yield the connection for changes that are made together or not at all.

        One caller at a time: the tables share one connection for that.
        """
        async with self._turn:
            with translated():
                try:
                    await self._writer.execute_fetchall("BEGIN IMMEDIATE")
                    yield self._writer
                    await self._writer.execute_fetchall("COMMIT")
                except BaseException:
                    # A statement whose caller was cancelled runs all the same, before this one.
                    with anyio.CancelScope(shield=True):
                        await self._writer.rollback()
                    raise

    async def rows(self, statement: str, values: Iterable[Any] = ()) -> list[Any]:
        """Return the rows of a query, as of the last commit: what is being changed is not seen."""
        with translated():
            return list(await self._reader.execute_fetchall(statement, tuple(values)))

    async def get(self, session_id: str) -> Session | None:
        """Return one session, or None."""
        found = await self._read("WHERE id = ?", (session_id,))
        return found[0] if found else None

    async def of_project(self, vault: str, *, limit: int = 100) -> tuple[Session, ...]:
        """Return the latest sessions of a vault, by its identity, newest first."""
        where = "WHERE vault = ? ORDER BY last_event_at DESC, id LIMIT ?"
        return await self._read(where, (vault, limit))

    async def to_settle(self) -> tuple[Session, ...]:
        """Return the sessions whose end has not been passed on, and the open ones, oldest first."""
        return await self._read("WHERE settled = 0 ORDER BY last_event_at, id", ())

    async def put(self, session: Session) -> None:
        """Store a session. Its end is to be passed on. Only inside `writing`."""
        marks = ", ".join("?" * len(_FIELDS))
        await self._writer.execute_fetchall(
            f"INSERT OR REPLACE INTO session ({_COLUMNS}, settled) VALUES ({marks}, 0)",
            tuple(getattr(session, each) for each in _FIELDS),
        )

    async def set_start_commit(self, session_id: str, commit: str) -> None:
        """Note the commit at the start of a session, if none is known. Only inside `writing`."""
        await self._writer.execute_fetchall(
            "UPDATE session SET start_commit = ? WHERE id = ? AND start_commit IS NULL",
            (commit, session_id),
        )

    async def settle(self, session: Session) -> None:
        """Note that the end of a session was passed on, unless it went on meanwhile."""
        async with self.writing() as connection:
            await connection.execute_fetchall(
                "UPDATE session SET settled = 1"
                " WHERE id = ? AND ended_at IS ? AND last_event_at = ?",
                (session.session_id, session.ended_at, session.last_event_at),
            )

    async def take(self, digest: bytes, at: float, *, within: float) -> bool:
        """Note an event. Return False if the same one was taken, at most `within` seconds apart.

        Only inside `writing`.
        """
        new = await self._writer.execute_fetchall(
            "INSERT INTO taken_event (digest, at) SELECT ?1, ?2 WHERE NOT EXISTS"
            " (SELECT 1 FROM taken_event WHERE digest = ?1 AND at BETWEEN ?3 AND ?4) RETURNING at",
            (digest, at, at - within, at + within),
        )
        return bool(list(new))

    async def forget(self, session_ids: Iterable[str]) -> None:
        """Remove sessions."""
        async with self.writing() as connection:
            await connection.executemany(
                "DELETE FROM session WHERE id = ?", [(each,) for each in session_ids]
            )

    async def forget_before(self, moment: float) -> tuple[str, ...]:
        """Remove sessions that ended, and events, before a moment. Return the sessions' IDs."""
        async with self.writing() as connection:
            rows = await connection.execute_fetchall(
                "DELETE FROM session WHERE settled = 1 AND last_event_at < ? RETURNING id",
                (moment,),
            )
            await connection.execute_fetchall("DELETE FROM taken_event WHERE at < ?", (moment,))
        return tuple(identifier for (identifier,) in rows)

    async def _read(self, where: str, values: tuple[Any, ...]) -> tuple[Session, ...]:
        rows = await self.rows(f"SELECT {_COLUMNS} FROM session {where}", values)
        return tuple(_session(row) for row in rows)


def _session(row: Any) -> Session:
    values: dict[str, Any] = dict(zip(_FIELDS, row, strict=True))
    return Session(**values, state="open" if values["ended_at"] is None else "ended")
