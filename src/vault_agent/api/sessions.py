"""The operations about agents' sessions: their events, what they got of the notes, and journals."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from vault_agent.api.caller import CallContext
from vault_agent.api.cursors import encode_cursor, position_of
from vault_agent.api.memory import deliveries_of
from vault_agent.api.operation import Result, check_switch, operation
from vault_agent.memory.journal_notes import stamp
from vault_agent.memory.session_file import JournalState
from vault_agent.model.fields import Cursor, FilePath, NoteId, SessionId, Text
from vault_agent.model.identifiers import identify
from vault_agent.model.memory import (
    ASKED,
    COMPLETE,
    EDITED,
    INCOMPLETE,
    PENDING,
    SKIPPED,
    JournalList,
    OneJournal,
    OneSession,
    SessionDetail,
    SessionJournal,
    SessionRefresh,
    SessionRow,
    SessionsForgotten,
    SessionsPage,
    ShownDelivery,
    ShownJournal,
)
from vault_agent.model.sent import TRIMMED, Between, Form, Length, Unreadable
from vault_agent.model.sessions import Delivered, SessionEvent

if TYPE_CHECKING:
    from vault_agent.app import App
    from vault_agent.memory.journals import Journals
    from vault_agent.memory.session_file import Session
    from vault_agent.model.memory import ShownState
    from vault_agent.vaults.open_vault import OpenVault

WAITS_HEADER = "Vault-Agent-Seconds"
"""The header with the seconds that a hook still waits for a reply. Older servers ignore it."""

_ShortText = Annotated[str, Length(1, 200)]
_LongText = Annotated[str, Length(0, 100_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEventBody:
    """An event of an agent's session. It becomes a line of the session's file."""

    version: Literal[1]
    agent: Literal["claude-code", "codex", "gemini", "opencode", "generic"]
    event: Literal["start", "prompt", "stop", "compact", "end"]
    name: _ShortText
    """The agent's own name of the event."""
    session_id: SessionId
    cwd: FilePath
    """The folder that the agent works in. It is never opened."""
    at: Annotated[float, Between(0, 100_000_000_000)]
    """Seconds since 1970."""
    vault: Annotated[str, Form("[0-9a-f]{32}", "must be the identity of a vault")]
    """The identity of the project's vault, which must be registered."""
    transcript_path: FilePath | None = None
    model: _ShortText | None = None
    source: _ShortText | None = None
    """Such as `startup` or `resume`."""
    reason: _ShortText | None = None
    """Why the session ended."""
    title: _LongText | None = None
    prompt: _LongText | None = None
    last_message: _LongText | None = None
    commit: Annotated[str, Form("[0-9a-f]{40,64}", "must be the hash of a commit")] | None = None
    """The commit that is checked out at a start."""
    seconds: Annotated[float, Between(0, 60)] | None = None
    """How long the agent still waits, as in the header `Vault-Agent-Seconds`."""


MAX_EVENT_BYTES = 512 * 1024


@operation(
    "POST",
    "/sessions/events",
    status=202,
    max_body=MAX_EVENT_BYTES,
    writes=True,
    needs="vaults.enabled",
)
async def session_event(call: CallContext, request: SessionEventBody) -> Result[Delivered]:
    """Take an event of an agent's session, and return what it brings to the agent."""
    sessions = call.app.sessions
    if sessions is None:
        check_switch("memory.enabled", call.vault.config)  # it is off, and so are journals
    assert sessions is not None  # noqa: S101 - set while memory or journals are on
    fields = {name: getattr(request, name) for name in SessionEvent._fields}
    offer = await sessions.take(SessionEvent(**fields), seconds=request.seconds)
    return Result(offer.brought, offer.warnings, after_sent=offer.settle)


