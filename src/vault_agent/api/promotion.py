"""The operations that promote notes to the global vault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from vault_agent.api.context import CallContext
from vault_agent.api.operation import Found, operation
from vault_agent.model.fields import NoteId
from vault_agent.model.memory import Demoted, Marked, Promoted
from vault_agent.model.sent import Doc, Length
from vault_agent.model.writing import Writer

if TYPE_CHECKING:
    from vault_agent.api.caller import Caller
    from vault_agent.memory.promotion import Promotion

_Folder = Annotated[str, Length(1, 1000)]
_Heading = Annotated[str, Length(1, 1000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoteBody:
    """A note of a project's vault, and how it is copied to the global one."""

    note_id: NoteId
    section: Annotated[_Heading | None, Doc("Copy only what is below this heading.")] = None
    folder: Annotated[
        _Folder | None, Doc("In the global vault. By default that of the note's type.")
    ] = None
    force: Annotated[bool, Doc("Copy it even if there is a similar note.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoteRequest:
    """A note whose promotion is taken back, or a section of it."""

    note_id: NoteId
    section: Annotated[_Heading | None, Doc("The heading, if one was promoted.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersedeBody:
    """A note of a project's vault or the global one that another note has taken the place of."""

    note_id: NoteId
    superseded: Annotated[bool, Doc("False takes it back.")] = True


def _of(call: CallContext) -> Promotion:
    app = call.app
    app.vaults.require_several()
    return app.promotion


def _writer(caller: Caller) -> Writer:
    """Return the owner as one who writes. Only the owner promotes."""
    return Writer(client=caller.client)


@operation("POST", "/notes/{noteId}/promote", creates=True, writes=True, needs="memory.enabled")
async def promote(call: CallContext, sent: PromoteBody) -> Found[Promoted]:
    """Copy a note of a project's vault to the global vault."""
    done = await _of(call).promote(
        call.vault,
        sent.note_id,
        _writer(call.caller),
        section=sent.section,
        folder=sent.folder,
        force=sent.force,
    )
    return Found(done, done.warnings, status=201 if done.created else None)


@operation("DELETE", "/notes/{noteId}/promote", writes=True, needs="memory.enabled")
async def promote_undo(call: CallContext, sent: DemoteRequest) -> Found[Demoted]:
    """Take a promotion back: its copy goes to the trash."""
    writer = _writer(call.caller)
    done = await _of(call).undo(call.vault, sent.note_id, writer, section=sent.section)
    return Found(done, done.warnings)


@operation("POST", "/notes/{noteId}/supersede", writes=True, needs="memory.enabled")
async def supersede(call: CallContext, sent: SupersedeBody) -> Found[Marked]:
    """Give a note `status: superseded`, so that it is not recalled, or take that back."""
    done = await _of(call).supersede(
        call.vault, sent.note_id, call.caller.writer, superseded=sent.superseded
    )
    return Found(done, done.warnings)
