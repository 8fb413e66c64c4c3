"""The operations about the journals of agents' sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, check_switch, operation
from vault_agent.memory.notes import stamp
from vault_agent.memory.session import JournalState
from vault_agent.model.fields import SessionId, Text
from vault_agent.model.memory import (
    ASKED,
    COMPLETE,
    EDITED,
    INCOMPLETE,
    PENDING,
    SKIPPED,
    JournalList,
    OneJournal,
    ShownJournal,
)
from vault_agent.model.notes import identify
from vault_agent.model.sent import Between, Doc, Length, Trimmed
from vault_agent.vaults.shared import project_address

if TYPE_CHECKING:
    from vault_agent.app import App
    from vault_agent.memory.journals import Journals
    from vault_agent.memory.session import Session
    from vault_agent.model.memory import ShownState

_Name = Annotated[str, Trimmed(), Length(1, 200)]
_Section = Annotated[str, Length(0, 20_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalsRequest:
    """A request for the journals of the latest sessions."""

    project: Annotated[Text | None, Doc("Only sessions of this project.")] = None
    state: Annotated[
        Literal["pending", "incomplete", "complete", "skipped", "all"] | None,
        Doc("Default: all but `skipped`."),
    ] = None
    limit: Annotated[int, Between(1, 500)] = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeJournalBody:
    """A session whose journal is to be written now."""

    session_id: Annotated[
        SessionId | None,
        Doc(
            "Its ID, or the first characters of it. Default: the open session of the vault with"
            " the latest event."
        ),
    ] = None
    title: _Name | None = None
    sections: Annotated[
        Annotated[dict[_Name, _Section], Length(0, 20)] | None,
        Doc(
            "The agent's own words about its session, by heading: Goal, Approach, Key"
            " Decisions, Problems Encountered, Outcome, Open Questions."
        ),
    ] = None


_PROJECT = "project:"
_STATES: Final = {PENDING, INCOMPLETE, COMPLETE, SKIPPED}
_NEEDS = "journal.enabled"


@operation("GET", "/journals", needs=_NEEDS, listed="journals")
async def journals(call: CallContext, sent: JournalsRequest) -> Found[JournalList]:
    """List the journals of sessions, those of the latest sessions first."""
    app, journals = _of(call)
    chosen = None if call.vault is app.vaults.default else call.vault.identity
    if sent.project is not None:
        named = app.vaults.known.find(project_address(sent.project)).identity
        if chosen not in (None, named):
            return Found(JournalList(()))
        chosen = named
    sessions = await journals.store.sessions(chosen)
    shown = [
        show_journal(session, app) for session in sessions if session.ended_at or session.journal
    ]
    wanted = {sent.state} if sent.state not in {None, "all"} else _STATES
    if sent.state is None:
        wanted = _STATES - {SKIPPED}
    found = [journal for journal in shown if journal.state in wanted]
    return Found(JournalList(tuple(found[: sent.limit])))


@operation("POST", "/journals", status=202, writes=True, needs=_NEEDS)
async def journal_make(call: CallContext, sent: MakeJournalBody) -> Found[OneJournal]:
    """Write the journal of a session now, with the sections that its agent has written if any."""
    app, journals = _of(call)
    only = None if call.vault is app.vaults.default else call.vault.identity
    session = await journals.session_named(sent.session_id, only)
    session = await journals.make(session, sent.sections, sent.title)
    if app.sessions is not None:
        app.sessions.wake()
    return Found(OneJournal(show_journal(session, app)))


def shown_state(journal: JournalState | None) -> ShownState:
    """Return the state of a journal as it is shown."""
    if journal is not None and journal.state in {COMPLETE, INCOMPLETE}:
        return COMPLETE if journal.state == COMPLETE else INCOMPLETE
    if journal is not None and journal.state == SKIPPED and journal.reason != ASKED:
        return SKIPPED
    return PENDING  # also if a person has to ask for it


def _of(call: CallContext) -> tuple[App, Journals]:
    app = call.app
    app.vaults.require_several()
    if app.journals is None:
        check_switch(_NEEDS, call.vault.config)
    assert app.journals is not None  # noqa: S101 - open where it is on
    return app, app.journals


def show_journal(session: Session, app: App) -> ShownJournal:
    """Return what is shown of a session's journal."""
    journal = session.journal or JournalState(0.0, PENDING)
    entry = app.vaults.entry(session.vault)
    name = app.vaults.known.unique(entry.address, entry.identity) if entry is not None else None
    is_project = entry is not None and entry.address.startswith(_PROJECT)
    asked_at = max(session.wanted_at, session.sections.at if session.sections else 0.0)
    is_asked = asked_at > journal.at and journal.reason != EDITED
    return ShownJournal(
        session_id=session.session_id,
        agent=session.agent,
        project=entry.name if entry is not None and is_project else None,
        vault=name or session.vault,
        state=PENDING if is_asked else shown_state(journal),
        reason=None if is_asked else journal.reason,
        title=journal.title or session.title,
        path=journal.path,
        note_id=identify(journal.path) if journal.is_written and journal.path else None,
        generator=journal.generator,
        started_at=stamp(session.started_at),
        ended_at=stamp(session.ended_at) if session.ended_at is not None else None,
    )
