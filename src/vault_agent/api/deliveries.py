"""The operations about what agents' sessions got of the notes."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from vault_agent.api.context import CallContext
from vault_agent.api.cursors import decode_cursor, encode_cursor, invalid_cursor
from vault_agent.api.journals import shown_state
from vault_agent.api.memory import deliveries_of
from vault_agent.api.operation import Found, operation
from vault_agent.errors import NotFound
from vault_agent.model.fields import Cursor, NoteId, SessionId, Text
from vault_agent.model.memory import (
    DeliveredNote,
    OneSession,
    SessionDetail,
    SessionJournal,
    SessionRefresh,
    SessionRow,
    SessionsForgotten,
    SessionsPage,
    ShownDelivery,
)
from vault_agent.model.notes import identify
from vault_agent.model.sent import Between, Doc, Unreadable

if TYPE_CHECKING:
    from vault_agent.app import App
    from vault_agent.memory.deliveries import Deliveries, SessionDetails
    from vault_agent.memory.session import JournalState, Session
    from vault_agent.model.memory import Delivery, RecalledNote
    from vault_agent.vaults.open_vault import OpenVault


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySessionsRequest:
    """A request for the sessions of agents, the one with the latest event first."""

    project: Annotated[Text | None, Doc("Only sessions of this project.")] = None
    limit: Annotated[int, Between(1, 100)] = 20
    cursor: Cursor = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySessionRequest:
    """A request about one session."""

    session_id: SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshBody:
    """Whether the session gets what would be recalled now, at its next event."""

    session_id: SessionId
    apply: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PinBody:
    """A note that comes first at the next event of a session."""

    session_id: SessionId
    vault: Text
    note_id: NoteId


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetMemoryBody:
    """Which entries of the log are removed. One of the three says which."""

    session_id: SessionId | None = None
    older_than_days: Annotated[int, Between(0, 36_500)] | None = None
    all: bool = False

    def __post_init__(self) -> None:
        if (self.session_id is not None) + (self.older_than_days is not None) + self.all != 1:
            raise Unreadable("one_of", "must have one of `sessionId`, `olderThanDays` and `all`")


_MAX_MOMENT = 1 << 53
_MOST_SHOWN = 200
_DAY = 86_400.0
_PROJECT = "project:"
_NEEDS = "memory.enabled"


@operation("GET", "/memory/sessions", needs=_NEEDS, listed="sessions")
async def memory_sessions(call: CallContext, sent: MemorySessionsRequest) -> Found[SessionsPage]:
    """List the sessions of agents with what they got, the one with the latest event first."""
    app, deliveries = _of(call)
    before = None
    if sent.cursor is not None:
        moment, last = decode_cursor(
            sent, sent.cursor, int, str, vault=call.vault.identity
        ).position
        before = int(moment), str(last)
        if not 0 <= before[0] < _MAX_MOMENT:
            raise invalid_cursor()
    await deliveries.settled()
    vaults = _identities(call.vault, app, sent.project)
    found = [
        session
        for session in await deliveries.store.sessions()
        if (vaults is None or session.vault in vaults)
        and (before is None or _place(session) < before)
    ]
    found.sort(key=_place, reverse=True)
    shown = found[: sent.limit]
    following = None
    if len(found) > len(shown):
        following = encode_cursor(sent, _place(shown[-1]), vault=call.vault.identity)
    rows = [
        SessionRow(**_session(session, app), deliveries=sum(bool(g.text) for g in session.given))
        for session in shown
    ]
    return Found(SessionsPage(tuple(rows), following))


@operation("GET", "/memory/sessions/{sessionId}", needs=_NEEDS)
async def memory_session(call: CallContext, sent: MemorySessionRequest) -> Found[OneSession]:
    """Return one session with all that it got, and why."""
    return await _details(call, sent.session_id)


@operation("POST", "/memory/sessions/{sessionId}/refresh", writes=True, needs=_NEEDS)
async def memory_refresh(call: CallContext, sent: RefreshBody) -> Found[SessionRefresh]:
    """Return what a session would get now. With `apply`, it comes at its next event."""
    deliveries = _of(call)[1]
    found = await deliveries.refresh(sent.session_id, apply=sent.apply)
    data = SessionRefresh(
        before=tuple(_note(note, changed) for note, changed in found.before),
        after=tuple(_note(note, changed) for note, changed in found.after),
        text=found.recalled.text,
        tokens=found.recalled.tokens,
    )
    return Found(data)


@operation("POST", "/memory/sessions/{sessionId}/notes", writes=True, needs=_NEEDS)
async def memory_put_first(call: CallContext, sent: PinBody) -> Found[OneSession]:
    """Put a note first at the next event of a session."""
    deliveries = _of(call)[1]
    await deliveries.add(sent.session_id, sent.vault, sent.note_id)
    return await _details(call, sent.session_id)


@operation("POST", "/memory/forget", writes=True, needs=_NEEDS)
async def memory_forget(call: CallContext, sent: ForgetMemoryBody) -> Found[SessionsForgotten]:
    """Delete what is logged about sessions."""
    store = _of(call)[1].store
    if sent.session_id is not None:
        session = await store.get(sent.session_id)
        if session is None:
            raise NotFound("SESSION_NOT_FOUND", "Nothing is known about this session.")
        return Found(SessionsForgotten(await store.forget([session])))
    before = time.time() + 1 - (sent.older_than_days or 0) * _DAY
    old = [session for session in await store.sessions() if session.last_event_at < before]
    return Found(SessionsForgotten(await store.forget(old)))


def _of(call: CallContext) -> tuple[App, Deliveries]:
    app = call.app
    return app, deliveries_of(app)


def _identities(vault: OpenVault, app: App, project: str | None) -> list[str] | None:
    """Return the vaults whose sessions are listed, or None for all of them.

    Raises:
        NotFound: `VAULT_UNKNOWN` if there is no such project.
    """
    found = None if vault is app.vaults.default else [vault.identity]
    if project is None:
        return found
    named = [entry.identity for entry in app.vaults.known.of_project(project)]
    return named if found is None else [each for each in named if each in found]


async def _details(call: CallContext, session_id: str) -> Found[OneSession]:
    app, deliveries = _of(call)
    found = await deliveries.details(session_id)
    session = found.session
    pinned = session.pinned
    detail = SessionDetail(
        **_session(session, app),
        deliveries=tuple(_delivery(given, found) for given in session.given[-_MOST_SHOWN:]),
        pinned=tuple(note for note in session.added if note.address in pinned),
    )
    return Found(OneSession(detail))


def _place(session: Session) -> tuple[int, str]:
    """Return the place of a session in the list, the latest first."""
    return int(session.last_event_at * 1000), session.session_id


def _session(session: Session, app: App) -> dict[str, Any]:
    journal = session.journal
    entry = app.vaults.entry(session.vault)
    name = app.vaults.known.unique(entry.address, entry.identity) if entry is not None else None
    is_project = entry is not None and entry.address.startswith(_PROJECT)
    return {
        "session_id": session.session_id,
        "agent": session.agent,
        "project": entry.name if entry is not None and is_project else None,
        "vault": name or session.vault,
        "title": session.title or (journal.title if journal is not None else None),
        "started_at": _time(session.started_at),
        "last_event_at": _time(session.last_event_at),
        "ended_at": _time(session.ended_at) if session.ended_at is not None else None,
        "state": "open" if session.ended_at is None else "ended",
        "notes": sum(len(given.notes) for given in session.given),
        "tokens": sum(given.tokens for given in session.given),
        "max_tokens": sum(given.max_tokens for given in session.given if given.text),
        "journal": _journal(journal) if journal is not None else None,
    }


def _journal(journal: JournalState) -> SessionJournal:
    path = journal.path if journal.is_written else None
    return SessionJournal(shown_state(journal), path, identify(path) if path else None)


def _delivery(delivery: Delivery, found: SessionDetails) -> ShownDelivery:
    return ShownDelivery(
        at=_time(delivery.at),
        event=delivery.event,
        text=delivery.text,
        tokens=delivery.tokens,
        max_tokens=delivery.max_tokens,
        signals=delivery.signals,
        notes=tuple(_note(note, found.changed[note.address, note.hash]) for note in delivery.notes),
        left_out=delivery.left_out,
    )


def _note(note: RecalledNote, changed: bool | None) -> DeliveredNote:
    return DeliveredNote(
        **{each.name: getattr(note, each.name) for each in fields(note)}, changed=changed
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
