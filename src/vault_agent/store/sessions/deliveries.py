"""What agents got of the notes, and what a person has put first or taken out. All statements."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from vault_agent.model.deliveries import (
    KEPT_LEFT_OUT,
    ChosenNote,
    ContextState,
    Delivery,
    SessionMemory,
)
from vault_agent.model.memory import RecalledNote, RecallSignals
from vault_agent.store.database import json_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.store.database import AsyncConnection
    from vault_agent.store.sessions.store import SessionStore

_COLUMNS = (
    "session, agent, vault, at, event, text, tokens, max_tokens, signals, notes, left_out,"
    " prompt_hash"
)
_SESSIONS = """
WITH given AS (
    SELECT session, max(agent) AS agent, max(vault) AS vault, min(at) AS first, max(at) AS last,
           count(*) FILTER (WHERE text <> '') AS deliveries, sum(note_count) AS notes,
           sum(tokens) AS tokens, sum(max_tokens) FILTER (WHERE text <> '') AS max_tokens
    FROM delivery GROUP BY session
), known AS (
    SELECT id, agent, vault, title, started_at, last_event_at, ended_at FROM session
    UNION ALL
    SELECT session, agent, vault, NULL, first, last, NULL FROM given
    WHERE session NOT IN (SELECT id FROM session)
)
SELECT id, known.agent, known.vault, title, started_at, last_event_at, ended_at,
       coalesce(deliveries, 0), coalesce(notes, 0), coalesce(tokens, 0), coalesce(max_tokens, 0)
