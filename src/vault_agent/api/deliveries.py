"""The operations about what agents' sessions got of the notes."""

from __future__ import annotations

import time
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vault_agent.api.codes import INDEX_CODES, PAGE_CODES
from vault_agent.api.cursors import decode_cursor, encode_cursor, invalid_cursor
from vault_agent.api.memory import deliveries_of
from vault_agent.api.operation import Found, Http, Operation
from vault_agent.api.vaults import VAULT_CODES
from vault_agent.model.deliveries import (
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
from vault_agent.model.identifiers import identify
from vault_agent.store.sessions.deliveries import place
from vault_agent.wire.base import Model
from vault_agent.wire.queries import CursorText, Text, whole
from vault_agent.wire.requests import NoteId, SessionId

if TYPE_CHECKING:
    from vault_agent.api.context import CallContext
    from vault_agent.app import App
    from vault_agent.memory.injected import Deliveries, SessionDetails
    from vault_agent.model.deliveries import Delivery, SessionMemory
    from vault_agent.model.journals import Journal
    from vault_agent.model.memory import RecalledNote
    from vault_agent.vaults.open_vault import OpenVault


class MemorySessionsRequest(Model):
    """A request for the sessions of agents, the one with the latest event first."""

    project: Text | None = Field(default=None, description="Only sessions of this project.")
    limit: whole(1, 100) = 20  # type: ignore[valid-type]
    cursor: CursorText | None = Field(default=None, description="`nextCursor` of the page before.")


class MemorySessionRequest(Model):
    """A request about one session."""

    session_id: SessionId


class RefreshBody(Model):
    """Whether the session gets what would be recalled now, at its next event."""

    session_id: SessionId
    apply: bool = False


class PinBody(Model):
    """A note that comes first at the next event of a session."""

    session_id: SessionId
    vault: Text
    note_id: NoteId


class UnpinRequest(Model):
    """A note that a session gets no more."""

    session_id: SessionId
    note_vault: Text
    note_id: NoteId


class ForgetMemoryBody(Model):
    """Which entries of the log are removed. One of the three says which."""

    session_id: SessionId | None = None
    older_than_days: Annotated[int, Field(ge=0, le=36_500)] | None = None
    all: bool = False

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        if (self.session_id is not None) + (self.older_than_days is not None) + self.all != 1:
            raise PydanticCustomError(
                "one_of", "must have one of `sessionId`, `olderThanDays` and `all`"
            )
        return self


_MAX_MOMENT = 1 << 53
_DAY = 86_400.0
_PROJECT = "project:"


async def _sessions(call: CallContext, sent: MemorySessionsRequest) -> Found:
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
    found = await deliveries.store.sessions(
        limit=sent.limit + 1, vaults=_identities(call.vault, app, sent.project), before=before
    )
    shown = found[: sent.limit]
    following = None
    if len(found) > len(shown):
        following = encode_cursor(sent, place(shown[-1]), vault=call.vault.identity)
    rows = [SessionRow(**await _session(each, app), deliveries=each.deliveries) for each in shown]
    return Found(SessionsPage(tuple(rows), following))


async def _one(call: CallContext, sent: MemorySessionRequest) -> Found:
    """Return one session with all that it got, and why."""
    return await _details(call, sent.session_id)


async def _refresh(call: CallContext, sent: RefreshBody) -> Found:
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


async def _put_first(call: CallContext, sent: PinBody) -> Found:
    """Put a note first at the next event of a session."""
    deliveries = _of(call)[1]
    await deliveries.put_first(sent.session_id, sent.vault, sent.note_id)
    return await _details(call, sent.session_id)


async def _take_out(call: CallContext, sent: UnpinRequest) -> Found:
    """Keep a note out of a session. If the agent has it, its next prompt says so."""
    deliveries = _of(call)[1]
    await deliveries.take_out(sent.session_id, sent.note_vault, sent.note_id)
    return await _details(call, sent.session_id)


async def _forget(call: CallContext, sent: ForgetMemoryBody) -> Found:
    """Delete what is logged about sessions."""
    deliveries = _of(call)[1]
    before = None
    if sent.older_than_days is not None:
        before = time.time() - sent.older_than_days * _DAY
    found = await deliveries.forget(sent.session_id, before=before)
    return Found(SessionsForgotten(len(found)))


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


async def _details(call: CallContext, session_id: str) -> Found:
    app, deliveries = _of(call)
    found = await deliveries.details(session_id)
    having = found.having
    session = SessionDetail(
        **await _session(found.session, app),
        deliveries=tuple(_delivery(each, found) for each in found.deliveries),
        pinned=tuple(each for each in having.chosen if each.address in having.pinned),
        removed=tuple(each for each in having.chosen if each.removed),
        refreshing=having.state.refresh,
    )
    return Found(OneSession(session))


async def _session(session: SessionMemory, app: App) -> dict[str, Any]:
    journal = None
    if app.journals is not None:
        journal = await app.journals.store.get(session.session_id)
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
        "notes": session.notes,
        "tokens": session.tokens,
        "max_tokens": session.max_tokens,
        "journal": _journal(journal) if journal is not None else None,
    }


