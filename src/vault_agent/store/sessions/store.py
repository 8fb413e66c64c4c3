"""Agents' sessions as rows of `sessions.db`, and the connections that its other tables share."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from vault_agent.store.database import (
    check_pages,
    connect,
    json_array,
    migrate,
    open_or_renew,
    translated,
    within,
)
from vault_agent.store.sessions.turn import SESSION_COLUMNS, Turn, session_of
from vault_agent.system.change import Change

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence
    from pathlib import Path

    import aiosqlite

    from vault_agent.model.journals import Journal
    from vault_agent.model.sessions import Session
    from vault_agent.store.database import AsyncConnection
    from vault_agent.store.sessions.turn import Kind

SCRIPTS = ("sessions/sessions.sql", "sessions/deliveries.sql", "sessions/journals.sql")
"""The tables of the database, one script for each group of them."""

_FORGET_BEFORE = (
    "DELETE FROM taken_event WHERE at < ?",
    "DELETE FROM session WHERE ended_at IS NOT NULL AND last_event_at < ?",
    """DELETE FROM delivery WHERE session NOT IN
       (SELECT id FROM session UNION SELECT session FROM delivery WHERE at >= ?)""",
    """DELETE FROM chosen_note WHERE at < ? AND session NOT IN
       (SELECT id FROM session UNION SELECT session FROM delivery)""",
    """DELETE FROM context_state WHERE since < ? AND session NOT IN
       (SELECT id FROM session UNION SELECT session FROM delivery)""",
    """DELETE FROM journal WHERE coalesce(ended_at, started_at) < ? AND state <> 'draft'
       AND session_id NOT IN (SELECT id FROM session)""",
    """DELETE FROM texts.kept WHERE at < ?
       AND session_id NOT IN (SELECT session_id FROM journal WHERE state = 'draft')""",
)
_OF_DELIVERIES = ("delivery", "chosen_note", "context_state")
TEXTS = "session-texts.db"
"""Beside `sessions.db`. A change of both is one transaction."""


@asynccontextmanager
async def open_sessions(path: Path) -> AsyncIterator[SessionStore]:
    """Open the record. Create it if it is missing, and replace it if it is damaged.

    Raises:
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    texts = path.with_name(TEXTS)
    async with AsyncExitStack() as stack:
        await (await open_or_renew(texts, partial(_prepare, ("sessions/texts.sql",)))).close()
        writer = await open_or_renew(path, partial(_prepare, SCRIPTS))
        stack.push_async_callback(writer.close)
        with translated():
            reader = await connect(path)
            stack.push_async_callback(reader.close)
            for connection in (writer, reader):
                await connection.execute_fetchall("ATTACH ? AS texts", (str(texts),))
            await writer.execute_fetchall("PRAGMA texts.journal_mode = TRUNCATE")
            await writer.execute_fetchall("PRAGMA texts.secure_delete = ON")
            await reader.execute_fetchall("PRAGMA query_only = ON")
        yield SessionStore(writer, reader)


async def _prepare(scripts: Sequence[str], connection: aiosqlite.Connection) -> None:
    # Not WAL: small files, and no log is left beside them.
    await connection.execute_fetchall("PRAGMA journal_mode = TRUNCATE")
    await within(connection, check_pages, indexes=True)
    await within(connection, migrate, *scripts)


class SessionStore:
    """Sessions, the events that were taken, and the texts that are kept for journals.

    Every method raises `Failed` (`DISK_FULL`, `INDEX_IO_ERROR`) or `IndexUnavailable` if the
    database fails.
    """

    def __init__(self, writer: AsyncConnection, reader: AsyncConnection) -> None:
        self._writer = writer
        self._reader = reader
        self._turn = asyncio.Lock()
        self.changes = 0
        """The number of changes that were stored: after one, work may be due."""
        self._changed = Change()
        self._on_journal: list[Callable[[Journal], object]] = []

    def on_journal(self, listener: Callable[[Journal], object]) -> None:
        """Call a function with each journal that a turn has changed."""
        self._on_journal.append(listener)

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
        self.changes += 1
        self._changed.announce()

    async def changed_since(self, changes: int) -> None:
        """Wait until `changes` has changed."""
        while self.changes == changes:
            await self._changed.wait()

    @asynccontextmanager
    async def turn(self, session_id: str) -> AsyncIterator[Turn]:
        """Lend a session for one change, made from what is stored, in one transaction.

        Nothing else changes any session meanwhile. An error leaves everything as it was.
        """
        async with self.writing() as connection:
            turn = await Turn.begin(connection, session_id)
            before = turn.journal
            yield turn
        if turn.journal is not None and turn.journal != before:
            for listener in self._on_journal:
                listener(turn.journal)

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

    async def open_ones(self) -> tuple[Session, ...]:
        """Return the sessions that have not ended, the one with the oldest event first."""
        return await self._read("WHERE ended_at IS NULL ORDER BY last_event_at, id", ())

    async def texts(self, session_id: str, *kinds: Kind) -> list[bytes]:
        """Return the texts of some kinds that are kept of a session, the oldest first."""
        rows = await self.rows(
            "SELECT data FROM texts.kept WHERE session_id = ?"
            " AND kind IN (SELECT value FROM json_each(?)) ORDER BY at, seq",
            (session_id, json_array(kinds)),
        )
        return [data for (data,) in rows]

    async def set_start_commit(self, session_id: str, commit: str) -> None:
        """Note the commit at the start of a session, if none is known."""
        async with self.writing() as connection:
            await connection.execute_fetchall(
                "UPDATE session SET start_commit = ? WHERE id = ? AND start_commit IS NULL",
                (commit, session_id),
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
        """Remove sessions, what they got, and what they said. Their journals stay."""
        found = [(each,) for each in session_ids]
        async with self.writing() as connection:
            for statement in (
                "DELETE FROM session WHERE id = ?",
                *(f"DELETE FROM {table} WHERE session = ?" for table in _OF_DELIVERIES),
                "DELETE FROM texts.kept WHERE session_id = ? AND kind IN ('prompt', 'message')",
            ):
                await connection.executemany(statement, found)

    async def forget_before(self, moment: float) -> None:
        """Remove what is from before a moment, but for sessions that go on, and for drafts."""
        async with self.writing() as connection:
            for statement in _FORGET_BEFORE:
                await connection.execute_fetchall(statement, (moment,))

    async def _read(self, where: str, values: tuple[Any, ...]) -> tuple[Session, ...]:
        rows = await self.rows(f"SELECT {SESSION_COLUMNS} FROM session {where}", values)
        return tuple(map(session_of, rows))