_Name = Annotated[str, TRIMMED, Length(1, 200)]
_Section = Annotated[str, Length(0, 20_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalsRequest:
    """A request for the journals of the latest sessions."""

    project: Text | None = None
    """Only sessions of this project."""
    state: Literal["pending", "incomplete", "complete", "skipped", "all"] | None = None
    """Default: all but `skipped`."""
    limit: Annotated[int, Between(1, 500)] = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeJournalBody:
    """A session whose journal is to be written now."""

    session_id: SessionId | None = None
    """The ID of the session, or its first characters. Default: the open session of the vault whose
    last event is the latest."""
    title: _Name | None = None
    sections: Annotated[dict[_Name, _Section], Length(0, 20)] | None = None
    """The agent's own words about its session, by heading: Goal, Approach, Key Decisions, Problems
    Encountered, Outcome, Open Questions."""


_STATES: Final = {PENDING, INCOMPLETE, COMPLETE, SKIPPED}
_JOURNALS_ON = "journal.enabled"


@operation("GET", "/journals", needs=_JOURNALS_ON, bounded_list="journals")
async def journals(call: CallContext, request: JournalsRequest) -> Result[JournalList]:
    """List the journals of sessions, those of the latest sessions first."""
    app, journals = _journals_of(call)
    vaults = _identities(call.vault, app, request.project)
    every = [
        show_journal(session, app)
        for session in await journals.store.sessions()
        if (session.ended_at or session.journal) and (vaults is None or session.vault in vaults)
    ]
    wanted = {request.state} if request.state not in {None, "all"} else _STATES
    if request.state is None:
        wanted = _STATES - {SKIPPED}
    chosen_journals = [journal for journal in every if journal.state in wanted]
    return Result(JournalList(tuple(chosen_journals[: request.limit])))


@operation("POST", "/journals", status=202, writes=True, needs=_JOURNALS_ON)
async def journal_make(call: CallContext, request: MakeJournalBody) -> Result[OneJournal]:
    """Write the journal of a session now. Sections that the agent has written become part of it."""
    app, journals = _journals_of(call)
    only = None if call.vault is app.vaults.default else call.vault.identity
    session = await journals.session_named(request.session_id, only)
    session = await journals.make(session, request.sections, request.title)
    if app.sessions is not None:
        app.sessions.wake()
    return Result(OneJournal(show_journal(session, app)))


def shown_state(journal: JournalState | None) -> ShownState:
    """Return the state of a journal as it is shown."""
    if journal is not None and journal.state in {COMPLETE, INCOMPLETE}:
        return COMPLETE if journal.state == COMPLETE else INCOMPLETE
    if journal is not None and journal.state == SKIPPED and journal.reason != ASKED:
        return SKIPPED
    return PENDING  # also if a person has to ask for it


def _journals_of(call: CallContext) -> tuple[App, Journals]:
    app = call.app
    app.vaults.require_several()
    if app.journals is None:
        check_switch(_JOURNALS_ON, call.vault.config)
    assert app.journals is not None  # noqa: S101 - set while it is on
    return app, app.journals


def project_and_vault(session: Session, app: App) -> tuple[str | None, str]:
    """Return the name of a session's project, if it has one, and what requests call its vault."""
    entry = app.vaults.entry(session.vault)
    if entry is None:
        return None, session.vault
    project = entry.name if entry.full_name.startswith("project:") else None
    return project, app.vaults.registry.unique(entry.full_name, entry.identity)


def show_journal(session: Session, app: App) -> ShownJournal:
    """Return what is shown of a session's journal."""
    journal = session.journal or JournalState(0.0, PENDING)
    project, vault = project_and_vault(session, app)
    asked_at = max(session.wanted_at, session.sections.at if session.sections else 0.0)
    is_asked = asked_at > journal.at and journal.reason != EDITED
    return ShownJournal(
        session_id=session.session_id,
        agent=session.agent,
        project=project,
        vault=vault,
        state=PENDING if is_asked else shown_state(journal),
        reason=None if is_asked else journal.reason,
        title=journal.title or session.title,
        path=journal.path,
        note_id=identify(journal.path) if journal.is_written and journal.path else None,
        generator=journal.generator,
        started_at=stamp(session.started_at),
        ended_at=stamp(session.ended_at) if session.ended_at is not None else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySessionsRequest:
    """A request for the sessions of agents, the one with the latest event first."""

    project: Text | None = None
    """Only sessions of this project."""
    limit: Annotated[int, Between(1, 100)] = 20
    cursor: Cursor = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySessionRequest:
    """A request about one session."""

    session_id: SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshBody:
    """A session to recall notes for. With `apply`, it gets them at its next event."""

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
    """Which entries of the log are removed. One of the three fields says which."""

    session_id: SessionId | None = None
    older_than_days: Annotated[int, Between(0, 36_500)] | None = None
    all: bool = False

    def __post_init__(self) -> None:
        if (self.session_id is not None) + (self.older_than_days is not None) + self.all != 1:
            raise Unreadable("one_of", "must have one of `sessionId`, `olderThanDays` and `all`")


_MOST_SHOWN = 200
_DAY = 86_400.0
_MEMORY_ON = "memory.enabled"


@operation("GET", "/memory/sessions", needs=_MEMORY_ON, bounded_list="sessions")
async def memory_sessions(
    call: CallContext, request: MemorySessionsRequest
) -> Result[SessionsPage]:
    """List the sessions of agents with what they got, the one with the latest event first."""
    app, deliveries = call.app, deliveries_of(call.app)
    position = position_of(call.vault, request, int, str)
    before = (int(position[0]), str(position[1])) if position else None
    await deliveries.settled()
    vaults = _identities(call.vault, app, request.project)
    matching = [
        session
        for session in await deliveries.store.sessions()
        if (vaults is None or session.vault in vaults)
        and (before is None or _place(session) < before)
    ]
    matching.sort(key=_place, reverse=True)
    page = matching[: request.limit]
    following = None
    if len(matching) > len(page):
        following = encode_cursor(request, _place(page[-1]), vault=call.vault.identity)
    rows = [
        SessionRow(
            **_session(session, app), deliveries=sum(bool(g.text) for g in session.deliveries)
        )
        for session in page
    ]
    return Result(SessionsPage(tuple(rows), following))


@operation("GET", "/memory/sessions/{sessionId}", needs=_MEMORY_ON)
async def memory_session(call: CallContext, request: MemorySessionRequest) -> Result[OneSession]:
    """Return one session with all that it got, and why."""
    return await _details(call, request.session_id)


@operation("POST", "/memory/sessions/{sessionId}/refresh", writes=True, needs=_MEMORY_ON)
async def memory_refresh(call: CallContext, request: RefreshBody) -> Result[SessionRefresh]:
    """Return what a session would get now. With `apply`, the session gets it at its next event."""
    return Result(await deliveries_of(call.app).refresh(request.session_id, apply=request.apply))


@operation("POST", "/memory/sessions/{sessionId}/notes", writes=True, needs=_MEMORY_ON)
async def memory_put_first(call: CallContext, request: PinBody) -> Result[OneSession]:
    """Put a note first at the next event of a session."""
    await deliveries_of(call.app).add(request.session_id, request.vault, request.note_id)
    return await _details(call, request.session_id)


@operation("POST", "/memory/forget", writes=True, needs=_MEMORY_ON)
async def memory_forget(call: CallContext, request: ForgetMemoryBody) -> Result[SessionsForgotten]:
    """Delete what is logged about sessions."""
    store = deliveries_of(call.app).store
    if request.session_id is not None:
        session = await store.require(request.session_id)
        return Result(SessionsForgotten(await store.forget([session])))
    before = time.time() + 1 - (request.older_than_days or 0) * _DAY
    old = [session for session in await store.sessions() if session.last_event_at < before]
    return Result(SessionsForgotten(await store.forget(old)))


def _identities(vault: OpenVault, app: App, project: str | None) -> list[str] | None:
    """Return the identities of the vaults whose sessions are listed, or None for all vaults.

    Raises:
        NotFound: `VAULT_UNKNOWN` if there is no such project.
    """
    allowed = None if vault is app.vaults.default else [vault.identity]
    if project is None:
        return allowed
    named = [entry.identity for entry in app.vaults.registry.of_project(project)]
    return named if allowed is None else [identity for identity in named if identity in allowed]


async def _details(call: CallContext, session_id: str) -> Result[OneSession]:
    app, deliveries = call.app, deliveries_of(call.app)
    session, notes = await deliveries.details(session_id)
    pinned = session.pinned
    shown_deliveries = [
        ShownDelivery(
            at=_time(delivery.at),
            event=delivery.event,
            text=delivery.text,
            tokens=delivery.tokens,
            max_tokens=delivery.max_tokens,
            signals=delivery.signals,
            notes=tuple(notes[note] for note in delivery.notes),
            left_out=delivery.left_out,
        )
        for delivery in session.deliveries[-_MOST_SHOWN:]
    ]
    detail = SessionDetail(
        **_session(session, app),
        deliveries=tuple(shown_deliveries),
        pinned=tuple(note for note in session.added if note.address in pinned),
    )
    return Result(OneSession(detail))


def _place(session: Session) -> tuple[int, str]:
    """Return the place of a session in the list. The session with the latest event comes first."""
    return int(session.last_event_at * 1000), session.session_id


def _session(session: Session, app: App) -> dict[str, Any]:
    journal = session.journal
    project, vault = project_and_vault(session, app)
    return {
        "session_id": session.session_id,
        "agent": session.agent,
        "project": project,
        "vault": vault,
        "title": session.title or (journal.title if journal is not None else None),
        "started_at": _time(session.started_at),
        "last_event_at": _time(session.last_event_at),
        "ended_at": _time(session.ended_at) if session.ended_at is not None else None,
        "state": "open" if session.ended_at is None else "ended",
        "notes": sum(len(delivery.notes) for delivery in session.deliveries),
        "tokens": sum(delivery.tokens for delivery in session.deliveries),
        "max_tokens": sum(delivery.max_tokens for delivery in session.deliveries if delivery.text),
        "journal": _journal(journal) if journal is not None else None,
    }


def _journal(journal: JournalState) -> SessionJournal:
    path = journal.path if journal.is_written else None
    return SessionJournal(shown_state(journal), path, identify(path) if path else None)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
