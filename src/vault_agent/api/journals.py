"""The operations about the journals of agents' sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from vault_agent.api.operation import Found, Http, Operation, check_switch
from vault_agent.api.vaults import VAULT_CODES
from vault_agent.journals.note_text import stamp
from vault_agent.model.identifiers import identify
from vault_agent.model.journals import JournalDraft, JournalList, OneJournal, ShownJournal
from vault_agent.model.warning import Warning
from vault_agent.system.cancelling import in_thread
from vault_agent.text.redaction import doubtful
from vault_agent.vaults.known import project_address
from vault_agent.wire.base import Model
from vault_agent.wire.queries import Text, whole
from vault_agent.wire.requests import SessionId

if TYPE_CHECKING:
    from vault_agent.api.context import CallContext
    from vault_agent.app import App
    from vault_agent.journals.journals import Journals
    from vault_agent.model.journals import Journal

_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
_Section = Annotated[str, StringConstraints(max_length=20_000)]


class JournalsRequest(Model):
    """A request for the journals of the latest sessions."""

    project: Text | None = Field(default=None, description="Only sessions of this project.")
    state: Literal["pending", "incomplete", "complete", "draft", "skipped", "all"] | None = Field(
        default=None, description="Default: all but `skipped`."
    )
    limit: whole(1, 500) = 50  # type: ignore[valid-type]


class MakeJournalBody(Model):
    """A session whose journal is to be written now."""

    session_id: SessionId | None = Field(
        default=None, description="Default: the open session of the vault, if there is only one."
    )
    title: _Name | None = None
    sections: Annotated[dict[_Name, _Section], Field(max_length=20)] | None = Field(
        default=None,
        description="What the agent has written of its own session, by heading: Goal, Approach, Key"
        " Decisions, Problems Encountered, Outcome, Open Questions.",
    )


class JournalEntryBody(Model):
    """A line of the devlog for the journal of a session."""

    session_id: SessionId
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
    kind: Literal["impl", "problem", "insight", "verify"] = "insight"


class JournalReviewBody(Model):
    """Whether the draft of a session's journal is taken into the vault."""

    session_id: SessionId
    accept: bool


class JournalDraftRequest(Model):
    """A request for the draft of a session's journal."""

    session_id: SessionId


_PROJECT = "project:"
_NEEDS = "journal.enabled"


async def _journals(call: CallContext, sent: JournalsRequest) -> Found:
    """List the journals of sessions, those of the latest sessions first."""
    app, journals = _of(call)
    chosen = None if call.vault is app.vaults.default else call.vault.identity
    if sent.project is not None:
        named = app.vaults.known.find(project_address(sent.project)).identity
        if chosen not in (None, named):
            return Found(JournalList(()))
        chosen = named
    found = await journals.page(vault=chosen, state=sent.state, limit=sent.limit)
    return Found(JournalList(tuple(_shown(each, app) for each in found)))


async def _make(call: CallContext, sent: MakeJournalBody) -> Found:
    """Write the journal of a session now, with the sections that its agent has written if any."""
    app, journals = _of(call)
    session_id = sent.session_id
    if session_id is None:
        only = None if call.vault is app.vaults.default else call.vault.identity
        session_id = await journals.open_session(only)
    made = await journals.make(session_id, sent.sections, sent.title)
    return _one(made, app)


async def _entry(call: CallContext, sent: JournalEntryBody) -> Found:
    """Add a line to the journal of a session. It waits for the journal if there is none yet."""
    app, journals = _of(call)
    return _one(await journals.add_line(sent.session_id, sent.kind, sent.text), app)


async def _review(call: CallContext, sent: JournalReviewBody) -> Found:
    """Take the draft of a session's journal into the vault, or drop it."""
    app, journals = _of(call)
    return _one(await journals.review(sent.session_id, accept=sent.accept), app)