FROM known LEFT JOIN given ON given.session = id
"""


class Change(NamedTuple):
    """What is stored once an agent was given something: the log, what it was told, its state."""

    delivery: Delivery | None = None
    told: tuple[ChosenNote, ...] = ()
    state: ContextState | None = None


class DeliveryStore:
    """The tables of deliveries in the record of sessions.

    Every method raises `Failed` (`DISK_FULL`, `INDEX_IO_ERROR`) or `IndexUnavailable` if the
    database fails.
    """

    def __init__(self, sessions: SessionStore) -> None:
        self._sessions = sessions

    # --- sessions -------------------------------------------------------------------------------

    async def sessions(
        self,
        *,
        limit: int,
        vaults: Sequence[str] | None = None,
        before: tuple[int, str] | None = None,
    ) -> tuple[SessionMemory, ...]:
        """Return sessions, the one with the latest event first.

        `vaults` are identities. `before` is the place of the last one that was seen: see `place`.
        """
        moment, last = before if before is not None else (None, "")
        rows = await self._sessions.rows(
            _SESSIONS + " WHERE (?1 IS NULL OR known.vault IN (SELECT value FROM json_each(?1)))"
            " AND (?2 IS NULL OR (CAST(last_event_at * 1000 AS INTEGER), id) < (?2, ?3))"
            " ORDER BY CAST(last_event_at * 1000 AS INTEGER) DESC, id DESC LIMIT ?4",
            (None if vaults is None else json_array(vaults), moment, last, limit),
        )
        return tuple(SessionMemory(*row) for row in rows)

    async def session(self, session_id: str) -> SessionMemory | None:
        """Return one session, or None if nothing is known about it."""
        rows = await self._sessions.rows(_SESSIONS + " WHERE id = ?", (session_id,))
        return next((SessionMemory(*row) for row in rows), None)

    # --- deliveries -----------------------------------------------------------------------------

    async def log(self, session_id: str, change: Change) -> None:
        """Store what follows from what an agent was given: all of it or nothing."""
        async with self._sessions.writing() as connection:
            if change.delivery is not None:
                await _add(connection, change.delivery)
            for note in change.told:
                await _choose(connection, session_id, note)
            if change.state is not None:
                await _set_state(connection, session_id, change.state)

    async def of_session(self, session_id: str, *, limit: int = 200) -> tuple[Delivery, ...]:
        """Return the last deliveries of a session, oldest first."""
        rows = await self._sessions.rows(
            f"SELECT {_COLUMNS} FROM delivery WHERE session = ? ORDER BY seq DESC LIMIT ?",
            (session_id, limit),
        )
        return tuple(_delivery(row) for row in reversed(rows))

    async def older_than(self, moment: float) -> tuple[str, ...]:
        """Return the sessions whose last event was before a moment."""
        rows = await self._sessions.rows(_SESSIONS + " WHERE last_event_at < ?", (moment,))
        return tuple(row[0] for row in rows)

    async def forget(self, session_ids: Sequence[str]) -> None:
        """Remove sessions and all that they got."""
        await self._sessions.forget(session_ids)

    # --- what a person has chosen ---------------------------------------------------------------

    async def chosen(self, session_id: str) -> tuple[ChosenNote, ...]:
        """Return the notes that were put first or taken out, in the order in which they were."""
        rows = await self._sessions.rows(
            "SELECT vault, note_id, removed, at, path, title, told FROM chosen_note"
            " WHERE session = ? ORDER BY at, note_id",
            (session_id,),
        )
        return tuple(
            ChosenNote(vault, note_id, title, path, bool(removed), at, bool(told))
            for vault, note_id, removed, at, path, title, told in rows
        )

    async def choose(self, session_id: str, note: ChosenNote) -> None:
        """Put a note first in a session, or take it out. The last choice counts."""
        async with self._sessions.writing() as connection:
            await _choose(connection, session_id, note)

    # --- what the agent still has ---------------------------------------------------------------

    async def state(self, session_id: str) -> ContextState:
        """Return since when the agent still has what it got."""
        rows = await self._sessions.rows(
            "SELECT since, refresh FROM context_state WHERE session = ?", (session_id,)
        )
        return next((ContextState(since, bool(refresh)) for since, refresh in rows), ContextState())

    async def set_state(self, session_id: str, state: ContextState) -> None:
        """Note since when the agent still has what it got."""
        async with self._sessions.writing() as connection:
            await _set_state(connection, session_id, state)


async def _add(connection: AsyncConnection, delivery: Delivery) -> None:
    values = (
        *(delivery.session_id, delivery.agent, delivery.vault, delivery.at, delivery.event),
        *(delivery.text, delivery.tokens, delivery.max_tokens),
        _json(asdict(delivery.signals)),
        _json([asdict(each) for each in delivery.notes]),
        _json([asdict(each) for each in delivery.left_out[:KEPT_LEFT_OUT]]),
        *(delivery.prompt_hash, len(delivery.notes)),
    )
    marks = ", ".join("?" * len(values))
    await connection.execute_fetchall(
        f"INSERT INTO delivery ({_COLUMNS}, note_count) VALUES ({marks})", values
    )


async def _choose(connection: AsyncConnection, session_id: str, note: ChosenNote) -> None:
    await connection.execute_fetchall(
        "INSERT OR REPLACE INTO chosen_note"
        " (session, vault, note_id, removed, at, path, title, told)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(session_id, note.vault, note.note_id, note.removed, note.at),
            *(note.path, note.title, note.told),
        ),
    )


async def _set_state(connection: AsyncConnection, session_id: str, state: ContextState) -> None:
    await connection.execute_fetchall(
        "INSERT OR REPLACE INTO context_state (session, since, refresh) VALUES (?, ?, ?)",
        (session_id, state.since, state.refresh),
    )


def place(session: SessionMemory) -> tuple[int, str]:
    """Return the place of a session in the list, for a cursor."""
    return int(session.last_event_at * 1000), session.session_id


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _delivery(row: Any) -> Delivery:
    session, agent, vault, at, event, text, tokens, max_tokens, signals, notes, left, prompt = row
    found = orjson.loads(signals)
    return Delivery(
        *(session, agent, vault, at, event, text, tokens, max_tokens),
        signals=RecallSignals(
            **{**found, "files": tuple(found["files"]), "tags": tuple(found["tags"])}
        ),
        notes=tuple(map(_note, orjson.loads(notes))),
        left_out=tuple(map(_note, orjson.loads(left))),
        prompt_hash=prompt,
    )


def _note(found: dict[str, Any]) -> RecalledNote:
    return RecalledNote(**{**found, "reasons": tuple(found["reasons"])})
