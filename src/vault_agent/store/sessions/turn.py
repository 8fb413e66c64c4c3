"""One change of a session: of its record, its journal, and the texts that are kept for it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, Literal

from vault_agent.model.journals import Journal
from vault_agent.model.sessions import Session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault_agent.store.database import AsyncConnection

Kind = Literal["prompt", "message", "line", "sections", "draft"]
"""What a text is: a prompt, what the agent said, a line of the devlog, the sections that
the agent has written, or a journal that waits for its review."""
SAID: Final[tuple[Kind, ...]] = ("prompt", "message")
"""What hooks have told."""
GIVEN: Final[tuple[Kind, ...]] = ("line", "sections", "draft")
"""What was given for the journal, and what was made of it."""

_JOURNAL = tuple(each.name for each in fields(Journal))
_SESSION = tuple(each.name for each in fields(Session) if each.name != "state")
JOURNAL_COLUMNS: Final = ", ".join(_JOURNAL)
SESSION_COLUMNS: Final = ", ".join("id" if each == "session_id" else each for each in _SESSION)


class Turn:
    """The turn of one change. Made by `SessionStore.turn`, or by `begin` inside `writing`.

    `session` and `journal` are as they are stored, or None.
    """

    def __init__(
        self,
        connection: AsyncConnection,
        session_id: str,
        session: Session | None,
        journal: Journal | None,
    ) -> None:
        self._connection = connection
        self._session_id = session_id
        self.session = session
        self.journal = journal

    @classmethod
    async def begin(cls, connection: AsyncConnection, session_id: str) -> Turn:
        """Return the turn of a session inside a transaction."""
        sessions = await connection.execute_fetchall(
            f"SELECT {SESSION_COLUMNS} FROM session WHERE id = ?", (session_id,)
        )
        journals = await connection.execute_fetchall(
            f"SELECT {JOURNAL_COLUMNS} FROM journal WHERE session_id = ?", (session_id,)
        )
        return cls(
            connection,
            session_id,
            next(map(session_of, sessions), None),
            next((Journal(*row) for row in journals), None),
        )

    async def put_session(self, session: Session) -> None:
        """Store the session as it is from now on."""
        await self._put("session", SESSION_COLUMNS, [getattr(session, each) for each in _SESSION])
        self.session = session

    async def put(self, journal: Journal) -> Journal:
        """Store the journal as it is from now on, and return it."""
        await self._put("journal", JOURNAL_COLUMNS, [getattr(journal, each) for each in _JOURNAL])
        self.journal = journal
        return journal

    async def keep(
        self, kind: Kind, data: bytes, *, at: float, name: bytes = b"", most: int = 1
    ) -> None:
        """Keep a text, and of its kind the latest `most`.

        The same name again changes nothing. Without a name a text replaces the one before.
        """
        key = (self._session_id, kind)
        if not name:
            await self.drop(kind)
        await self._connection.execute_fetchall(
            "INSERT OR IGNORE INTO texts.kept (session_id, kind, name, at, data)"
            " VALUES (?, ?, ?, ?, ?)",
            (*key, name, at, data),
        )
        await self._connection.execute_fetchall(
            "DELETE FROM texts.kept WHERE session_id = ? AND kind = ? AND seq NOT IN"
            " (SELECT seq FROM texts.kept WHERE session_id = ? AND kind = ?"
            " ORDER BY at DESC, seq DESC LIMIT ?)",
            (*key, *key, most),
        )

    async def drop(self, *kinds: Kind) -> None:
        """Remove the texts of some kinds."""
        await self._connection.executemany(
            "DELETE FROM texts.kept WHERE session_id = ? AND kind = ?",
            [(self._session_id, kind) for kind in kinds],
        )

    async def _put(self, table: str, columns: str, values: Iterable[Any]) -> None:
        row = tuple(values)
        marks = ", ".join("?" * len(row))
        await self._connection.execute_fetchall(
            f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({marks})", row
        )


def session_of(row: Any) -> Session:
    """Return the session of a row with `SESSION_COLUMNS`."""
    values: dict[str, Any] = dict(zip(_SESSION, row, strict=True))
    return Session(**values, state="open" if values["ended_at"] is None else "ended")