def _journal(journal: Journal) -> SessionJournal:
    written = journal.state in {"complete", "incomplete"} and journal.path is not None
    return SessionJournal(
        state=journal.state,
        path=journal.path if written else None,
        note_id=identify(journal.path or "") if written else None,
    )


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


_NEEDS = "memory.enabled"
_STORE_CODES = ("DISK_FULL", "INDEX_IO_ERROR")
_ONE_CODES = ("SESSION_NOT_FOUND", *_STORE_CODES)
_VAULT_CODES = tuple(dict.fromkeys((*_ONE_CODES, *VAULT_CODES, *INDEX_CODES)))

MEMORY_SESSIONS = Operation(
    "memory_sessions",
    MemorySessionsRequest,
    _sessions,
    (SessionsPage,),
    (*PAGE_CODES, *_STORE_CODES, "VAULT_UNKNOWN"),
    needs=_NEEDS,
    listed="sessions",
    http=Http("GET", "/memory/sessions"),
)
MEMORY_SESSION = Operation(
    "memory_session",
    MemorySessionRequest,
    _one,
    (OneSession,),
    _ONE_CODES,
    needs=_NEEDS,
    http=Http("GET", "/memory/sessions/{sessionId}"),
)
REFRESH_SESSION = Operation(
    "memory_refresh",
    RefreshBody,
    _refresh,
    (SessionRefresh,),
    _VAULT_CODES,
    writes=True,
    needs=_NEEDS,
    http=Http("POST", "/memory/sessions/{sessionId}/refresh", body=None),
)
PUT_FIRST = Operation(
    "memory_put_first",
    PinBody,
    _put_first,
    (OneSession,),
    ("NOTE_NOT_FOUND", "INVALID_ID", *_VAULT_CODES),
    writes=True,
    needs=_NEEDS,
    http=Http("POST", "/memory/sessions/{sessionId}/notes", body=True),
)
TAKE_OUT = Operation(
    "memory_take_out",
    UnpinRequest,
    _take_out,
    (OneSession,),
    ("NOTE_NOT_FOUND", "INVALID_ID", *_VAULT_CODES),
    writes=True,
    needs=_NEEDS,
    http=Http("DELETE", "/memory/sessions/{sessionId}/notes/{noteVault}/{noteId}"),
)
FORGET_MEMORY = Operation(
    "memory_forget",
    ForgetMemoryBody,
    _forget,
    (SessionsForgotten,),
    _ONE_CODES,
    writes=True,
    needs=_NEEDS,
    http=Http("POST", "/memory/forget", body=True),
)

DELIVERY_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    MEMORY_SESSIONS,
    MEMORY_SESSION,
    REFRESH_SESSION,
    PUT_FIRST,
    TAKE_OUT,
    FORGET_MEMORY,
)
"""In the order of the reference."""