async def _draft(call: CallContext, sent: JournalDraftRequest) -> Found:
    """Return the draft of a session's journal."""
    app, journals = _of(call)
    journal, text = await journals.draft(sent.session_id)
    data = JournalDraft(_shown(journal, app), text)
    lines = await in_thread(doubtful, text)
    warnings = (Warning("JOURNAL_DOUBTFUL", _doubt(lines), {"lines": lines}),) if lines else ()
    return Found(data, warnings)


def _doubt(lines: list[int]) -> str:
    where = ", ".join(map(str, lines[:5])) + (" and others" if len(lines) > 5 else "")
    return (
        f"Line {where} may have a secret."
        if len(lines) == 1
        else (f"Lines {where} may have secrets.")
    )


def _of(call: CallContext) -> tuple[App, Journals]:
    app = call.app
    app.vaults.require_several()
    if app.journals is None:
        check_switch(_NEEDS, call.vault.config)
    assert app.journals is not None  # noqa: S101 - open where it is on
    return app, app.journals


def _one(journal: Journal | None, app: App) -> Found:
    return Found(OneJournal(None if journal is None else _shown(journal, app)))


def _shown(journal: Journal, app: App) -> ShownJournal:
    entry = app.vaults.entry(journal.vault)
    name = app.vaults.known.unique(entry.address, entry.identity) if entry is not None else None
    is_project = entry is not None and entry.address.startswith(_PROJECT)
    in_vault = journal.path is not None and journal.hash is not None
    return ShownJournal(
        session_id=journal.session_id,
        agent=journal.agent,
        project=entry.name if entry is not None and is_project else None,
        vault=name or journal.vault,
        state=journal.state,
        reason=journal.reason,
        title=journal.title,
        path=journal.path,
        note_id=identify(journal.path) if in_vault and journal.path is not None else None,
        generator=journal.generator,
        started_at=stamp(journal.started_at),
        ended_at=stamp(journal.ended_at) if journal.ended_at is not None else None,
        attempts=journal.attempts,
        next_try_at=stamp(journal.next_at) if journal.next_at is not None else None,
    )


_STORE_CODES = tuple(dict.fromkeys((*VAULT_CODES, "DISK_FULL", "INDEX_IO_ERROR")))
_CODES = ("SESSION_NOT_FOUND", *_STORE_CODES)
JOURNALS = Operation(
    "journals",
    JournalsRequest,
    _journals,
    (JournalList,),
    _STORE_CODES,
    needs=_NEEDS,
    listed="journals",
    http=Http("GET", "/journals"),
)
MAKE_JOURNAL = Operation(
    "journal_make",
    MakeJournalBody,
    _make,
    (OneJournal,),
    _CODES,
    writes=True,
    needs=_NEEDS,
    http=Http("POST", "/journals", body=True, status=202),
)
JOURNAL_ENTRY = Operation(
    "journal_entry",
    JournalEntryBody,
    _entry,
    (OneJournal,),
    _CODES,
    writes=True,
    needs=_NEEDS,
    http=Http("POST", "/journals/{sessionId}/entries", body=True),
)
JOURNAL_REVIEW = Operation(
    "journal_review",
    JournalReviewBody,
    _review,
    (OneJournal,),
    tuple(
        dict.fromkeys(
            (*_CODES, "VAULT_READ_ONLY", "RECOVERY_PENDING", "WRITE_UNSUPPORTED_HERE", "NOTE_BUSY")
        )
    ),
    writes=True,
    needs=_NEEDS,
    http=Http("POST", "/journals/{sessionId}/review", body=True),
)
JOURNAL_DRAFT = Operation(
    "journal_draft",
    JournalDraftRequest,
    _draft,
    (JournalDraft,),
    _CODES,
    needs=_NEEDS,
    http=Http("GET", "/journals/{sessionId}/draft"),
)
JOURNAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    JOURNALS,
    MAKE_JOURNAL,
    JOURNAL_ENTRY,
    JOURNAL_REVIEW,
    JOURNAL_DRAFT,
)
